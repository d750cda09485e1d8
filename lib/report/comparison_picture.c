/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of a comparison: see comparison_picture.h. */
#include "lib/report/comparison_picture.h"

#include "lib/report/comparison_report.h"
#include "lib/report/plot.h"
#include "lib/report/screen.h"
#include "lib/stats/time_series.h"

#include <math.h>

enum {
	/* in mm */
	TITLE = 9,
	SAMPLES = 50,
	RATIOS_AROUND = 13,
	TALL_ROW = 7,
	ROW = 4,

	MOST_TALL_ROWS = 12,
	MOST_ROWS = 24,
	TITLE_NAME = 24,  /* columns of a name in the title */
	ROW_NAME = 22,    /* columns of a name in a row, with the number and the clock */
	CAUSES = 3,       /* that the key names */
	CAUSE_NAME = 18,  /* columns of one */
	SMALL_FROM = 250, /* more samples in all have smaller points */
};

/* An axis is logarithmic if its greatest value is more than this many times the least. */
static const double LOGARITHMIC_FROM = 10;
/* Samples are not drawn where they are if they are further off the middle half of the times than
 * this many times the width of that half. */
static const double FAR = 4;
/* Ratios beyond this have labels of which fewer have room. */
static const double WIDE_LABELS = 1e4;
/* The bar of an interval is cut off at this many times its ratio. */
static const double WIDEST = 8;

/* The kinds of points, as plots/comparison.gp numbers them. */
enum point { KEPT, DISCARDED, KEPT_ABOVE, DISCARDED_ABOVE, KEPT_BELOW, DISCARDED_BELOW, N_POINTS };

/* A program's times by one clock, as they are drawn. */
struct pictured_times {
	const struct comparison_side *side;
	double mean, low, high; /* in seconds; NAN: not known */
	uint32_t first, last;   /* numbers of samples */
};

struct panel {
	enum comparison_clock clock;
	struct pictured_times *times; /* of each program */
	struct axis axis;
	double height;         /* in mm, with its key */
	bool means, intervals; /* whether there are any */
};

/* A row of the lower panel. */
struct ratio_row {
	const struct pictured_program *program;
	const struct comparison *comparison; /* NULL: of the reference itself */
};

struct drawn_comparison {
	const struct comparison_picture *picture;
	size_t n; /* programs that are drawn */
	struct panel panels[N_COMPARISON_CLOCKS];
	size_t n_panels;
	struct ratio_row *rows;
	size_t n_rows;
	bool bounded;    /* some ratio has an interval */
	bool without;    /* some has none */
	int row_height;  /* in mm */
	bool two_clocks; /* rows name theirs */
	double height;   /* in mm, with the keys of the panels */
};

static void find_numbers(struct pictured_times *t, const struct comparison_time *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		t->first = items[i].n < t->first ? items[i].n : t->first;
		t->last = items[i].n > t->last ? items[i].n : t->last;
	}
}

static struct pictured_times pictured_times_of(
	const struct pictured_program *p, enum comparison_clock clock)
{
	const struct comparison_side *side = &p->sides[clock];
	const struct clock_discarding *known = p->means[clock];
	_cleanup_(freep) int64_t *values = xcalloc(side->n + 1, sizeof(*values));
	struct pictured_times t = {.side = side, .first = UINT32_MAX};
	struct interval interval;

	for (size_t i = 0; i < side->n; i++)
		values[i] = side->items[i].time_ns;
	interval = known ? known->interval : interval_of_mean(values, side->n, NULL, side->step_ns);
	t.mean = summary_mean(known ? &known->kept : &(struct summary){}) / 1e9;
	if (!known) {
		const struct summary summary = summary_of(values, side->n);

		t.mean = summary_mean(&summary) / 1e9;
	}
	t.low = isnan(t.mean) ? NAN : interval.low_ns / 1e9;
	t.high = isnan(t.mean) ? NAN : interval.high_ns / 1e9;
	find_numbers(&t, side->items, side->n);
	find_numbers(&t, side->discarded, side->n_discarded);
	return t;
}

