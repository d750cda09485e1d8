/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run on the screen: Table I, where its sources come from, and how far it can be trusted. */
#include "lib/jitter/jitter_show.h"

#include "lib/base/saturate.h"
#include "lib/base/text.h"
#include "lib/jitter/jitter_cpu_screen.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What took less than this of all is not listed without --all. */
static const double LITTLE = 0.0005;

static bool is_listed(const struct jitter_row *row, const struct jitter_screen *screen)
{
	if (screen->combinations && row->source->kind != SOURCE_COMBINATION)
		return false;
	return screen->all || row->share >= LITTLE || row->source->kind == SOURCE_OUTSIDE;
}

/* Combinations have long names, and no room for MIN and SD. */
static void add_row(struct table *table, const struct jitter_row *row, bool combination)
{
	char text[TEXT_TIME_SIZE];

	table_row(table);
	table_cell_text(table, row->source->name);
	table_cell(table, "%" PRId64, row->count);
	if (!combination)
		table_cell_duration(table, row->min_ns);
	table_cell_duration(table, row->max_ns);
	table_cell_duration(table, llround(row->mean_ns));
	if (!combination)
		table_cell(table, "%s", row->count > 1 ? text_duration(text, llround(row->sd_ns)) : "-");
	table_cell_duration(table, row->total_ns);
	table_cell(table, "%s", row->source->kind == SOURCE_OUTSIDE ? "-" : text_percent(text, row->share));
}

static int print_table(const struct jitter_table *rows, const struct jitter_screen *screen, struct error *err)
{
	static const struct column of_sources[] = {{"SOURCE", COLUMN_WRAP}, {"COUNT", COLUMN_NUMBER},
		{"MIN", COLUMN_NUMBER}, {"MAX", COLUMN_NUMBER}, {"MEAN", COLUMN_NUMBER},
		{"SD", COLUMN_NUMBER}, {"TOTAL", COLUMN_NUMBER}, {"SHARE", COLUMN_NUMBER}, {}};
	static const struct column of_combinations[] = {{"SOURCES", COLUMN_WRAP}, {"COUNT", COLUMN_NUMBER},
		{"MAX", COLUMN_NUMBER}, {"MEAN", COLUMN_NUMBER}, {"TOTAL", COLUMN_NUMBER},
		{"SHARE", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(
		screen->combinations ? of_combinations : of_sources);

	for (size_t i = 0; i < rows->n; i++)
		if (is_listed(&rows->rows[i], screen))
			add_row(table, &rows->rows[i], screen->combinations);
	table_print(table, stdout);
	return 0;
}

static void print_rest(const struct jitter_table *rows, const struct jitter_screen *screen)
{
	char share[TEXT_TIME_SIZE];
	double rest = 0;
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (!screen->combinations && !is_listed(&rows->rows[i], screen)) {
			rest += rows->rows[i].share;
			n++;
		}
	if (n > 0)
		printf("and %zu more that took %s together (--all lists them)\n", n,
			text_percent(share, rest));
}

/* Kind, unit and period of each source, and what keeps it away. */
static int print_origins(const struct jitter_run *run, const struct jitter_screen *screen, struct error *err)
{
	static const struct column columns[] = {{"SOURCE", COLUMN_WRAP}, {"KIND"}, {"UNIT", COLUMN_WRAP},
		{"PERIOD", COLUMN_NUMBER}, {"WHAT KEEPS IT AWAY", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < run->frequency.n; i++) {
		const struct jitter_row *row = &run->frequency.rows[i];
		const struct remedy remedy = jitter_run_remedy(run, row->source);

		if (!is_listed(row, screen))
			continue;
		table_row(table);
		table_cell_text(table, row->source->name);
		table_cell_text(table, source_kind_names[row->source->kind]);
		table_cell_text(table, row->source->unit ?: "-");
		table_cell_duration(table, row->period_ns > 0 ? row->period_ns : -1);
		table_cell_text(table, remedy.how);
	}
	table_print(table, stdout);
	return 0;
}

static double ratio(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

static void print_heading(const struct jitter_run *run)
{
	char time[TEXT_TIME_SIZE], share[TEXT_TIME_SIZE];

	printf("Run %" PRId64 ": sources took %s, %s of the sampled time of %zu CPU%s%s\n", run->run.id,
		text_duration(time, run->frequency.total_ns),
		text_percent(share, ratio(run->frequency.total_ns, run->all.sampled_ns)), run->jitter.n_cpus,
		run->jitter.n_cpus == 1 ? "" : "s",
		run->run.state == RUN_INTERRUPTED ? " (interrupted)" : "");
}

static int print_combinations(
	const struct jitter_run *run, const struct jitter_screen *screen, struct error *err)
{
	char share[TEXT_TIME_SIZE];
	int64_t total_ns = 0;

	for (size_t i = 0; i < run->time.n; i++)
		if (run->time.rows[i].source->kind == SOURCE_COMBINATION)
			total_ns = saturate_add(total_ns, run->time.rows[i].total_ns);
	printf("Run %" PRId64 ": several sources in one interruption took %s of the time of all\n"
	       "interruptions; their names are joined by _\n",
		run->run.id, text_percent(share, ratio(total_ns, run->time.total_ns)));
	return print_table(&run->time, screen, err);
}

int jitter_print(const struct jitter_run *run, const struct jitter_screen *screen, struct error *err)
{
	int r;

	if (screen->combinations)
		return print_combinations(run, screen, err);
	print_heading(run);
	r = print_table(&run->frequency, screen, err);
	if (r < 0)
		return r;
	print_rest(&run->frequency, screen);
	printf("\n");
	r = print_origins(run, screen, err);
	for (size_t i = 0; r == 0 && i < run->jitter.n_cpus; i++)
		jitter_cpu_print(run, i);
	return r;
}

int jitter_print_peak(const struct jitter_run *run, const struct jitter_peak *peak, struct error *err)
{
	static const struct column columns[] = {{"SOURCE", COLUMN_WRAP}, {"COUNT", COLUMN_NUMBER},
		{"MEAN", COLUMN_NUMBER}, {"TOTAL", COLUMN_NUMBER}, {"SHARE", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);
	char low[TEXT_TIME_SIZE], high[TEXT_TIME_SIZE], text[TEXT_TIME_SIZE];

	printf("Run %" PRId64 ": interruptions of %s to %s (edges of buckets)\n", run->run.id,
		text_duration(low, peak->low_ns), text_duration(high, peak->high_ns));
	for (const struct jitter_row *row = peak->table.rows; row < peak->table.rows + peak->table.n; row++) {
		table_row(table);
		table_cell_text(table, row->source->name);
		table_cell(table, "%" PRId64, row->count);
		table_cell_duration(table, llround(row->mean_ns));
		table_cell_duration(table, row->total_ns);
		table_cell(table, "%s", text_percent(text, row->share));
	}
	if (peak->table.n == 0)
		printf("The trace has no interruptions of these lengths.\n");
	else
		table_print(table, stdout);
	printf("The loop saw %" PRId64 " gaps of these lengths, %s in total. A gap is\n"
	       "slightly longer than the trace shows.\n",
		peak->gaps, text_duration(text, peak->gaps_ns));
	return 0;
}
