/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trend on the screen, as JSON, as CSV, as a table in Markdown, and as a picture, which
 * plots/trend.gp draws: see trend_show.h. */
#include "lib/trend/trend_show.h"

#include "lib/base/charset.h"
#include "lib/base/table.h"
#include "lib/base/tool.h"
#include "lib/duet/inc_units.h"
#include "lib/report/plot.h"

#include <math.h>

enum { LEAST_RUNS = 2 * CHANGE_POINTS_LEAST };

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

/* Decimals that show two digits of `step`, at most 6. */
static int trend_decimals(double step)
{
	int decimals = step > 0 && isfinite(step) ? 1 - (int)floor(log10(step)) : 2;

	if (decimals < 0)
		return 0;
	return decimals > 6 ? 6 : decimals;
}

/* A figure in the unit of the series: "471.2" (units of INC), "127.9 ms"; its digits are those of
 * `half`, a share of it. */
static const char *trend_value_text(const struct trend_view *view, double log, double half)
{
	double value = exp(log);

	if (view->series.unit == SERIES_SECONDS)
		return text_precise(value * 1e9, isfinite(half) ? fmax(1, value * half * 1e9) : 0);
	return text_brief(
		"%.*f", trend_decimals(isfinite(half) ? value * half : value / 100), value);
}

/* "+2.5 ± 0.3 %", of a difference of logarithms. */
static const char *trend_change_text(struct level_change change)
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
		const struct level_change change = l->change;

		table_begin_row(list);
		table_add(list,
			VALUE(json_string(text_rfc3339(first->started_ns)),
				text_moment(first->started_ns)),
			NUMBER(first->started_ns), NUMBER(first->id),
			NUMBER(v->series.items[l->first + l->n - 1].run.id), NUMBER(l->n),
			VALUE(json_real(exp(l->mean)), trend_value_text(v, l->mean, l->half)),
			VALUE(json_interval(exp(l->mean - l->half), exp(l->mean + l->half)),
				trend_interval_text(v, l)));
		for (int k = 0; i == 0 && k < 4; k++) /* no change yet */
			table_add(list, VALUE(NULL, "-"));
		if (i == 0)
			continue;
		table_add(list, VALUE(json_real(expm1(change.by)), trend_change_text(change)),
			VALUE(json_interval(expm1(change.by - change.half),
				      expm1(change.by + change.half)),
				NULL),
			VALUE(v->causes[i].text ? json_string(v->causes[i].text) : NULL, NULL),
			VALUE(v->causes[i].text ? json_integer(v->causes[i].later) : NULL, NULL));
	}
	return list;
}

/* From the first run of the drift to the last. */
static struct level_change trend_drift_of_all(const struct trend_view *v)
{
	double runs = (double)v->series.n - 1;

	return (struct level_change){v->levels.drift.by * runs, v->levels.drift.half * runs};
}

/* "drifts by +1.2 ± 0.1 % a run, +100 ± 5 % from first to last"; the last words are `in_all`. */
static const char *trend_drift_text(const struct trend_view *v, const char *in_all)
{
	char each[64];

	snprintf(each, sizeof(each), "%s", trend_change_text(v->levels.drift));
	return text_brief("drifts by %s a run, %s %s", each,
		trend_change_text(trend_drift_of_all(v)), in_all);
}

/* What chance alone does, and what would have been found. */
static void print_trend_noise(const struct trend_view *v)
{
	const struct levels *l = &v->levels;
	const char *at_end = "";
	double middle, last;

	if (v->series.n < LEAST_RUNS)
		return;
	if (l->drifts)
		terminal_say(stdout, 2, "PT %s.", trend_drift_text(v, "from first to last"));
	if (l->n_apart == 1)
		printf("The last run is an outlier (%+.2g %%).\n", 100 * expm1(l->apart));
	printf("Runs vary by %s about their level.", text_percent(l->sd));
	if (l->n > 1 || l->drifts) {
		putchar('\n');
		return;
	}
	printf(" No change is shown.\n");
	middle = expm1(levels_detectable(l, v->series.n, v->series.n / 2));
	last = v->judgement.detectable;
	if (!(middle < 1)) {
		printf("So few runs show only large changes.\n");
		return;
	}
	if (last < 1 && !v->judgement.shown)
		at_end = text_brief(
			", or of %s in the last %zu runs", text_percent(last), v->judgement.last);
	terminal_say(stdout, 2, "Detectable: a change of %s in the middle%s.", text_percent(middle),
		at_end);
}