/* Widens what is shown to these samples, but not to those that are far off the others. */
static void show_times(struct axis *shown, const struct comparison_time *items, size_t n)
{
	_cleanup_(freep) int64_t *values = xcalloc(n + 1, sizeof(*values));
	double low, high, far;

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		values[i] = items[i].time_ns;
	sort_ascending(values, n);
	low = quantile_of(values, n, 0.25);
	high = quantile_of(values, n, 0.75);
	far = high > low ? FAR * (high - low) : INFINITY;
	shown->low = fmin(shown->low, fmax(low - far, (double)values[0]) / 1e9);
	shown->high = fmax(shown->high, fmin(high + far, (double)values[n - 1]) / 1e9);
}

/* What an axis shows: samples, means and their intervals. The samples that are discarded only where
 * none is kept. */
static struct axis panel_axis_of(const struct panel *panel, size_t n)
{
	struct axis axis = {.seconds = true, .low = INFINITY, .high = -INFINITY, .room = 8};

	for (size_t i = 0; i < n; i++) {
		const struct pictured_times *t = &panel->times[i];

		if (t->side->n > 0)
			show_times(&axis, t->side->items, t->side->n);
		else
			show_times(&axis, t->side->discarded, t->side->n_discarded);
		axis.low = fmin(axis.low, fmin(t->mean, t->low)); /* fmin and fmax ignore NAN */
		axis.high = fmax(axis.high, fmax(t->mean, t->high));
	}
	if (axis.low > axis.high)
		axis.low = axis.high = 0;
	if (axis.high - axis.low < 1e-9) { /* equal values */
		axis.low = fmax(axis.low - fmax(axis.high * 0.01, 1e-9), 0);
		axis.high += fmax(axis.high * 0.01, 1e-9);
	}
	if (axis.low > 0 && axis.high > LOGARITHMIC_FROM * axis.low)
		axis.scale = AXIS_LOGARITHMIC;
	return axis_with_margin(axis, 0.06);
}

/* x and y of the samples of a kind, each program in a strip of its own of width 1; of an only
 * program, x is the number of the sample. Returns how many there are. script NULL: only counts. */
static size_t write_samples(const struct panel *panel, size_t n, enum point point, FILE *script)
{
	const struct axis *axis = &panel->axis;
	const bool discarded = point == DISCARDED || point == DISCARDED_ABOVE ||
			       point == DISCARDED_BELOW;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		const struct pictured_times *t = &panel->times[i];
		const struct comparison_time *items = discarded ? t->side->discarded
								: t->side->items;
		size_t n_items = discarded ? t->side->n_discarded : t->side->n;

		for (size_t k = 0; k < n_items; k++) {
			double at = (double)items[k].time_ns / 1e9, x = (double)items[k].n;
			enum point of = discarded ? DISCARDED : KEPT;

			if (at > axis->high)
				of = discarded ? DISCARDED_ABOVE : KEPT_ABOVE;
			else if (at < axis->low)
				of = discarded ? DISCARDED_BELOW : KEPT_BELOW;
			if (of != point)
				continue;
			if (n > 1)
				x = (double)i + 0.06 +
				    0.88 * (x - t->first + 0.5) /
					    ((double)(t->last - t->first) + 1);
			if (script)
				fprintf(script, "%.6g %.9g\n", x,
					fmin(fmax(at, axis->low), axis->high));
			count++;
		}
	}
	return count;
}

/* The points of all panels: of each kind that there is one index of $samples, after those of the
 * panels before. */
static void write_points_of(const struct drawn_comparison *d, FILE *script)
{
	size_t counts[N_COMPARISON_CLOCKS][N_POINTS], n = 0;

	fputs("$samples << EOD\n", script);
	for (size_t k = 0; k < d->n_panels; k++)
		for (enum point point = 0; point < N_POINTS; point++) {
			counts[k][point] = write_samples(&d->panels[k], d->n, point, script);
			fputs(counts[k][point] > 0 ? "\n\n" : "", script);
		}
	fputs("EOD\n", script);
	for (size_t k = 0; k < d->n_panels; k++) {
		fprintf(script, "first_kinds[%zu] = %zu\n", k + 1, n + 1);
		for (enum point point = 0; point < N_POINTS; point++)
			if (counts[k][point] > 0) {
				n++;
				fprintf(script, "kinds[%zu] = %d\ncounts[%zu] = %zu\n", n,
					point + 1, n, counts[k][point]);
			}
		fprintf(script, "last_kinds[%zu] = %zu\n", k + 1, n);
	}
}

/* Adds a cause to those that the key names, once. */
static void add_cause(const char **causes, size_t *n, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(causes[i], name))
			return;
	if (*n <= CAUSES)
		causes[(*n)++] = name;
}

