/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the protocol as tables: see results_table.h. */
#include "lib/report/results_table.h"

#include "lib/base/xalloc.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/protocol/names.h"

#include <string.h>

static void add_share(struct table *table, int64_t share_ppm)
{
	char text[TEXT_TIME_SIZE];

	if (share_ppm < 0)
		table_cell(table, "-");
	else
		table_cell(table, "%s", text_percent(text, (double)share_ppm / PPM));
}

static void add_cutoff(struct table *table, const struct cutoff *c, bool details)
{
	bool periodic = c->period_ns > 0;
	char label[FAMILY_LABEL_SIZE];

	table_row(table);
	table_cell(table, "%s", name_family_label(label, c->daemon, c->names));
	table_cell_duration(table, c->short_ns);
	table_cell_duration(table, c->long_ns);
	if (!details)
		add_share(table, cutoff_share_ppm(c));
	table_cell_duration(table, periodic ? c->period_ns : -1);
	table_cell(table, "%s", !periodic ? "-" : c->firm ? "yes" : "no");
	table_cell_duration(table, c->task_time_ns > 0 ? c->task_time_ns : -1);
	if (!details)
		return;
	table_cell_duration(table, c->below_ns);
	table_cell_duration(table, c->atleast_ns);
}

#define CUTOFFS                               \
	{"DAEMON"}, {"SHORT", COLUMN_NUMBER}, \
	{                                     \
		"LONG", COLUMN_NUMBER         \
	}
#define PERIODS                              \
	{"PERIOD", COLUMN_NUMBER}, {"FIRM"}, \
	{                                    \
		"TASK TIME", COLUMN_NUMBER   \
	}

int cutoffs_print(const struct profile *profile, bool details, FILE *file, struct error *err)
{
	static const struct column brief[] = {CUTOFFS, {"SHARE", COLUMN_NUMBER}, PERIODS, {}};
	static const struct column all[] = {
		CUTOFFS, PERIODS, {"BELOW", COLUMN_NUMBER}, {"FROM", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(details ? all : brief);

	for (size_t i = 0; i < profile->n_cutoffs; i++)
		add_cutoff(table, &profile->cutoffs[i], details);
	table_print(table, file);
	return 0;
}

void cutoffs_print_floor(const struct profile *profile, FILE *file)
{
	char short_floor[TEXT_TIME_SIZE], long_floor[TEXT_TIME_SIZE];

	if (profile->noise &&
		strstr(profile->noise, "forced")) /* then the floor is that of what disturbed the runs */
		return;
	if (profile->short_run.floor_ns > 0 && profile->long_run.floor_ns > 0)
		fprintf(file, "Floor: executions below %s (short run), %s (long run) give no cutoff\n",
			text_duration(short_floor, profile->short_run.floor_ns),
			text_duration(long_floor, profile->long_run.floor_ns));
}

void cutoffs_print_names(const struct cutoffs *cutoffs, FILE *file)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *memory = cutoffs->n > 0 ? xopen_memstream(&text, &size) : NULL;

	for (size_t i = 0; memory && i < cutoffs->n; i++) {
		const struct cutoff *c = &cutoffs->items[i];
		char label[FAMILY_LABEL_SIZE], share[TEXT_TIME_SIZE];

		fprintf(memory, "%s%s (%s)", i > 0 ? ", " : "", name_family_label(label, c->daemon, c->names),
			text_percent(share, (double)cutoff_share_ppm(c) / PPM));
	}
	if (memory && fclose(memory) == 0)
		terminal_wrap(file, text, (size_t)fprintf(file, "  "), 2);
}
