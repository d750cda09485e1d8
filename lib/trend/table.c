/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trend as CSV and as a table in Markdown: see time_series.h. */
#include "lib/trend/trend_show.h"

#include "lib/base/table.h"

#include <math.h>

bool trend_is_outlier(const struct trend_view *v, size_t i)
{
	return fabs(v->series.items[i].log - v->levels.in_level[i]) > 1e-9;
}

/* In the unit of the series. */
static void csv_figure(struct table *table, double value)
{
	if (isfinite(value))
		table_cell(table, "%.9g", value);
	else
		table_cell_text(table, NULL);
}

static void csv_run(struct table *table, const struct trend_view *v, size_t level, size_t i)
{
	const struct level *l = &v->levels.items[level];
	const struct series_run *s = &v->series.items[i];
	char started[TEXT_TIME_SIZE];

	table_row(table);
	table_cell_int(table, s->run.id);
	table_cell_text(table, terminal_text(v->series.name));
	table_cell_text(table, v->series.unit == SERIES_INC ? "INC" : "s");
	table_cell_text(table, text_rfc3339(started, s->run.started_ns));
	table_cell_int(table, (int64_t)s->n_samples);
	csv_figure(table, exp(s->log));
	table_cell_int(table, trend_is_outlier(v, i));
	table_cell_int(table, (int64_t)level + 1);
	csv_figure(table, exp(l->mean));
	csv_figure(table, exp(l->mean - l->half) > 0 ? exp(l->mean - l->half) : NAN);
	csv_figure(table, exp(l->mean + l->half));
}

void trend_write_csv(FILE *file, const struct trend_view *v)
{
	static const struct column columns[] = {{.member = "run"}, {.member = "command"}, {.member = "unit"},
		{.member = "started"}, {.member = "samples"}, {.member = "mean"}, {.member = "outlier"},
		{.member = "level"}, {.member = "level_mean"}, {.member = "level_low"},
		{.member = "level_high"}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t level = 0; level < v->levels.n; level++)
		for (size_t k = 0; k < v->levels.items[level].n; k++)
			csv_run(table, v, level, v->levels.items[level].first + k);
	table_write(table, TABLE_CSV, file);
}

static void markdown_level(struct table *table, const struct trend_view *v, size_t i)
{
	const struct level *l = &v->levels.items[i];
	const struct run *first = &v->series.items[l->first].run;
	char from[TEXT_TIME_SIZE], text[TEXT_PAIR_SIZE];

	table_row(table);
	table_cell_text(table, text_moment(from, first->started_ns));
	table_cell_int(table, first->id);
	table_cell_int(table, (int64_t)l->n);
	table_cell_text(table, trend_value_text(text, v, l->mean, l->half));
	table_cell_text(table, trend_interval_text(text, v, l));
	if (i > 0) {
		_cleanup_(freep) char *cause = trend_cause_text(v, i);

		table_cell_text(table, trend_change_text(text, levels_change(&v->levels, i)));
		table_cell_code(table, cause);
	} else {
		table_cell_text(table, NULL);
		table_cell_text(table, NULL);
	}
}

void trend_write_markdown(FILE *file, const struct trend_view *v)
{
	const struct column columns[] = {{"From"}, {"Run", COLUMN_NUMBER}, {"Runs", COLUMN_NUMBER},
		{v->series.unit == SERIES_INC ? "Mean PT [INC units]" : "Mean PT", COLUMN_NUMBER},
		{"95 % CI", COLUMN_NUMBER}, {"Change", COLUMN_NUMBER}, {"What changed"}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < v->levels.n; i++)
		markdown_level(table, v, i);
	table_write(table, TABLE_MARKDOWN, file);
}
