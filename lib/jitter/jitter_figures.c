/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data of the pictures: see jitter_figures.h. */
#include "lib/jitter/jitter_figures.h"

#include "lib/base/terminal.h"
#include "lib/jitter/density.h"
#include "lib/report/plot.h"

#include <math.h>

/* Parzen densities (De et al., Figures 1, 4, 6 and 8): that of the gaps beside that of what the
 * trace saw, or that of a run beside its baseline. Both axes are logarithmic, and the Gaussians are
 * on the logarithm of the length. The height is the number of interruptions a second and decade of
 * length, so that two curves compare. */
enum { STEPS = 900, MOST_PEAKS = 6, PEAK_NAME = 24 };

struct curve {
	struct density_point *points; /* of log10 of the length in seconds */
	size_t n;
	double bandwidth, seconds; /* sampled */
	double y[STEPS + 1];
};

struct densities {
	const struct jitter_run *run, *baseline;
	struct curve curves[2];
	double low, high;   /* of log10 of the length */
	double least, most; /* of the heights */
};

static double densities_at(const struct densities *p, int step)
{
	return p->low + (p->high - p->low) * step / STEPS;
}

/* points: room for the buckets of both runs. */
static void densities_prepare(struct densities *p, struct density_point *points)
{
	p->low = INFINITY;
	p->high = -INFINITY;
	for (struct curve *c = p->curves; c < p->curves + 2; c++) {
		const struct jitter_run *run = c > p->curves && p->baseline ? p->baseline : p->run;
		enum jitter_level level = c > p->curves || p->baseline ? JITTER_MASTER
								       : JITTER_USER;

		c->points = points;
		c->seconds = (double)run->all.sampled_ns / 1e9;
		for (size_t i = 0; i < run->jitter.n_buckets; i++) {
			const struct jitter_bucket *b = &run->jitter.buckets[i];
			double mean_ns = (double)b->total_ns / (double)b->count,
			       at = log10(mean_ns / 1e9);

			if (b->level != level || mean_ns <= 0)
				continue;
			c->points[c->n++] = (struct density_point){at, (double)b->count,
				log10((double)b->high_ns / fmax((double)b->low_ns, 1))};
			p->low = fmin(p->low, at);
			p->high = fmax(p->high, at);
		}
		points += c->n;
		/* one for both, so that a difference of the curves is not one of bandwidths */
		c->bandwidth = c > p->curves ? p->curves[0].bandwidth : density_bandwidth(c->points, c->n) ?: 0.02;
	}
	/* the lengths of both, with a margin */
	if (p->low > p->high)
		p->low = p->high = -6;
	p->low -= 0.35;
	p->high += 0.35;
	/* The axis ends at a tenth of what a single interruption makes. */
	p->most = 0;
	p->least = INFINITY;
	for (struct curve *k = p->curves; k < p->curves + 2; k++) {
		double single = 1 / sqrt(2 * M_PI) / k->bandwidth / k->seconds;

		if (k->n > 0 && k->seconds > 0)
			p->least = fmin(p->least, single / 10);
		for (int i = 0; i <= STEPS; i++) {
			k->y[i] = k->n > 0 && k->seconds > 0
					  ? density_at(k->points, k->n, k->bandwidth,
						    densities_at(p, i)) /
						    k->seconds
					  : 0;
			p->most = fmax(p->most, k->y[i]);
		}
	}
	if (p->most <= 0)
		p->most = 1;
	p->least = fmin(p->least, p->most / 10);
}

/* The source that has most of the interruptions of about that length, as the trace saw them. */
static const struct source *main_source(const struct densities *p, double length)
{
	const struct source *best = NULL;
	double most = 0;

	for (size_t s = 0; s < p->run->time.n; s++) {
		const struct source *source = p->run->time.rows[s].source;
		double n = 0;

		for (size_t i = 0; i < p->run->jitter.n_buckets; i++) {
			const struct jitter_bucket *b = &p->run->jitter.buckets[i];

			if (b->level == JITTER_TIME && b->source == source->id &&
				fabs(log10((double)b->total_ns / (double)b->count / 1e9) - length) <
					2 * p->curves[0].bandwidth)
				n += (double)b->count;
		}
		if (n > most) {
			most = n;
			best = source;
		}
	}
	return best;
}

