/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of a trend: a point for each run in the order of time, the levels with their intervals, and what changed. */
#include "analyze/trend/trend.h"

#include "lib/base/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

enum { TICKS = 6 };

/* Seconds, milliseconds and so on as they fit the first level; of INC: its units. */
struct scale {
	double by;
	const char *label;
};

static struct scale scale_of(const struct trend_view *v)
{
	static const struct scale scales[] = {{1, "PT (s)"}, {1e3, "PT (ms)"}, {1e6, "PT (us)"}};
	size_t i = 0;

	if (v->series.unit == SERIES_INC)
		return (struct scale){1, "PT (INC units: millions of increments)"};
	while (i + 1 < ELEMENTS(scales) && v->series.n > 0 && exp(v->series.items[0].log) * scales[i].by < 1)
		i++;
	return scales[i];
}

/* Outliers would squeeze the others into a line: they are drawn at the edge. */
static void set_range(const struct trend_view *v, const struct scale *scale, struct plot *plot)
{
	double low = INFINITY, high = -INFINITY, margin;

	for (size_t i = 0; i < v->series.n; i++) {
		low = fmin(low, v->levels.clipped[i]);
		high = fmax(high, v->levels.clipped[i]);
	}
	margin = fmax(0.15 * (high - low), 0.002);
	fprintf(plot->script, "set yrange [%.9g:%.9g]\n", scale->by * exp(low - margin),
		scale->by * exp(high + margin));
}

static bool is_outlier(const struct trend_view *v, size_t i)
{
	return fabs(v->series.items[i].log - v->levels.clipped[i]) > 1e-9;
}

static void print_runs(
	const struct trend_view *v, const struct scale *scale, bool outliers, struct plot *plot)
{
	fprintf(plot->script, "$%s << EOD\n", outliers ? "outliers" : "runs");
	for (size_t i = 0; i < v->series.n; i++)
		if (is_outlier(v, i) == outliers)
			fprintf(plot->script, "%zu %.9g\n", i + 1, scale->by * exp(v->levels.clipped[i]));
	fputs("EOD\n", plot->script);
}

static bool has_outliers(const struct trend_view *v)
{
	for (size_t i = 0; i < v->series.n; i++)
		if (is_outlier(v, i))
			return true;
	return false;
}

static void print_levels(const struct trend_view *v, const struct scale *scale, struct plot *plot)
{
	for (size_t i = 0; i < v->levels.n; i++) {
		const struct level *l = &v->levels.items[i];
		double half = isfinite(l->half) ? l->half : 0;

		fprintf(plot->script, "$level%zu << EOD\n", i);
		for (int end = 0; end < 2; end++)
			fprintf(plot->script, "%.1f %.9g %.9g %.9g\n",
				(double)l->first + 0.5 + (end ? (double)l->n : 0), scale->by * exp(l->mean),
				scale->by * exp(l->mean - half), scale->by * exp(l->mean + half));
		fputs("EOD\n", plot->script);
	}
}

/* A dashed line where a level begins, and by how much it is off the one before. */
static void print_changes(const struct trend_view *v, struct plot *plot)
{
	for (size_t i = 1; i < v->levels.n; i++) {
		double at = (double)v->levels.items[i].first + 0.5;
		struct level_change change = levels_change(&v->levels, i);
		char text[TEXT_PAIR_SIZE];

		fprintf(plot->script,
			"set arrow from %.1f, graph 0 to %.1f, graph 1 nohead dt 2 lc rgb '#a0a0a0' back\n",
			at, at);
		fprintf(plot->script, "set label ");
		plot_quote(plot, trend_change_text(text, change));
		fprintf(plot->script, " at %.1f, graph %g offset 0.5, 0 tc rgb '%s' front\n", at,
			i % 2 ? 0.96 : 0.91, change.by > 0 ? "#c00000" : "#007000");
	}
}

static void print_ticks(const struct trend_view *v, struct plot *plot)
{
	size_t n = v->series.n, step = n / TICKS > 0 ? (n + TICKS - 1) / TICKS : 1;

	fputs("set xtics (", plot->script);
	for (size_t i = 0; i < n; i += step) {
		const struct run *run = &v->series.items[i].run;
		char text[TEXT_TIME_SIZE + 32], moment[TEXT_TIME_SIZE];

		text_moment(moment, run->started_ns);
		snprintf(text, sizeof(text), "%.16s", moment);
		fprintf(plot->script, "%s", i ? ", " : "");
		plot_quote(plot, text);
		fprintf(plot->script, " %zu", i + 1);
	}
	fputs(")\n", plot->script);
}

static void print_title(const struct trend_view *v, const struct scale *scale, struct plot *plot)
{
	fputs("set title ", plot->script);
	plot_quote(plot, v->series.name);
	fprintf(plot->script,
		"\nset ylabel '%s'\nset xlabel 'runs in the order of time'\nset xrange [0.5:%zu.5]\n",
		scale->label, v->series.n > 0 ? v->series.n : 1);
	fputs("set bmargin 6\nset key at screen 0.5, 0.04 center horizontal\n", plot->script);
}

void trend_draw(const struct trend_view *v, struct plot *plot)
{
	struct scale scale = scale_of(v);

	print_title(v, &scale, plot);
	set_range(v, &scale, plot);
	print_ticks(v, plot);
	print_runs(v, &scale, false, plot);
	print_runs(v, &scale, true, plot);
	print_levels(v, &scale, plot);
	print_changes(v, plot);
	fputs("plot ", plot->script);
	for (size_t i = 0; i < v->levels.n; i++)
		fprintf(plot->script,
			"$level%zu using 1:3:4 with filledcurves fc rgb '#1f77b4' fs transparent solid 0.2 noborder %s, "
			"$level%zu using 1:2 with lines lw 2 lc rgb '#1f77b4' %s, ",
			i, i ? "notitle" : "title '95 % interval'", i, i ? "notitle" : "title 'level'");
	fputs("$runs with points pt 7 ps 0.8 lc rgb '#404040' title 'runs'", plot->script);
	if (has_outliers(v))
		fputs(", $outliers with points pt 8 ps 1.2 lc rgb '#d08000' title 'outliers, not to scale'",
			plot->script);
	fputc('\n', plot->script);
}