/* How many more runs should tell, or why more do not; nothing if that is not known. */
static void append_missing(char *text, size_t size, const struct trend_view *v)
{
	const double TOO_NOISY = 2.5; /* 300 more runs tell in a third of simulated series */
	const struct trend_judgement *j = &v->judgement;
	double hidden = 2 * v->levels.hidden;
	size_t k = 0;

	if (isnan(j->missing))
		return;
	if (isfinite(j->missing)) {
		snprintf(text, size, "; %s should tell",
			text_count((int64_t)j->missing, "more run"));
	} else if (hidden > comparison_rules_margin(&v->rules) / 2) {
		snprintf(text, size, "; more runs do not help: the clock's steps hide %s",
			text_percent(hidden));
	} else if (!j->shown && v->levels.sd > TOO_NOISY * comparison_rules_margin(&v->rules)) {
		snprintf(text, size, "; more runs hardly help: they vary by %s",
			text_percent(v->levels.sd));
	} else if (!j->shown) {
		snprintf(text, size, "; how many more runs would tell is not known");
	} else {
		while (k + 1 < v->levels.n && v->levels.items[k + 1].first <= v->reference)
			k++;
		snprintf(text, size,
			"; more runs after the change may not help: the reference has %s; "
			"name a longer one with --since",
			text_count((int64_t)v->levels.items[k].n, "run"));
	}
}

/* What is compared, or what it takes to compare. The caller frees it. */
static char *compared_text(const struct trend_view *v)
{
	const struct trend_judgement *j = &v->judgement;
	const struct series_run *runs = v->series.items;
	size_t n = v->series.n;

	if (n < LEAST_RUNS)
		return text_format("%d runs are needed to show a change, and there %s %zu",
			LEAST_RUNS, n == 1 ? "is" : "are", n);
	if (j->shown)
		return text_format("run %" PRId64 " against run %" PRId64 ": %s",
			runs[n - 1].run.id, runs[v->reference].run.id,
			trend_change_text(j->change));
	if (!isfinite(j->change.half))
		return text_format("%d runs of the last level are needed, and there %s %zu",
			LEAST_RUNS, j->of == 1 ? "is" : "are", j->of);
	return text_format("last %zu runs against %zu before: %s", j->last, j->of - j->last,
		trend_change_text(j->change));
}

/* The verdict, and what is compared. Returns `buffer`. */
#define VERDICT "Verdict: "
enum { VERDICT_TEXT_SIZE = 384 };
static const char *trend_verdict_text(char buffer[VERDICT_TEXT_SIZE], const struct trend_view *v)
{
	const struct trend_judgement *j = &v->judgement;
	_cleanup_(freep) char *what = compared_text(v);
	const char *margin = "", *seen = "";
	int len;

	if (j->verdict == COMPARISON_EQUAL)
		margin = text_brief(" (within %g %%)", 100 * comparison_rules_margin(&v->rules));
	if (j->verdict == COMPARISON_CANNOT_TELL && isfinite(j->detectable))
		seen = text_brief("; could have shown %s", text_percent(j->detectable));
	len = snprintf(buffer, VERDICT_TEXT_SIZE, VERDICT "%s%s; %s%s",
		comparison_verdict_words[j->verdict], margin, what, seen);
	append_missing(buffer + len, VERDICT_TEXT_SIZE - (size_t)len, v);
	return buffer;
}

/* "Run 88: kernel.release was '6.1', is '6.12'", for i > 0. */
static char *trend_cause_text(const struct trend_view *v, size_t i)
{
	const struct trend_cause *c = &v->causes[i];
	size_t run = v->levels.items[i].first + (size_t)(c->text ? c->later : 0);

	return text_format("Run %" PRId64 ": %s", v->series.items[run].run.id,
		terminal_text(c->text) ?: "no change of the environment is recorded");
}

/* "Left out: 2 of other machines, 1 with a PT of 0"; nothing if nothing is. */
static void print_left_out_runs(const struct series *s)
{
	const struct {
		size_t n;
		const char *why;
	} rows[] = {
		{s->n_other_unit, "without INC units (--seconds follows all)"},
		{s->n_other_machine, "of other machines"},
		{s->n_few, "of fewer than 3 samples"},
		{s->n_without_pt, "with a PT of 0"},
		{s->n_other_inc, "in units of another INC"},
		{s->n_at_once, "at the same time as another"},
	};
	_cleanup_(freep) char *text = NULL;

	for (size_t i = 0; i < ELEMENTS(rows); i++)
		if (rows[i].n > 0)
			text_append(&text, ", ", "%s%zu %s", text ? "" : "Left out: ", rows[i].n,
				rows[i].why);
	if (text)
		terminal_wrap(stdout, text, 0, 2);
}

