/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is printed of a jitter run: see jitter.h. */
#include "lib/jitter/watch_jitter.h"


#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/jitter/jitter_cpu_screen.h"
#include "lib/jitter/jitter_json.h"

#include <inttypes.h>
#include <math.h>

enum { SHOWN = 10 };

static void add_row(struct table *table, const struct jitter_row *row)
{
	char share[TEXT_TIME_SIZE];

	table_row(table);
	table_cell_text(table, row->source->name);
	table_cell_text(table, row->source->unit ?: "-");
	table_cell(table, "%" PRId64, row->count);
	table_cell_duration(table, llround(row->mean_ns));
	table_cell_duration(table, row->max_ns);
	table_cell_duration(table, row->total_ns);
	table_cell(table, "%s", row->source->kind == SOURCE_OUTSIDE ? "-" : text_percent(share, row->share));
	table_cell_duration(table, row->period_ns ?: -1);
}

static int print_largest(const struct jitter_table *all, size_t most, struct error *err)
{
	static const struct column columns[] = {{"SOURCE", COLUMN_WRAP}, {"UNIT", COLUMN_WRAP},
		{"COUNT", COLUMN_NUMBER}, {"MEAN", COLUMN_NUMBER}, {"MAX", COLUMN_NUMBER},
		{"TOTAL", COLUMN_NUMBER}, {"SHARE", COLUMN_NUMBER}, {"PERIOD", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < all->n && i < most; i++)
		add_row(table, &all->rows[i]);
	table_print(table, stdout);
	if (all->n > most)
		printf("and %zu more (-v)\n", all->n - most);
	return 0;
}

static void print_cpu(const struct jitter_run *run, size_t i)
{
	const struct jitter_cpu *cpu = &run->jitter.cpus[i];

	jitter_cpu_print(run, i);
	printf("  %" PRId64 " of %" PRId64 " events lost\n", cpu->lost, cpu->lost + cpu->events);
}

int jitter_show(const struct jitter_run *run, const char *kept, bool json, bool all, struct error *err)
{
	int r;

	if (json)
		return json_print_document("emp-jitter", jitter_as_json(run), err);
	r = print_largest(&run->frequency, all ? SIZE_MAX : SHOWN, err);
	for (size_t i = 0; r == 0 && i < run->jitter.n_cpus; i++)
		print_cpu(run, i);
	if (r < 0)
		return r;
	if (kept)
		printf("\nThe trace is in '%s': trace-cmd report -i FILE, kernelshark FILE\n", kept);
	printf("\nRun %" PRId64 "%s. Next: emp-analyze jitter %" PRId64 "\n", run->run.id,
		run->run.state == RUN_INTERRUPTED ? ", interrupted" : "", run->run.id);
	return 0;
}
