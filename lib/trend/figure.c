/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of a trend: a point for each run in the order of time, the levels with their intervals, and what changed. */
#include "lib/trend/trend.h"

#include <math.h>
#include <string.h>

enum { TICKS = 6, MOST_SQUEEZED = 3 };

/* Seconds, milliseconds and so on as they fit the first level; of INC: its units. */
struct scale {
	double by;
	const char *label;
};

static const struct scale scales[] = {{1, "PT (s)"}, {1e3, "PT (ms)"}, {1e6, "PT (us)"}};
static const struct scale inc_scale = {1, "PT (INC units: millions of increments)"};

/* What of the logarithms is in the picture. */
struct range {
	double low, high;
};

/* How a run is drawn. */
enum place { RUN, OUTLIER, ABOVE, BELOW, N_PLACES };

static const struct {
	const char *name, *style;
} places[] = {
	[RUN] = {"runs", "pt 7 ps 0.8 lc rgb '#404040' title 'runs'"},
	[OUTLIER] = {"outliers", "pt 6 ps 1.2 lc rgb '#d08000' title 'outliers'"},
	[ABOVE] = {"above", "pt 9 ps 1.6 lc rgb '#d08000' title 'outliers above the picture'"},
	[BELOW] = {"below", "pt 11 ps 1.6 lc rgb '#d08000' title 'outliers below the picture'"},
};

static enum place place_of(const struct trend_view *v, const struct range *range, size_t i)
{
	double log = v->series.items[i].log;

	if (log > range->high)
		return ABOVE;
	if (log < range->low)
		return BELOW;
	return trend_is_outlier(v, i) ? OUTLIER : RUN;
}

/* An outlier outside the picture is drawn at the edge, labelled with its PT. */
static size_t draw_runs(const struct trend_view *v, const struct scale *scale, const struct range *range,
	enum place place, struct plot *plot)
{
	double edge = (range->high - range->low) / 50;
	size_t n = 0;

	fprintf(plot->script, "$%s << EOD\n", places[place].name);
	for (size_t i = 0; i < v->series.n; i++) {
		double log = v->series.items[i].log;

		if (place_of(v, range, i) != place)
			continue;
		fprintf(plot->script, "%zu %.9g\n", i + 1,
			scale->by * exp(fmax(range->low + edge, fmin(range->high - edge, log))));
		n++;
	}
	fputs("EOD\n", plot->script);
	for (size_t i = 0; place >= ABOVE && i < v->series.n; i++) {
		if (place_of(v, range, i) != place)
			continue;
		fprintf(plot->script, "set label ");
		plot_quote(plot, trend_value_text(v, v->series.items[i].log, INFINITY));
		fprintf(plot->script, " at %zu, graph %g %s, 0 tc rgb '#d08000' front\n", i + 1,
			place == ABOVE ? 0.98 : 0.02,
			4 * i < v->series.n ? "left offset 1" : "right offset -1");
	}
	return n;
}

/* The levels; a dashed line where one begins, and by how much it is off the one before. */
static void draw_levels(const struct trend_view *v, const struct scale *scale, struct plot *plot)
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
	for (size_t i = 1; i < v->levels.n; i++) {
		double at = (double)v->levels.items[i].first + 0.5;
		struct level_change change = levels_change(&v->levels, i);

		fprintf(plot->script,
			"set arrow from %.1f, graph 0 to %.1f, graph 1 nohead dt 2 lc rgb '#a0a0a0' back\n",
			at, at);
		fprintf(plot->script, "set label ");
		plot_quote(plot, trend_change_text(change));
		fprintf(plot->script, " at %.1f, graph %g offset 0.5, 0 tc rgb '%s' front\n", at,
			i % 2 ? 0.92 : 0.87, change.by > 0 ? "#c00000" : "#007000");
	}
}

static void draw_trend(const void *subject, struct plot *plot)
{
	const struct trend_view *v = subject;
	const struct scale *scale = v->series.unit == SERIES_INC ? &inc_scale : scales;
	size_t n[N_PLACES], n_runs = v->series.n,
			    step = n_runs / TICKS > 0 ? (n_runs + TICKS - 1) / TICKS : 1;
	int digits = sizeof("2023-11-15 19:13") - 1;
	struct range range, near = {INFINITY, -INFINITY}, all, *r;
	double margin;

	/* what is in the picture: outliers unless they would squeeze the others */
	for (size_t i = 0; i < n_runs; i++) {
		near.low = fmin(near.low, v->levels.in_level[i]);
		near.high = fmax(near.high, v->levels.in_level[i]);
	}
	all = near;
	for (size_t i = 0; i < n_runs; i++) {
		all.low = fmin(all.low, v->series.items[i].log);
		all.high = fmax(all.high, v->series.items[i].log);
	}
	r = all.high - all.low <= MOST_SQUEEZED * (near.high - near.low) ? &all : &near;
	margin = fmax(0.15 * (r->high - r->low), 0.002);
	range = (struct range){r->low - margin, r->high + margin};

	while (v->series.unit != SERIES_INC && scale + 1 < scales + ELEMENTS(scales) && v->series.n > 0 &&
		exp(v->series.items[0].log) * scale->by < 1)
		scale++;
	fputs("set title ", plot->script);
	plot_quote(plot, v->series.name);
	fprintf(plot->script,
		"\nset ylabel '%s'\nset xlabel 'runs in the order of time'\nset xrange [0.5:%zu.5]\n",
		scale->label, v->series.n > 0 ? v->series.n : 1);
	fputs("set key outside right top reverse Left\nset lmargin 12\n", plot->script);
	fprintf(plot->script, "set yrange [%.9g:%.9g]\n", scale->by * exp(range.low),
		scale->by * exp(range.high));

	/* the moments at which some of the runs started, to the second if minutes would repeat */
	for (size_t i = step; i < n_runs; i += step) {
		const char *moment = text_moment(v->series.items[i].run.started_ns);

		if (!strncmp(moment, text_moment(v->series.items[i - step].run.started_ns), (size_t)digits))
			digits = TEXT_BRIEF_SIZE;
	}
	fputs("set xtics (", plot->script);
	for (size_t i = 0; i < n_runs; i += step) {
		fputs(i ? ", " : "", plot->script);
		plot_quote_format(plot, "%.*s", digits, text_moment(v->series.items[i].run.started_ns));
		fprintf(plot->script, " %zu", i + 1);
	}
	fputs(")\n", plot->script);
	for (enum place place = RUN; place < N_PLACES; place++)
		n[place] = draw_runs(v, scale, &range, place, plot);
	draw_levels(v, scale, plot);
	fputs("plot ", plot->script);
	for (size_t i = 0; i < v->levels.n; i++)
		fprintf(plot->script,
			"$level%zu using 1:3:4 with filledcurves fc rgb '#1f77b4' fs transparent solid 0.2 noborder %s, "
			"$level%zu using 1:2 with lines lw 2 lc rgb '#1f77b4' %s, ",
			i, i || !isfinite(v->levels.items[i].half) ? "notitle" : "title '95 % interval'", i,
			i ? "notitle" : "title 'level'");
	for (enum place place = RUN; place < N_PLACES; place++)
		if (n[place] > 0)
			fprintf(plot->script, "%s$%s with points %s", place == RUN ? "" : ", ",
				places[place].name, places[place].style);
	fputc('\n', plot->script);
}

struct drawing trend_drawing(const struct trend_view *view)
{
	return (struct drawing){draw_trend, view, 1240, 560};
}