static void trend_print(const struct trend_view *v)
{
	_cleanup_(table_freep) struct table *list = list_levels(v);
	const struct series *s = &v->series;
	char title[512], verdict[VERDICT_TEXT_SIZE];

	snprintf(title, sizeof(title), "%.300s: %s, PT in %s", terminal_text(s->name),
		text_count(s->n, "run"),
		s->unit == SERIES_INC ? "INC units (millions of increments)" : "seconds");
	terminal_wrap(stdout, title, 0, 2);
	if (s->n > 0)
		table_print(list, stdout);
	print_trend_noise(v);

	for (size_t i = 1; i < v->levels.n; i++) {
		_cleanup_(freep) char *cause = trend_cause_text(v, i);

		terminal_wrap(stdout, cause, 0, 2);
	}
	print_left_out_runs(s);
	terminal_wrap(stdout, trend_verdict_text(verdict, v), 0, 2);
}

static json_t *trend_shares(struct level_change change)
{
	if (!isfinite(change.half))
		return json_null();
	return JSON_OBJECT({"change", json_real_or_null(expm1(change.by))},
		{"change_interval", json_interval(expm1(change.by - change.half),
					    expm1(change.by + change.half))});
}

/* The last run against the reference. */
static json_t *trend_verdict_json(const struct trend_view *v)
{
	const struct trend_judgement *j = &v->judgement;
	json_t *json = json_pack("{s:b, s:f, s:o, s:o, s:o}", "shown", j->shown, "allowed",
		comparison_rules_margin(&v->rules), "detectable", json_real_or_null(j->detectable),
		"runs_missing",
		isfinite(j->missing) ? json_integer((json_int_t)j->missing) : json_null(),
		"against", json_null());

	if (v->series.n > 0) {
		json_object_set_new(
			json, "run", json_integer(v->series.items[v->series.n - 1].run.id));
		json_object_set_new(
			json, "against", json_integer(v->series.items[v->reference].run.id));
	}
	if (!j->shown && j->of > 0)
		json_object_set_new(json, "last_runs", json_integer((json_int_t)j->last));
	if (isfinite(j->change.half))
		json_object_update_new(json, trend_shares(j->change));
	return json;
}

static json_t *trend_drift_json(const struct trend_view *v)
{
	json_t *json = v->levels.drifts ? trend_shares(v->levels.drift) : json_null();

	if (v->levels.drifts)
		json_object_set_new(
			json, "from_first_to_last", trend_shares(trend_drift_of_all(v)));
	return json;
}

static json_t *trend_json(const struct trend_view *v)
{
	_cleanup_(table_freep) struct table *list = list_levels(v);
	const struct series *s = &v->series;
	json_t *runs = json_array();

	for (size_t level = 0; level < v->levels.n; level++)
		for (size_t i = v->levels.items[level].first, k = 0; k < v->levels.items[level].n;
			i++, k++) {
			const struct series_run *run = &s->items[i];

			json_array_append_new(runs,
				JSON_OBJECT({"run", json_integer(run->run.id)},
					{"started_ns", json_integer(run->run.started_ns)},
					{"started", json_text(text_rfc3339(run->run.started_ns))},
					{"samples", json_integer(run->n_samples)},
					{"mean", json_real_or_null(exp(run->log))},
					{"level", json_integer(level + 1)}));
		}
	return JSON_OBJECT({"command", json_text(s->name)},
		{"verdict", json_text(comparison_verdict_words[v->judgement.verdict])},
		{"comparison", trend_verdict_json(v)}, {"drift", trend_drift_json(v)},
		{"unit", json_text(s->unit == SERIES_INC ? "INC" : "s")},
		{"unit_increments", json_integer(s->unit == SERIES_INC ? INC_UNIT : 0)},
		{"levels", table_json(list)}, {"runs", runs},
		{"sd", json_real_or_null(v->levels.sd)},
		{"lag1", json_real_or_null(v->levels.lag1)},
		{"left_out", JSON_OBJECT({"other_unit", json_integer(s->n_other_unit)},
				     {"other_machine", json_integer(s->n_other_machine)},
				     {"other_inc", json_integer(s->n_other_inc)},
				     {"few_samples", json_integer(s->n_few)},
				     {"without_pt", json_integer(s->n_without_pt)},
				     {"at_once", json_integer(s->n_at_once)})});
}