/* The highest peak whose source has no name yet; -1: none. */
static int next_peak(
	const struct densities *p, const struct curve *c, const struct source *const *named, int n)
{
	const double ALONE = 0.2; /* decades */
	int near = (int)(ALONE / (p->high - p->low) * STEPS), best = -1;

	for (int step = 0; step <= STEPS; step++) {
		bool is_peak = c->y[step] >= 20 * p->least && (best < 0 || c->y[step] > c->y[best]);
		const struct source *source;

		for (int i = step - near; is_peak && i <= step + near; i++)
			is_peak = i < 0 || i > STEPS ||
				  (i < step ? c->y[i] < c->y[step] : c->y[i] <= c->y[step]);
		source = is_peak ? main_source(p, densities_at(p, step)) : NULL;
		for (int k = 0; source && k < n; k++)
			source = named[k] == source ? NULL : source;
		best = source ? step : best;
	}
	return best;
}

/* The most that either curve has where the number of the peak stands. */
static double height_at_number(const struct densities *p, int peak)
{
	const int HALF = STEPS / 60; /* of its width */
	double most = 0;

	for (int step = peak - HALF; step <= peak + HALF; step++)
		if (step >= 0 && step <= STEPS)
			most = fmax(most, fmax(p->curves[0].y[step], p->curves[1].y[step]));
	return most;
}

static void write_densities(const void *subject, FILE *script)
{
	const struct jitter_pair *pair = subject;
	struct densities p = {.run = pair->run, .baseline = pair->baseline};
	_cleanup_(freep) struct density_point *points = xcalloc(
		p.run->jitter.n_buckets + (p.baseline ?: p.run)->jitter.n_buckets, sizeof(*points));
	const struct curve *c = &p.curves[p.baseline ? 0 : 1];
	const struct source *named[MOST_PEAKS] = {};
	_cleanup_(freep) char *how = NULL;
	struct axis lengths, heights;
	int n = 0, peak;

	densities_prepare(&p, points);
	how = text_format("Parzen densities, bandwidth %.3f decades (%s; Botev et al. 2010)",
		p.curves[0].bandwidth, text_percent(pow(10, p.curves[0].bandwidth) - 1));
	terminal_say(stdout, 2, "%s", how);
	if (p.baseline)
		plot_text(script, "heading", 0, "Run %" PRId64 " and its baseline, run %" PRId64,
			p.run->run.id, p.baseline->run.id);
	else
		plot_text(script, "heading", 0, "Interruptions of run %" PRId64, p.run->run.id);
	plot_text(script, "how", 0, "Parzen densities, bandwidth %.3f decades",
		p.curves[0].bandwidth);
	fprintf(script,
		"baseline = %d\nleast = %.6g\narray peaks[%d]\n"
		"array peaks_x[%d]\narray peaks_y[%d]\n",
		p.baseline != NULL, p.least, MOST_PEAKS, MOST_PEAKS, MOST_PEAKS);
	lengths = (struct axis){AXIS_LOGARITHMIC, true, pow(10, p.low), pow(10, p.high), .room = 8};
	heights = (struct axis){AXIS_LOGARITHMIC, false, p.least, p.most * 6, .room = 8};
	plot_axis(script, "length", 0, &lengths);
	plot_axis(script, "height", 0, &heights);
	/* Each source has its name at the highest of its peaks, as the trace saw them. */
	while (n < MOST_PEAKS && (peak = next_peak(&p, c, named, n)) >= 0) {
		_cleanup_(freep) char *short_name = NULL;
		const char *name;

		named[n] = main_source(&p, densities_at(&p, peak));
		name = named[n++]->name;
		short_name = plot_short(name, PEAK_NAME);
		plot_text(script, "peaks", (size_t)n, "%s", short_name);
		fprintf(script, "peaks_x[%d] = %.6g\npeaks_y[%d] = %.6g\n", n,
			pow(10, densities_at(&p, peak)), n, height_at_number(&p, peak));
	}
	fprintf(script, "n_peaks = %d\n$curves << EOD\n", n);
	for (int i = 0; i <= STEPS; i++)
		fprintf(script, "%.6g %.6g %.6g\n", pow(10, densities_at(&p, i)),
			fmax(p.curves[0].y[i], p.least / 100),
			fmax(p.curves[1].y[i], p.least / 100));
	fputs("EOD\n", script);
}