/* ": backupd, neighbour, …" for the key of what was discarded; "" if the causes are not known. */
static void write_causes(const struct drawn_comparison *d, FILE *script)
{
	const char *causes[CAUSES + 1];
	_cleanup_(freep) char *text = NULL;
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct discarding *one = d->picture->programs[i].discarding;

		for (size_t k = 0; one && k < one->n_over; k++)
			add_cause(causes, &n, one->over[k].daemon);
		for (size_t k = 0; one && k < one->n_unprofiled; k++)
			add_cause(causes, &n, one->unprofiled[k].daemon);
		if (one && one->n_by_neighbour > 0)
			add_cause(causes, &n, NEIGHBOUR_REASON);
	}
	for (size_t i = 0; i < n; i++) {
		_cleanup_(freep) char *name = plot_short(causes[i], CAUSE_NAME);

		text_append(&text, ", ", "%s", i < CAUSES ? name : "…");
	}
	plot_text(script, "causes", 0, "%s%s", text ? ": " : "", text ?: "");
}

static void write_panels(const struct drawn_comparison *d, FILE *script)
{
	const bool one = d->n == 1;

	for (size_t k = 1; k <= d->n_panels; k++) {
		const struct panel *panel = &d->panels[k - 1];

		const char *means = panel->means ? "mean" : "";

		if (panel->intervals)
			means = "mean, 95 % interval";
		plot_axis(script, "time", k, &panel->axis);
		fprintf(script, "panel_mm[%zu] = %.1f\n", k, panel->height);
		fprintf(script, "clocks[%zu] = '%s'\n", k,
			panel->clock == COMPARISON_PT ? "PT" : "ET");
		fprintf(script, "logarithmic[%zu] = %d\n", k,
			panel->axis.scale == AXIS_LOGARITHMIC);
		fprintf(script, "mean_titles[%zu] = '%s'\n", k, means);
	}
	write_points_of(d, script);
	fputs("$means << EOD\n", script);
	for (size_t k = 0; k < d->n_panels; k++) {
		for (size_t i = 0; i < d->n; i++) {
			const struct pictured_times *t = &d->panels[k].times[i];

			fprintf(script, "%g %g %.9g %.9g %.9g\n",
				one ? t->first - 0.5 : (double)i + 0.04,
				one ? t->last + 0.5 : (double)i + 0.96, t->mean,
				isnan(t->low) ? t->mean : t->low,
				isnan(t->low) ? t->mean : t->high);
		}
		fputs("\n\n", script);
	}
	fputs("EOD\n", script);
}

static void write_row_texts(const struct drawn_comparison *d, size_t i, FILE *script)
{
	const struct ratio_row *row = &d->rows[i];
	const struct comparison *c = row->comparison;
	const char *number = "", *clock = "", *ratio = c ? comparison_ratio_text(c) : NULL;
	_cleanup_(freep) char *name = NULL;

	if (c && d->two_clocks)
		clock = c->clock == COMPARISON_ET ? " ET" : " PT";
	if (!d->picture->title)
		number = text_brief("%zu ", (size_t)(row->program - d->picture->programs) + 1);
	name = plot_short(row->program->name, ROW_NAME - strlen(number) - strlen(clock));
	plot_tick_text(script, "rows", i + 1, text_brief("%s%s%s", number, name, clock));
	plot_text(script, "ratios", i + 1, "%s", ratio ?: "");
	plot_text(script, "verdicts", i + 1, "%s", c ? comparison_verdict_text(c) : "reference");
}

/* The kinds of bars, as plots/comparison.gp numbers them. */
enum bar { BAR_REFERENCE, BAR_NONE, BAR_INTERVAL };

/* A line of $intervals: the row, its ratio, its interval, the kind of its bar, and whether the bar
 * is cut off at either end. Widens the axis to what the line shows. A comparison without a ratio
 * has no line. */