/* It stands apart from its neighbours of the same level. */
static bool trend_is_outlier(const struct trend_view *v, size_t i)
{
	return fabs(v->series.items[i].log - v->levels.in_level[i]) > 1e-9;
}

/* In the unit of the series. */
static struct cell csv_figure(double value)
{
	return TEXT(isfinite(value) ? text_brief("%.9g", value) : NULL);
}

/* A row for each run. */
static void trend_write_csv(FILE *file, const struct trend_view *v)
{
	static const struct column columns[] = {{.member = "run"}, {.member = "command"},
		{.member = "unit"}, {.member = "started"}, {.member = "samples"},
		{.member = "mean"}, {.member = "outlier"}, {.member = "level"},
		{.member = "level_mean"}, {.member = "level_low"}, {.member = "level_high"},
		{.member = "verdict"}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t level = 0; level < v->levels.n; level++)
		for (size_t i = v->levels.items[level].first, k = 0; k < v->levels.items[level].n;
			i++, k++) {
			const struct series_run *s = &v->series.items[i];
			struct level_change at = levels_at(&v->levels, (double)i);
			double low = isfinite(v->levels.items[level].half) ? exp(at.by - at.half)
									   : NAN;

			table_row(table, columns, NUMBER(s->run.id),
				TEXT(terminal_text(v->series.name)),
				TEXT(v->series.unit == SERIES_INC ? "INC" : "s"),
				TEXT(text_rfc3339(s->run.started_ns)), NUMBER(s->n_samples),
				csv_figure(exp(s->log)), NUMBER(trend_is_outlier(v, i)),
				NUMBER(level + 1), csv_figure(exp(at.by)), csv_figure(low),
				csv_figure(isfinite(low) ? exp(at.by + at.half) : NAN),
				TEXT(comparison_verdict_words[v->judgement.verdict]));
		}
	table_write(table, TABLE_CSV, file);
}

/* The levels. */
static void trend_write_markdown(FILE *file, const struct trend_view *v)
{
	const struct column columns[] = {{"From"}, {"Run", COLUMN_NUMBER}, {"Runs", COLUMN_NUMBER},
		{v->series.unit == SERIES_INC ? "Mean PT [INC units]" : "Mean PT", COLUMN_NUMBER},
		{"95 % CI", COLUMN_NUMBER}, {"Change", COLUMN_NUMBER}, {"What changed"}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);
	char verdict[VERDICT_TEXT_SIZE];

	for (size_t i = 0; i < v->levels.n; i++) {
		const struct level *l = &v->levels.items[i];
		const struct run *first = &v->series.items[l->first].run;
		_cleanup_(freep) char *cause = i > 0 ? trend_cause_text(v, i) : NULL;

		table_row(table, columns, TEXT(text_moment(first->started_ns)), NUMBER(first->id),
			NUMBER(l->n), TEXT(trend_value_text(v, l->mean, l->half)),
			TEXT(trend_interval_text(v, l)),
			TEXT(i > 0 ? trend_change_text(l->change) : NULL),
			cause ? CODE(cause) : TEXT(NULL));
	}
	table_write(table, TABLE_MARKDOWN, file);
	if (v->levels.drifts)
		fprintf(file, "\nPT %s.\n", trend_drift_text(v, "from first to last"));
	fprintf(file, "\n%s\n", trend_verdict_text(verdict, v));
}

/* The picture: a point for each run in the order of time, the levels with their intervals, and what
 * changed. */

enum { TICKS = 5, MOST_SQUEEZED = 3, CHANGE_ROWS = 4 };

/* The kinds of points, as plots/trend.gp numbers them. */
enum place { RUN, OUTLIER, ABOVE, BELOW, N_PLACES };

/* What is in the picture, in logarithms. */
struct trend_frame {
	double low, high;
};

/* The intervals of levels are in the picture, and outliers unless they would squeeze the others. */
static struct trend_frame trend_frame_of(const struct trend_view *v)
{
	struct trend_frame near = {INFINITY, -INFINITY}, all, *f;
	double margin, above = 0;

