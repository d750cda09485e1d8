/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of a trend: a point for each run in the order of time, the levels with their intervals, and what changed.
 * plots/trend.gp draws it. */
#include "lib/trend/trend.h"

#include <math.h>

enum { TICKS = 6, MOST_SQUEEZED = 3 };

/* The kinds of points, as plots/trend.gp numbers them. */
enum place { RUN, OUTLIER, ABOVE, BELOW, N_PLACES };

/* What is in the picture, in logarithms, and what makes a PT of it: seconds, milliseconds… as they fit the first run, or units of
 * INC. */
struct trend_frame {
	double low, high, scale;
};

/* Outliers are in the picture unless they would squeeze the others. */
static struct trend_frame trend_frame_of(const struct trend_view *v)
{
	struct trend_frame near = {INFINITY, -INFINITY}, all, *f;
	double margin;

	for (size_t i = 0; i < v->series.n; i++) {
		near.low = fmin(near.low, v->levels.in_level[i]);
		near.high = fmax(near.high, v->levels.in_level[i]);
	}
	all = near;
	for (size_t i = 0; i < v->series.n; i++) {
		all.low = fmin(all.low, v->series.items[i].log);
		all.high = fmax(all.high, v->series.items[i].log);
	}
	f = all.high - all.low <= MOST_SQUEEZED * (near.high - near.low) ? &all : &near;
	margin = fmax(0.15 * (f->high - f->low), 0.002);
	return (struct trend_frame){f->low - margin, f->high + margin, 1};
}

/* The moments at which some of the runs started, to the second if minutes would repeat. */
static void write_moments(const struct trend_view *v, FILE *script)
{
	size_t n = v->series.n, step = n / TICKS > 0 ? (n + TICKS - 1) / TICKS : 1;
	int digits = sizeof("2023-11-15 19:13") - 1;

	for (size_t i = step; i < n; i += step)
		if (!strncmp(text_moment(v->series.items[i].run.started_ns),
			    text_moment(v->series.items[i - step].run.started_ns), (size_t)digits))
			digits = TEXT_BRIEF_SIZE;
	fprintf(script, "step = %zu\narray moments[%zu]\n", step, n > 0 ? n : 1);
	for (size_t i = 0; i < n; i += step)
		plot_text(script, "moments", i + 1, "%.*s", digits,
			text_moment(v->series.items[i].run.started_ns));
}

/* A point for each run. Outliers outside the picture are at its edge, with their PT. */
static void write_runs(const struct trend_view *v, const struct trend_frame *f, FILE *script)
{
	enum place places[N_PLACES];
	double edge = (f->high - f->low) / 50;
	size_t n_outside = 0, n_places = 0, n_last = v->series.n + 1;

	fprintf(script, "array places[%d]\n", N_PLACES);
	fputs("$runs << EOD\n", script);
	for (enum place place = RUN; place < N_PLACES; place++) {
		bool any = false;

		for (size_t i = 0; i < v->series.n; i++) {
			double log = v->series.items[i].log;
			enum place of = log > f->high            ? ABOVE
					: log < f->low           ? BELOW
					: trend_is_outlier(v, i) ? OUTLIER
								 : RUN;

			if (of != place)
				continue;
			any = true;
			fprintf(script, "%zu %.9g\n", i + 1,
				f->scale * exp(fmax(f->low + edge, fmin(f->high - edge, log))));
		}
		if (any)
			places[n_places++] = place;
		fputs(any ? "\n\n" : "", script);
	}
	fprintf(script, "EOD\nn_places = %zu\n", n_places);
	for (size_t i = 0; i < n_places; i++)
		fprintf(script, "places[%zu] = %d\n", i + 1, places[i] + 1);
	fprintf(script, "array outside[%zu]\narray outside_at[%zu]\narray outside_above[%zu]\n", n_last,
		n_last, n_last);
	for (size_t i = 0; i < v->series.n; i++) {
		double log = v->series.items[i].log;

		if (log >= f->low && log <= f->high)
			continue;
		plot_text(script, "outside", ++n_outside, "%s", trend_value_text(v, log, INFINITY));
		fprintf(script, "outside_at[%zu] = %zu\noutside_above[%zu] = %d\n", n_outside, i + 1,
			n_outside, log > f->high);
	}
	fprintf(script, "n_outside = %zu\n", n_outside);
}

/* Each level with its interval, where it begins, and how far it is off the one before. */
static void write_levels(const struct trend_view *v, const struct trend_frame *f, FILE *script)
{
	size_t n = v->levels.n;

	fputs("$levels << EOD\n", script);
	for (size_t i = 0; i < n; i++) {
		const struct level *l = &v->levels.items[i];
		double half = isfinite(l->half) ? l->half : 0;

		for (int end = 0; end < 2; end++)
			fprintf(script, "%.1f %.9g %.9g %.9g\n",
				(double)l->first + 0.5 + (end ? (double)l->n : 0), f->scale * exp(l->mean),
				f->scale * exp(l->mean - half), f->scale * exp(l->mean + half));
		fputs("\n\n", script);
	}
	fprintf(script,
		"EOD\nn_levels = %zu\nfirst_has_interval = %d\narray begins[%zu]\narray changes[%zu]\narray slower[%zu]\n",
		n, n > 0 && isfinite(v->levels.items[0].half), n + 1, n + 1, n + 1);
	for (size_t i = 1; i < n; i++) {
		struct level_change change = levels_change(&v->levels, i);

		fprintf(script, "begins[%zu] = %.1f\nslower[%zu] = %d\n", i + 1,
			(double)v->levels.items[i].first + 0.5, i + 1, change.by > 0);
		plot_text(script, "changes", i + 1, "%s", trend_change_text(change));
	}
}

static void write_trend(const void *subject, FILE *script)
{
	static const char *const units[] = {"s", "ms", "us"};
	const struct trend_view *v = subject;
	struct trend_frame f = trend_frame_of(v);
	bool inc = v->series.unit == SERIES_INC;
	size_t unit = 0;

	while (!inc && unit + 1 < ELEMENTS(units) && v->series.n > 0 &&
		exp(v->series.items[0].log) * f.scale < 1) {
		f.scale *= 1e3;
		unit++;
	}
	plot_text(script, "name", 0, "%s", v->series.name);
	fprintf(script, "unit = '%s'\nlast = %zu\nlow = %.9g\nhigh = %.9g\n", inc ? "INC" : units[unit],
		v->series.n, f.scale * exp(f.low), f.scale * exp(f.high));
	write_moments(v, script);
	write_runs(v, &f, script);
	write_levels(v, &f, script);
}

struct drawing trend_drawing(const struct trend_view *view)
{
	return (struct drawing){"trend", write_trend, view, 1240, 560};
}