/* What each source took of the time, in one run and in another: a row each, on a logarithmic
 * axis. */
enum { MOST_ROWS = 24, SHARE_NAME = 15, SHARES_ROW = 3 /* mm */ };

static double larger_share(const struct jitter_change *c)
{
	return fmax(c->before_share, c->after_share);
}

static int by_larger_share(const void *x, const void *y)
{
	const struct jitter_change *const *a = x, *const *b = y;

	return (larger_share(*a) < larger_share(*b)) - (larger_share(*a) > larger_share(*b));
}

static void write_shares(const void *subject, FILE *script)
{
	const struct jitter_pair *pair = subject;
	const struct jitter_changes *changes = &pair->changes;
	_cleanup_(freep) const struct jitter_change **rows = xcalloc(changes->n, sizeof(*rows));
	double least = 100, most = 1e-9;
	struct axis percent;
	size_t n = 0;

	/* The rows with most of the time, the largest first. */
	for (size_t i = 0; i < changes->n; i++)
		if (larger_share(&changes->items[i]) > 0)
			rows[n++] = &changes->items[i];
	qsort(rows, n, sizeof(*rows), by_larger_share);
	n = n < MOST_ROWS ? n : MOST_ROWS;
	for (size_t i = 0; i < n; i++) {
		double smaller = fmin(rows[i]->before_share, rows[i]->after_share);

		most = fmax(most, 100 * larger_share(rows[i]));
		least = fmin(least, 100 * (smaller > 0 ? smaller : larger_share(rows[i])));
	}
	least /= 10; /* what is 0 is at the left edge */
	fprintf(script,
		"before = %" PRId64 "\nafter = %" PRId64
		"\nleast = %.6g\nn_rows = %zu\narray names[%d]\narray ratios[%d]\n$rows << EOD\n",
		pair->baseline->run.id, pair->run->run.id, least, n, MOST_ROWS, MOST_ROWS);
	for (size_t i = 0; i < n; i++) {
		const struct jitter_change *c = rows[i];
		double before = 100 * c->before_share, after = fmax(100 * c->after_share, least);

		fprintf(script, "%zu %.6g %.6g %.6g %.6g\n", i, fmax(before, least), after,
			before > 0 ? fmax(before * c->low, least) : after,
			before > 0 ? fmax(fmin(before * c->high, most * 2), least) : after);
	}
	fputs("EOD\n", script);
	if (n == 0)
		least = 1;
	percent = (struct axis){AXIS_LOGARITHMIC, false, least, fmax(most, least) * 2, .room = 5};
	plot_axis(script, "percent", 0, &percent);
	for (size_t i = 0; i < n; i++) {
		const struct jitter_change *c = rows[i];
		_cleanup_(freep) char *name = plot_short(c->source->name, SHARE_NAME);

		plot_tick_text(script, "names", i + 1, name);
		plot_text(script, "ratios", i + 1, "%s (%s)",
			!c->before  ? "only after"
			: !c->after ? "only before"
				    : jitter_ratio_text(c->ratio),
			jitter_ratio_interval(c));
	}
}

/* When the longest interruptions of a run were, how long, and by whom. */
enum { NAMED = 6, OTHER = NAMED, UNEXPLAINED, N_LOOKS };

struct timeline {
	uint32_t named[NAMED]; /* the sources with most of the time */
	size_t n_named;
};