	for (size_t i = 0; i < v->series.n; i++) {
		struct level_change at = levels_at(&v->levels, (double)i);
		double half = isfinite(at.half) ? at.half : 0;

		near.low = fmin(near.low, fmin(v->levels.in_level[i], at.by - half));
		near.high = fmax(near.high, fmax(v->levels.in_level[i], at.by + half));
	}
	all = near;
	for (size_t i = 0; i < v->series.n; i++) {
		all.low = fmin(all.low, v->series.items[i].log);
		all.high = fmax(all.high, v->series.items[i].log);
	}
	f = all.high - all.low <= MOST_SQUEEZED * (near.high - near.low) ? &all : &near;
	margin = fmax(0.15 * (f->high - f->low), 0.002);
	/* the changes stand above all points */
	for (size_t i = 1; i < v->levels.n && i < CHANGE_ROWS; i++)
		above += 0.5 * margin;
	return (struct trend_frame){f->low - margin, f->high + margin + above};
}

static enum place place_of(const struct trend_view *v, const struct trend_frame *f, size_t i)
{
	double log = v->series.items[i].log;

	if (log > f->high)
		return ABOVE;
	if (log < f->low)
		return BELOW;
	return trend_is_outlier(v, i) ? OUTLIER : RUN;
}

/* The runs of a kind. Returns whether there are any. */
static bool write_runs_at(
	const struct trend_view *v, const struct trend_frame *f, enum place place, FILE *script)
{
	double edge = (f->high - f->low) / 50;
	bool any = false;

	for (size_t i = 0; i < v->series.n; i++) {
		double log = v->series.items[i].log;

		if (place_of(v, f, i) != place)
			continue;
		any = true;
		fprintf(script, "%zu %.9g\n", i + 1,
			exp(fmax(f->low + edge, fmin(f->high - edge, log))));
	}
	if (any)
		fputs("\n\n", script);
	return any;
}

/* The PTs of the runs outside the picture. */
static void write_outside(const struct trend_view *v, const struct trend_frame *f, FILE *script)
{
	size_t n_outside = 0, n_last = v->series.n + 1;

	fprintf(script, "array outside[%zu]\narray outside_at[%zu]\narray outside_above[%zu]\n",
		n_last, n_last, n_last);
	for (size_t i = 0; i < v->series.n; i++) {
		double log = v->series.items[i].log;

		if (log >= f->low && log <= f->high)
			continue;
		plot_text(script, "outside", ++n_outside, "%s", trend_value_text(v, log, INFINITY));
		fprintf(script, "outside_at[%zu] = %zu\noutside_above[%zu] = %d\n", n_outside,
			i + 1, n_outside, log > f->high);
	}
	fprintf(script, "n_outside = %zu\n", n_outside);
}

/* A point for each run. Outliers outside the picture are at its edge, with their PT. */
static void write_runs(const struct trend_view *v, const struct trend_frame *f, FILE *script)
{
	enum place places[N_PLACES];
	size_t n_places = 0;

	fprintf(script, "array places[%d]\n", N_PLACES);
	fputs("$runs << EOD\n", script);
	for (enum place place = RUN; place < N_PLACES; place++)
		if (write_runs_at(v, f, place, script))
			places[n_places++] = place;
	fprintf(script, "EOD\nn_places = %zu\n", n_places);
	for (size_t i = 0; i < n_places; i++)
		fprintf(script, "places[%zu] = %d\n", i + 1, places[i] + 1);
	write_outside(v, f, script);
}

/* Each level with its interval, where it begins, and how far it is off the one before. */
static void write_levels(const struct trend_view *v, const struct trend_frame *f, FILE *script)
{
	size_t n = v->levels.n;

	fputs("$levels << EOD\n", script);
	for (size_t i = 0; i < n; i++) {
		const struct level *l = &v->levels.items[i];
		size_t points = v->levels.drifts ? l->n : 1; /* a drift is a curve */

		for (size_t k = 0; k <= points; k++) {
			double run = (double)l->first + (double)(k * l->n) / (double)points;
			struct level_change at = levels_at(&v->levels, k < points ? run : run - 1);

			at.by += v->levels.drift.by * (k < points ? -0.5 : 0.5);
			if (!isfinite(l->half))
				at.half = 0;
			fprintf(script, "%.1f %.9g %.9g %.9g\n", run + 0.5, exp(at.by),
				exp(at.by - at.half), exp(at.by + at.half));
		}
		fputs("\n\n", script);
	}
	fprintf(script,
		"EOD\nn_levels = %zu\nfirst_has_interval = %d\narray begins[%zu]\narray "
		"changes[%zu]\narray slower[%zu]\n",
		n, n > 0 && isfinite(v->levels.items[0].half), n + 1, n + 1, n + 1);
	for (size_t i = 1; i < n; i++) {
		const struct level_change change = v->levels.items[i].change;

		fprintf(script, "begins[%zu] = %.1f\nslower[%zu] = %d\n", i + 1,
			(double)v->levels.items[i].first + 0.5, i + 1, change.by > 0);
		plot_text(script, "changes", i + 1, "%s", trend_change_text(change));
	}
}