static void write_interval(const struct comparison *c, size_t row, struct axis *axis, FILE *script)
{
	double ratio = c ? c->ratio : 1, low = c ? c->ratio_low : 1, high = c ? c->ratio_high : 1;
	enum bar bar = c ? BAR_INTERVAL : BAR_REFERENCE;
	bool cut_low, cut_high;

	if (isnan(ratio))
		return;
	if (isnan(low)) {
		bar = BAR_NONE;
		low = high = ratio;
	}
	cut_low = low < ratio / WIDEST;
	cut_high = high > ratio * WIDEST;
	low = cut_low ? ratio / WIDEST : low;
	high = cut_high ? ratio * WIDEST : high;
	axis->low = fmin(axis->low, fmin(ratio, low));
	axis->high = fmax(axis->high, fmax(ratio, high));
	fprintf(script, "%zu %.9g %.9g %.9g %d %d %d\n", row, ratio, low, high, (int)bar, cut_low,
		cut_high);
}

/* What the axis of ratios shows: all of them, and the band about 1 in which times are equal, where
 * that and the intervals can both be seen. Otherwise *margin becomes 0. */
static struct axis ratio_axis_of(struct axis axis, double *margin)
{
	double width;

	if (axis.high - axis.low < 1e-6) {
		axis.low -= *margin > 0 ? *margin : 0.01;
		axis.high += *margin > 0 ? *margin : 0.01;
	}
	width = axis.high - axis.low;
	if (2 * *margin > 3 * width || 2 * *margin < 0.01 * width)
		*margin = 0;
	axis.low = fmin(axis.low, 1 - *margin);
	axis.high = fmax(axis.high, 1 + *margin);

	if (axis.low > 0 && axis.high > LOGARITHMIC_FROM * axis.low)
		axis.scale = AXIS_LOGARITHMIC;
	if (axis.high > WIDE_LABELS)
		axis.room = 3;
	return axis_with_margin(axis, 0.06);
}

/* The rows of ratios: the reference at 1, then the others with their intervals. */
static void write_ratios(const struct drawn_comparison *d, FILE *script)
{
	struct axis axis = {.low = 1, .high = 1, .room = 5};
	double margin = 0;

	fprintf(script, "$intervals << EOD\n");
	for (size_t i = 0; i < d->n_rows; i++) {
		const struct comparison *c = d->rows[i].comparison;

		if (c)
			margin = comparison_rules_margin(&c->rules);
		write_interval(c, i + 1, &axis, script);
	}
	axis = ratio_axis_of(axis, &margin);
	fprintf(script, "EOD\nmargin = %g\nbounded = %d\nwithout = %d\nratio_logarithmic = %d\n",
		margin, d->bounded, d->without, axis.scale == AXIS_LOGARITHMIC);
	plot_axis(script, "ratio", 0, &axis);
	for (size_t i = 0; i < d->n_rows; i++)
		write_row_texts(d, i, script);
}

/* "b against a", "6 programs against a", or the name of one. */
static void write_heading(const struct comparison_picture *p, FILE *script)
{
	_cleanup_(freep) char *first = plot_short(
		p->programs[0].name, p->n == 1 ? PLOT_COLUMNS : TITLE_NAME);
	_cleanup_(freep) char *second = plot_short(p->programs[p->n > 1].name, TITLE_NAME);

	if (p->title)
		plot_text(script, "heading", 0, "%s", p->title);
	else if (p->n == 1)
		plot_text(script, "heading", 0, "%s", first);
	else if (p->n == 2)
		plot_text(script, "heading", 0, "%s against %s", second, first);
	else
		plot_text(script, "heading", 0, "%zu programs against %s", p->n - 1, first);
}

/* The heading, and a line with the verdict. */
static void write_title(const struct drawn_comparison *d, FILE *script)
{
	const struct comparison_picture *p = d->picture;
	const struct comparison *worst = NULL;
	const char *verdict = "", *left_out = "";

	for (size_t i = 0; i < d->n_rows; i++)
		worst = comparison_worse(worst, d->rows[i].comparison);
	if (worst)
		verdict = text_brief("%s: %s", p->n > 2 ? "Verdict of all" : "Verdict",
			comparison_verdict_text(worst));
	if (d->n < p->n)
		left_out = text_brief("; the first %zu are drawn", d->n);
	write_heading(p, script);
	plot_text(script, "second_line", 0, "%s%s", verdict, left_out);
}

