/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trend on the screen, as JSON, as CSV and as a table in Markdown. */
#include "lib/trend/trend.h"

#include "lib/base/table.h"
#include "lib/base/terminal.h"
#include "lib/duet/duet_report.h"

#include <math.h>

enum { LEAST_RUNS = 2 * CHANGE_POINTS_LEAST, LAST = 5 };

static const struct column level_columns[] = {
	{"FROM", COLUMN_TEXT, "from"},
	{NULL, COLUMN_TEXT, "from_ns"},
	{"RUN", COLUMN_NUMBER, "first_run"},
	{NULL, COLUMN_TEXT, "last_run"},
	{"RUNS", COLUMN_NUMBER, "runs"},
	{"MEAN", COLUMN_NUMBER, "mean"},
	{"95 % CI", COLUMN_NUMBER, "interval"},
	{"CHANGE", COLUMN_NUMBER, "change"},
	{NULL, COLUMN_TEXT, "change_interval"},
	{NULL, COLUMN_TEXT, "environment_changes"},
	{NULL, COLUMN_TEXT, "environment_changes_later"},
	{},
};

/* Decimals that show two digits of `step`. */
static int trend_decimals(double step)
{
	int decimals = step > 0 && isfinite(step) ? 1 - (int)floor(log10(step)) : 2;

	return decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
}

const char *trend_value_text(const struct trend_view *view, double log, double half)
{
	double value = exp(log);

	if (view->series.unit == SERIES_SECONDS)
		return text_precise(value * 1e9, isfinite(half) ? fmax(1, value * half * 1e9) : 0);
	return text_brief("%.*f", trend_decimals(isfinite(half) ? value * half : value / 100), value);
}

const char *trend_change_text(struct level_change change)
{
	double percent = 100 * expm1(change.by), half = 100 * exp(change.by) * change.half;
	int decimals = trend_decimals(half);

	return text_brief("%+.*f ± %.*f %%", decimals, percent, decimals, half);
}

static const char *trend_interval_text(const struct trend_view *v, const struct level *l)
{
	if (!isfinite(l->half))
		return "-";
	if (v->series.unit == SERIES_SECONDS)
		return text_interval(1e9 * exp(l->mean - l->half), 1e9 * exp(l->mean + l->half),
			fmax(1, 1e9 * exp(l->mean) * l->half), NULL);
	return text_brief("%.30s … %.30s", trend_value_text(v, l->mean - l->half, l->half),
		trend_value_text(v, l->mean + l->half, l->half));
}

static struct table *list_levels(const struct trend_view *v)
{
	struct table *list = table_new(level_columns);

	for (size_t i = 0; i < v->levels.n; i++) {
		const struct level *l = &v->levels.items[i];
		const struct run *first = &v->series.items[l->first].run;
		struct level_change change;

		table_row(list,
			VALUE(json_string(text_rfc3339(first->started_ns)), text_moment(first->started_ns)),
			NUMBER(first->started_ns), NUMBER(first->id),
			NUMBER(v->series.items[l->first + l->n - 1].run.id), NUMBER(l->n),
			VALUE(json_real(exp(l->mean)), trend_value_text(v, l->mean, l->half)),
			VALUE(json_interval(exp(l->mean - l->half), exp(l->mean + l->half)),
				trend_interval_text(v, l)));
		for (int k = 0; i == 0 && k < 4; k++) /* no change yet */
			table_add(list, VALUE(NULL, "-"));
		if (i == 0)
			continue;
		change = levels_change(&v->levels, i);
		table_add(list, VALUE(json_real(expm1(change.by)), trend_change_text(change)),
			VALUE(json_interval(expm1(change.by - change.half), expm1(change.by + change.half)),
				NULL),
			VALUE(v->causes[i].text ? json_string(v->causes[i].text) : NULL, NULL),
			VALUE(v->causes[i].text ? json_integer(v->causes[i].later) : NULL, NULL));
	}
	return list;
}

/* What chance alone does, and what would have been found. */
static void print_trend_noise(const struct trend_view *v)
{
	const struct levels *l = &v->levels;
	size_t n = v->series.n;
	double middle, last;

	if (n < LEAST_RUNS) {
		printf("Too few runs: %d are needed to show a change, and there %s %zu.\n", LEAST_RUNS,
			n == 1 ? "is" : "are", n);
		return;
	}
	printf("Runs vary by %s about their level.", text_percent(l->sd));
	if (l->n > 1) {
		putchar('\n');
		return;
	}
	printf(" No change is shown.\n");
	middle = expm1(levels_detectable(l, n, n / 2));
	last = expm1(levels_detectable(l, n, LAST));
	if (!(middle < 1)) {
		printf("So few runs show only large changes.\n");
		return;
	}
	printf("Detectable: a change of %s in the middle", text_percent(middle));
	if (last < 1)
		printf(", or of %s in the last %d runs", text_percent(last), LAST);
	printf(".\n");
}

/* "Run 88: kernel.release was '6.1', is '6.12'", for i > 0. */
static char *trend_cause_text(const struct trend_view *v, size_t i)
{
	const struct trend_cause *c = &v->causes[i];
	size_t run = v->levels.items[i].first + (size_t)(c->text ? c->later : 0);

	return text_format("Run %" PRId64 ": %s", v->series.items[run].run.id,
		terminal_text(c->text) ?: "no change of the environment is recorded");
}