static void write_trend(const void *subject, FILE *script)
{
	const struct trend_view *v = subject;
	struct trend_frame f = trend_frame_of(v);
	size_t n = v->series.n, step = n / TICKS > 0 ? (n + TICKS - 1) / TICKS : 1;
	int digits = sizeof("2023-11-15 19:13") - 1;
	bool inc = v->series.unit == SERIES_INC;
	_cleanup_(freep) char *name = plot_short(v->series.name, PLOT_COLUMNS);
	struct axis pt;

	pt = (struct axis){.seconds = !inc, .low = exp(f.low), .high = exp(f.high), .room = 8};
	plot_axis(script, "pt", 0, &pt);
	plot_text(script, "name", 0, "%s", name);
	plot_text(script, "drift", 0, "%s", v->levels.drifts ? trend_drift_text(v, "in all") : "");
	fprintf(script, "inc = %d\nlast = %zu\n", inc, n);
	/* the moments at which some of the runs started, to the second if minutes would repeat */
	for (size_t i = step; i < n; i += step)
		if (!strncmp(text_moment(v->series.items[i].run.started_ns),
			    text_moment(v->series.items[i - step].run.started_ns), (size_t)digits))
			digits = TEXT_BRIEF_SIZE;
	fprintf(script, "step = %zu\narray moments[%zu]\n", step, n > 0 ? n : 1);
	for (size_t i = 0; i < n; i += step)
		plot_text(script, "moments", i + 1, "%.*s", digits,
			text_moment(v->series.items[i].run.started_ns));
	write_runs(v, &f, script);
	write_levels(v, &f, script);
}

/* The status of the verdict, with its sentence. */
static int trend_gate(const struct trend_view *v, struct error *err)
{
	enum comparison_verdict verdict = v->judgement.verdict;
	enum status status = comparison_verdict_status(&v->rules, verdict);
	char buffer[VERDICT_TEXT_SIZE];
	const char *text = trend_verdict_text(buffer, v) + strlen(VERDICT);

	if (status != STATUS_DONE)
		return error_say(err, (int)status, "'%s': %s", v->series.name, text);
	if (v->rules.fail_if_slower >= 0 && verdict == COMPARISON_CANNOT_TELL)
		fprintf(stderr, "warning: '%s': %s\n", terminal_text(v->series.name),
			terminal_text(text));
	return 0;
}

int trend_show(
	struct book *book, const char *name, const struct trend_options *options, struct error *err)
{
	const struct {
		const char *path;
		void (*write)(FILE *file, const struct trend_view *view);
	} files[] = {{options->csv, trend_write_csv}, {options->markdown, trend_write_markdown}};
	_cleanup_(trend_clear) struct trend_view view = {};
	int r = trend_load(book, name, options->seconds, &view, err);

	if (r == 0)
		r = trend_refer(&view, &options->since, &options->rules, err);
	if (r < 0)
		return r;
	if (options->output && view.series.n == 0)
		return error_say(err, -ENODATA,
			"no run of '%s' can be drawn; without -o, the reasons are shown",
			view.series.name);
	if (r == 0 && options->output)
		r = plot_drawing((struct drawing){"trend", write_trend, &view,
					 plot_height(58, N_PLACES + 2)},
			options->output, options->script, err);
	for (size_t i = 0; r == 0 && i < ELEMENTS(files); i++) {
		_cleanup_(output_file_clear) struct output_file output = {};

		if (!files[i].path)
			continue;
		r = charset_document_open(&output, files[i].path, err);
		if (r < 0)
			return r;
		files[i].write(output.file, &view);
		r = output_file_commit(&output, err);
	}
	if (r == 0 && options->json)
		r = json_print_document("emp-trend", trend_json(&view), err);
	else if (r == 0 && !options->csv && !options->markdown)
		trend_print(&view);
	return r < 0 ? r : trend_gate(&view, err);
}