static void write_comparison(const void *subject, FILE *script)
{
	const struct drawn_comparison *d = subject;
	const struct pictured_times *first = d->n_panels > 0 ? &d->panels[0].times[0] : NULL;
	size_t total = 0;

	for (size_t i = 0; i < d->n_panels * d->n; i++) {
		const struct comparison_side *side = d->panels[i / d->n].times[i % d->n].side;

		total += side->n + side->n_discarded;
	}
	write_title(d, script);
	fprintf(script,
		"n = %zu\nn_panels = %zu\nn_rows = %zu\nmany = %d\nheight = %.1f\ntitle_mm = %d\n"
		"row_mm = %d\n"
		"first = %" PRIu32 "\nlast = %" PRIu32 "\narray panel_mm[2]\narray clocks[2]\n"
		"array logarithmic[2]\narray mean_titles[2]\narray first_kinds[2]\narray "
		"last_kinds[2]\narray kinds[%d]\n"
		"array counts[%d]\narray rows[n_rows + 1]\narray ratios[n_rows + 1]\n"
		"array verdicts[n_rows + 1]\n",
		d->n, d->n_panels, d->n_rows, total > SMALL_FROM, d->height, TITLE, d->row_height,
		first ? first->first : 0, first ? first->last : 0, 2 * N_POINTS, 2 * N_POINTS);
	write_causes(d, script);
	plot_axes(script, "time", N_COMPARISON_CLOCKS);
	write_panels(d, script);
	if (d->n_rows > 0)
		write_ratios(d, script);
}

/* The panel of a clock, with its height, which the lines of its key are added to. */
static struct panel panel_of(
	const struct pictured_program *programs, size_t n, enum comparison_clock clock)
{
	struct panel panel = {.clock = clock, .times = xcalloc(n, sizeof(*panel.times))};
	size_t lines;

	for (size_t i = 0; i < n; i++) {
		panel.times[i] = pictured_times_of(&programs[i], clock);
		panel.means |= !isnan(panel.times[i].mean);
		panel.intervals |= !isnan(panel.times[i].low);
	}
	lines = panel.means;
	panel.axis = panel_axis_of(&panel, n);
	for (enum point point = 0; point < N_POINTS; point++)
		lines += write_samples(&panel, n, point, NULL) > 0;
	panel.height = plot_height(SAMPLES, lines);
	return panel;
}

/* Adds a row for each comparison of a program. Returns how many there are. */
static size_t add_program_ratios(struct drawn_comparison *d, const struct pictured_program *program)
{
	size_t n = 0;

	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
		const struct comparison *c = program->comparisons[clock];

		if (!c)
			continue;
		d->rows[d->n_rows++] = (struct ratio_row){program, c};
		d->bounded |= !isnan(c->ratio) && !isnan(c->ratio_low);
		d->without |= !isnan(c->ratio) && isnan(c->ratio_low);
		n++;
	}
	return n;
}

/* The rows of ratios, if anything is compared. */
static void add_all_ratios(struct drawn_comparison *d)
{
	const struct comparison_picture *p = d->picture;
	size_t n_compared = 0;

	if (p->n > 1 && !p->title)
		d->rows[d->n_rows++] = (struct ratio_row){&p->programs[0], NULL};
	for (size_t i = 0; i < d->n; i++)
		n_compared += add_program_ratios(d, &p->programs[i]);
	if (n_compared == 0)
		d->n_rows = 0;
	d->row_height = d->n_rows <= MOST_TALL_ROWS ? TALL_ROW : ROW;
	if (d->n_rows > 0)
		d->height += plot_height(
			RATIOS_AROUND + d->row_height * (int)d->n_rows, 2 + d->without);
}

int comparison_picture_draw(
	const struct comparison_picture *p, const char *path, bool script, struct error *err)
{
	_cleanup_(freep) struct ratio_row *rows = xcalloc(
		N_COMPARISON_CLOCKS * p->n + 1, sizeof(*rows));
	struct drawn_comparison d = {.picture = p, .rows = rows, .height = TITLE};
	size_t most;
	int r;

	d.two_clocks = p->clocks == COMPARE_BOTH;
	most = d.two_clocks ? MOST_ROWS / 2 : MOST_ROWS;
	d.n = p->n < most ? p->n : most;
	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
		if (!(p->clocks >> clock & 1) || p->title)
			continue;
		d.panels[d.n_panels] = panel_of(p->programs, d.n, clock);
		d.height += d.panels[d.n_panels++].height;
	}
	add_all_ratios(&d);

	r = plot_drawing(
		(struct drawing){"comparison", write_comparison, &d, d.height}, path, script, err);
	for (size_t i = 0; i < d.n_panels; i++)
		free(d.panels[i].times);
	return r;
}