void trend_print(const struct trend_view *v)
{
	_cleanup_(table_freep) struct table *list = list_levels(v);
	const struct series *s = &v->series;
	char title[512];

	snprintf(title, sizeof(title), "%.300s: %zu run%s, PT in %s", terminal_text(s->name), s->n,
		s->n == 1 ? "" : "s",
		s->unit == SERIES_INC ? "INC units (millions of increments)" : "seconds");
	terminal_wrap(stdout, title, 0, 2);
	if (v->series.n > 0)
		table_print(list, stdout);
	print_trend_noise(v);
	for (size_t i = 1; i < v->levels.n; i++) {
		_cleanup_(freep) char *cause = trend_cause_text(v, i);

		terminal_wrap(stdout, cause, 0, 2);
	}
	/* what is not in the series */
	const struct {
		size_t n;
		const char *why;
	} rows[] = {
		{v->series.n_other_unit, "without INC units (--seconds follows all)"},
		{v->series.n_other_machine, "of other machines"},
		{v->series.n_few, "of fewer than 3 samples"},
		{v->series.n_at_once, "at the same time as another"},
	};
	char text[512] = "";

	for (size_t i = 0; i < ELEMENTS(rows); i++)
		if (rows[i].n > 0) {
			size_t used = strlen(text);

			snprintf(text + used, sizeof(text) - used, "%s%zu %s",
				used ? ", " : "Left out: ", rows[i].n, rows[i].why);
		}
	if (*text)
		terminal_wrap(stdout, text, 0, 2);
}

json_t *trend_as_json(const struct trend_view *v)
{
	_cleanup_(table_freep) struct table *list = list_levels(v);
	const struct series *s = &v->series;
	json_t *runs = json_array();

	for (size_t level = 0; level < v->levels.n; level++)
		for (size_t i = v->levels.items[level].first, k = 0; k < v->levels.items[level].n; i++, k++) {
			const struct series_run *run = &s->items[i];

			json_array_append_new(runs,
				json_pack("{s:I, s:I, s:s, s:I, s:f, s:I}", "run", (json_int_t)run->run.id,
					"started_ns", (json_int_t)run->run.started_ns, "started",
					text_rfc3339(run->run.started_ns), "samples",
					(json_int_t)run->n_samples, "mean", exp(run->log), "level",
					(json_int_t)level + 1));
		}
	return json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:{s:I, s:I, s:I, s:I}}", "command", s->name,
		"unit", s->unit == SERIES_INC ? "INC" : "s", "unit_increments",
		(json_int_t)(s->unit == SERIES_INC ? INC_UNIT : 0), "levels", table_json(list), "runs", runs,
		"sd", json_real_or_null(v->levels.sd), "lag1", json_real_or_null(v->levels.lag1), "left_out",
		"other_unit", (json_int_t)s->n_other_unit, "other_machine", (json_int_t)s->n_other_machine,
		"few_samples", (json_int_t)s->n_few, "at_once", (json_int_t)s->n_at_once);
}

bool trend_is_outlier(const struct trend_view *v, size_t i)
{
	return fabs(v->series.items[i].log - v->levels.in_level[i]) > 1e-9;
}

/* In the unit of the series. */
static struct cell csv_figure(double value)
{
	return TEXT(isfinite(value) ? text_brief("%.9g", value) : NULL);
}

void trend_write_csv(FILE *file, const struct trend_view *v)
{
	static const struct column columns[] = {{.member = "run"}, {.member = "command"}, {.member = "unit"},
		{.member = "started"}, {.member = "samples"}, {.member = "mean"}, {.member = "outlier"},
		{.member = "level"}, {.member = "level_mean"}, {.member = "level_low"},
		{.member = "level_high"}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t level = 0; level < v->levels.n; level++)
		for (size_t i = v->levels.items[level].first, k = 0; k < v->levels.items[level].n; i++, k++) {
			const struct level *l = &v->levels.items[level];
			const struct series_run *s = &v->series.items[i];

			table_row(table, NUMBER(s->run.id), TEXT(terminal_text(v->series.name)),
				TEXT(v->series.unit == SERIES_INC ? "INC" : "s"),
				TEXT(text_rfc3339(s->run.started_ns)), NUMBER(s->n_samples),
				csv_figure(exp(s->log)), NUMBER(trend_is_outlier(v, i)), NUMBER(level + 1),
				csv_figure(exp(l->mean)),
				csv_figure(exp(l->mean - l->half) > 0 ? exp(l->mean - l->half) : NAN),
				csv_figure(exp(l->mean + l->half)));
		}
	table_write(table, TABLE_CSV, file);
}

void trend_write_markdown(FILE *file, const struct trend_view *v)
{
	const struct column columns[] = {{"From"}, {"Run", COLUMN_NUMBER}, {"Runs", COLUMN_NUMBER},
		{v->series.unit == SERIES_INC ? "Mean PT [INC units]" : "Mean PT", COLUMN_NUMBER},
		{"95 % CI", COLUMN_NUMBER}, {"Change", COLUMN_NUMBER}, {"What changed"}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < v->levels.n; i++) {
		const struct level *l = &v->levels.items[i];
		const struct run *first = &v->series.items[l->first].run;
		_cleanup_(freep) char *cause = i > 0 ? trend_cause_text(v, i) : NULL;

		table_row(table, TEXT(text_moment(first->started_ns)), NUMBER(first->id), NUMBER(l->n),
			TEXT(trend_value_text(v, l->mean, l->half)), TEXT(trend_interval_text(v, l)),
			TEXT(i > 0 ? trend_change_text(levels_change(&v->levels, i)) : NULL),
			cause ? CODE(cause) : TEXT(NULL));
	}
	table_write(table, TABLE_MARKDOWN, file);
}
