/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the protocol as tables: see results_table.h. */
#include "lib/report/results_table.h"

#include "lib/base/text.h"

static void cell_cutoff(struct table *table, int64_t ns)
{
	char text[TEXT_TIME_SIZE];

	table_cell(table, "%s", ns < 0 ? "-" : text_duration(text, ns));
}

static void add_cutoff(struct table *table, const struct cutoff *c, bool details)
{
	char period[TEXT_TIME_SIZE];

	table_row(table);
	table_cell(table, "%s", c->daemon);
	cell_cutoff(table, c->short_ns);
	cell_cutoff(table, c->long_ns);
	if (c->period_ns > 0)
		table_cell(
			table, "%s, %s", text_duration(period, c->period_ns), c->firm ? "firm" : "tentative");
	else
		table_cell(table, "none found");
	cell_cutoff(table, c->period_ns > 0 ? c->task_time_ns : -1);
	if (!details)
		return;
	cell_cutoff(table, c->below_ns);
	cell_cutoff(table, c->atleast_ns);
	table_cell(table, "%s", c->unit ?: "-");
}

int cutoffs_print(const struct profile *profile, bool details, FILE *file, struct error *err)
{
	static const struct column columns[] =
		{
			{"DAEMON"},
			{"SHORT RUN", COLUMN_NUMBER},
			{"LONG RUN", COLUMN_NUMBER},
			{"PERIOD"},
			{"TASK TIME", COLUMN_NUMBER},
			{},
		},
				   all[] = {
					   {"DAEMON"},
					   {"SHORT RUN", COLUMN_NUMBER},
					   {"LONG RUN", COLUMN_NUMBER},
					   {"PERIOD"},
					   {"TASK TIME", COLUMN_NUMBER},
					   {"SHORTER TASKS", COLUMN_NUMBER},
					   {"LONGER TASKS", COLUMN_NUMBER},
					   {"UNIT"},
					   {},
				   };
	_cleanup_(table_freep) struct table *table = NULL;
	int r;

	r = table_new(&table, details ? all : columns, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < profile->n_cutoffs; i++)
		add_cutoff(table, &profile->cutoffs[i], details);
	return table_print(table, file, err);
}