static size_t look_of(const struct timeline *t, uint32_t source)
{
	if (!source)
		return UNEXPLAINED;
	for (size_t i = 0; i < t->n_named; i++)
		if (t->named[i] == source)
			return i;
	return OTHER;
}

static void write_longest(const void *subject, FILE *script)
{
	const struct jitter_run *run = ((const struct jitter_pair *)subject)->run;
	/* by source */
	_cleanup_(freep) int64_t *totals_ns = xcalloc(run->sources.n + 1, sizeof(*totals_ns));
	const struct interruption *longest = run->jitter.longest;
	struct timeline t = {};
	size_t n = run->jitter.n_longest, n_looks = 0;
	int64_t start_ns = run->run.started_ns ?: INT64_MAX;
	struct axis lengths = {AXIS_LOGARITHMIC, true, 1e-6, 1, .room = 8};
	struct axis times = {.high = 1e-9, .room = 8};

	for (size_t i = 0; i < n; i++) {
		/* the earliest moment that is known */
		start_ns = longest[i].start_ns < start_ns ? longest[i].start_ns : start_ns;
		if (longest[i].source && longest[i].source <= run->sources.n)
			totals_ns[longest[i].source] = saturate_add(
				totals_ns[longest[i].source], longest[i].length_ns);
	}
	for (; t.n_named < NAMED; t.n_named++) {
		uint32_t best = 0;

		for (uint32_t source = 1; source <= run->sources.n; source++)
			if (totals_ns[source] > totals_ns[best])
				best = source;
		if (!best)
			break;
		t.named[t.n_named] = best;
		totals_ns[best] = 0;
	}
	fprintf(script, "run = %" PRId64 "\nn = %zu\narray looks[%d]\narray names[%d]\n",
		run->run.id, n, N_LOOKS, N_LOOKS);
	if (n > 0) {
		lengths.low = fmax((double)longest[n - 1].length_ns, 1) / 1e9 / 1.5;
		lengths.high = (double)longest[0].length_ns / 1e9 * 2;
	}
	plot_axis(script, "length", 0, &lengths);
	for (size_t look = 0; look < N_LOOKS; look++) {
		size_t n_points = 0;

		for (size_t i = 0; i < n; i++)
			n_points += look_of(&t, longest[i].source) == look;
		if (n_points == 0)
			continue;
		fprintf(script, "looks[%zu] = %zu\n", ++n_looks, look + 1);
		plot_text(script, "names", n_looks, "%.40s (%zu)",
			look == OTHER         ? "others"
			: look == UNEXPLAINED ? "no event explains it"
					      : run->sources.items[t.named[look] - 1].name,
			n_points);
	}
	fprintf(script, "n_looks = %zu\n$longest << EOD\n", n_looks);
	for (size_t look = 0; look < N_LOOKS; look++) {
		bool any = false;

		for (size_t i = 0; i < n; i++) {
			if (look_of(&t, longest[i].source) != look)
				continue;
			fprintf(script, "%.9f %.9f\n",
				(double)(longest[i].start_ns - start_ns) / 1e9,
				(double)longest[i].length_ns / 1e9);
			times.high = fmax(
				times.high, (double)(longest[i].start_ns - start_ns) / 1e9);
			any = true;
		}
		fputs(any ? "\n\n" : "", script);
	}
	fputs("EOD\n", script);
	plot_axis(script, "time", 0, &times);
}

int jitter_draw(const struct jitter_pair *pair, const struct jitter_view *view, struct error *err)
{
	struct drawing drawing = {
		"jitter-density", write_densities, pair, plot_height(58, MOST_PEAKS + 2)};

	if (view->timeline) {
		drawing.name = "jitter-timeline";
		drawing.write = write_longest;
		drawing.height = plot_height(50, N_LOOKS);
	} else if (view->by_source) {
		drawing.name = "jitter-shares";
		size_t rows = pair->changes.n < MOST_ROWS ? pair->changes.n : MOST_ROWS;

		drawing.write = write_shares;
		drawing.height = plot_height(20 + SHARES_ROW * (double)rows, 3);
	}
	return plot_drawing(drawing, view->output, view->script, err);
}
