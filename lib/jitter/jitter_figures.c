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

/* The points of a curve, from the buckets of one level of a run, into its room; the range of both
 * curves grows with them. */
static void add_curve_points(
	struct densities *p, struct curve *c, const struct jitter_run *run, enum jitter_level level)
{
	c->seconds = (double)run->all.sampled_ns / 1e9;
	for (size_t i = 0; i < run->jitter.n_buckets; i++) {
		const struct jitter_bucket *b = &run->jitter.buckets[i];
		double mean_ns = (double)b->total_ns / (double)b->count, at = log10(mean_ns / 1e9);
		double width = log10((double)b->high_ns / fmax((double)b->low_ns, 1));

		if (b->level != level || mean_ns <= 0)
			continue;
		c->points[c->n++] = (struct density_point){at, (double)b->count, width};
		p->low = fmin(p->low, at);
		p->high = fmax(p->high, at);
	}
}

/* The heights of a curve, and what the axis must show of them: it ends at a tenth of what a single
 * interruption makes. */
static void compute_heights(struct densities *p, struct curve *c)
{
	double single = 1 / sqrt(2 * M_PI) / c->bandwidth / c->seconds;

	if (c->n == 0 || !(c->seconds > 0))
		return;
	p->least = fmin(p->least, single / 10);
	for (int i = 0; i <= STEPS; i++) {
		double x = densities_at(p, i);

		c->y[i] = density_at(c->points, c->n, c->bandwidth, x) / c->seconds;
		p->most = fmax(p->most, c->y[i]);
	}
}

/* points: room for the buckets of both runs. */
static void densities_prepare(struct densities *p, struct density_point *points)
{
	struct curve *first = &p->curves[0], *second = &p->curves[1];

	p->low = INFINITY;
	p->high = -INFINITY;
	first->points = points;
	add_curve_points(p, first, p->run, p->baseline ? JITTER_MASTER : JITTER_USER);
	second->points = points + first->n;
	add_curve_points(p, second, p->baseline ?: p->run, JITTER_MASTER);

	/* one for both, so that a difference of the curves is not one of bandwidths */
	first->bandwidth = density_bandwidth(first->points, first->n) ?: 0.02;
	second->bandwidth = first->bandwidth;

	/* the lengths of both, with a margin */
	if (p->low > p->high)
		p->low = p->high = -6;
	p->low -= 0.35;
	p->high += 0.35;

	p->most = 0;
	p->least = INFINITY;
	compute_heights(p, first);
	compute_heights(p, second);
	if (p->most <= 0)
		p->most = 1;
	p->least = fmin(p->least, p->most / 10);
}

/* How many interruptions of about that length a source has, as the trace saw them. */
static double count_near(const struct densities *p, uint32_t source, double length)
{
	const struct jitter *jitter = &p->run->jitter;
	double n = 0;

	for (size_t i = 0; i < jitter->n_buckets; i++) {
		const struct jitter_bucket *b = &jitter->buckets[i];
		double mean = (double)b->total_ns / (double)b->count / 1e9;

		if (b->level == JITTER_TIME && b->source == source &&
			fabs(log10(mean) - length) < 2 * p->curves[0].bandwidth)
			n += (double)b->count;
	}
	return n;
}

/* The source that has most of the interruptions of about that length, as the trace saw them. */
static const struct source *main_source(const struct densities *p, double length)
{
	const struct source *best = NULL;
	double most = 0;

	for (size_t i = 0; i < p->run->time.n; i++) {
		const struct source *source = p->run->time.rows[i].source;
		double n = count_near(p, source->id, length);

		if (n > most) {
			most = n;
			best = source;
		}
	}
	return best;
}

/* Whether a curve is nowhere higher within `near` steps; of equal heights the last one counts. */
static bool is_peak(const struct curve *c, int step, int near)
{
	int first = step > near ? step - near : 0, last = step + near < STEPS ? step + near : STEPS;

	for (int i = first; i < step; i++)
		if (c->y[i] >= c->y[step])
			return false;
	for (int i = step; i <= last; i++)
		if (c->y[i] > c->y[step])
			return false;
	return true;
}

/* The highest peak whose source has no name yet; -1: none. */
static int next_peak(
	const struct densities *p, const struct curve *c, const struct source *const *named, int n)
{
	const double ALONE = 0.2; /* decades */
	int near = (int)(ALONE / (p->high - p->low) * STEPS), best = -1;

	for (int step = 0; step <= STEPS; step++) {
		const struct source *source;

		if (c->y[step] < 20 * p->least || (best >= 0 && c->y[step] <= c->y[best]) ||
			!is_peak(c, step, near))
			continue;
		source = main_source(p, densities_at(p, step));
		for (int k = 0; source && k < n; k++)
			source = named[k] == source ? NULL : source;
		best = source ? step : best;
	}
	return best;
}

/* The greatest height of both curves where the name of the peak stands. */
static double height_at_number(const struct densities *p, int peak)
{
	const int HALF = STEPS / 60; /* of its width */
	double most = 0;

	for (int step = peak - HALF; step <= peak + HALF; step++)
		if (step >= 0 && step <= STEPS)
			most = fmax(most, fmax(p->curves[0].y[step], p->curves[1].y[step]));
	return most;
}

/* Each source has its name at the highest of its peaks, as the trace saw them. */
static void write_peaks(const struct densities *p, FILE *script)
{
	const struct curve *c = &p->curves[p->baseline ? 0 : 1];
	const struct source *named[MOST_PEAKS] = {};
	int n = 0, peak;

	while (n < MOST_PEAKS && (peak = next_peak(p, c, named, n)) >= 0) {
		double at = densities_at(p, peak);
		_cleanup_(freep) char *name = NULL;

		named[n] = main_source(p, at);
		name = plot_short(named[n]->name, PEAK_NAME);
		n++;
		plot_text(script, "peaks", (size_t)n, "%s", name);
		fprintf(script, "peaks_x[%d] = %.6g\npeaks_y[%d] = %.6g\n", n, pow(10, at), n,
			height_at_number(p, peak));
	}
	fprintf(script, "n_peaks = %d\n", n);
}

static void write_densities(const void *subject, FILE *script)
{
	const struct jitter_pair *pair = subject;
	struct densities p = {.run = pair->run, .baseline = pair->baseline};
	size_t n_points = p.run->jitter.n_buckets + (p.baseline ?: p.run)->jitter.n_buckets;
	_cleanup_(freep) struct density_point *points = xcalloc(n_points, sizeof(*points));
	_cleanup_(freep) char *how = NULL;
	struct axis lengths = {AXIS_LOGARITHMIC, true, .room = 8};
	struct axis heights = {AXIS_LOGARITHMIC, false, .room = 8};

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

	lengths.low = pow(10, p.low);
	lengths.high = pow(10, p.high);
	plot_axis(script, "length", 0, &lengths);
	heights.low = p.least;
	heights.high = p.most * 6;
	plot_axis(script, "height", 0, &heights);

	write_peaks(&p, script);
	fputs("$curves << EOD\n", script);
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

/* What the axis must reach, in percent. What is 0 is at its left edge. */
struct shares_range {
	double least, most;
};

static struct shares_range range_of_shares(const struct jitter_change **rows, size_t n)
{
	struct shares_range range = {100, 1e-9};

	for (size_t i = 0; i < n; i++) {
		double larger = larger_share(rows[i]),
		       smaller = fmin(rows[i]->before_share, rows[i]->after_share);

		range.most = fmax(range.most, 100 * larger);
		range.least = fmin(range.least, 100 * (smaller > 0 ? smaller : larger));
	}
	range.least /= 10;
	return range;
}

/* The share before and after, and what the interval of their ratio makes of that before. */
static void write_share_points(
	const struct jitter_change **rows, size_t n, const struct shares_range *range, FILE *script)
{
	fputs("$rows << EOD\n", script);
	for (size_t i = 0; i < n; i++) {
		const struct jitter_change *c = rows[i];
		double before = 100 * c->before_share,
		       after = fmax(100 * c->after_share, range->least);
		double low = after, high = after;

		if (before > 0) {
			low = fmax(before * c->low, range->least);
			high = fmax(fmin(before * c->high, range->most * 2), range->least);
		}
		fprintf(script, "%zu %.6g %.6g %.6g %.6g\n", i, fmax(before, range->least), after,
			low, high);
	}
	fputs("EOD\n", script);
}

static const char *change_ratio_text(const struct jitter_change *c)
{
	if (!c->before)
		return "only after";
	return c->after ? jitter_ratio_text(c->ratio) : "only before";
}

static void write_shares(const void *subject, FILE *script)
{
	const struct jitter_pair *pair = subject;
	const struct jitter_changes *changes = &pair->changes;
	_cleanup_(freep) const struct jitter_change **rows = xcalloc(changes->n, sizeof(*rows));
	struct axis percent = {AXIS_LOGARITHMIC, false, .room = 5};
	struct shares_range range;
	size_t n = 0;

	/* The rows with most of the time, the largest first. */
	for (size_t i = 0; i < changes->n; i++)
		if (larger_share(&changes->items[i]) > 0)
			rows[n++] = &changes->items[i];
	qsort(rows, n, sizeof(*rows), by_larger_share);
	n = n < MOST_ROWS ? n : MOST_ROWS;
	range = range_of_shares(rows, n);

	fprintf(script,
		"before = %" PRId64 "\nafter = %" PRId64
		"\nleast = %.6g\nn_rows = %zu\narray names[%d]\narray ratios[%d]\n",
		pair->baseline->run.id, pair->run->run.id, range.least, n, MOST_ROWS, MOST_ROWS);
	write_share_points(rows, n, &range, script);
	percent.low = n > 0 ? range.least : 1;
	percent.high = fmax(range.most, percent.low) * 2;
	plot_axis(script, "percent", 0, &percent);
	for (size_t i = 0; i < n; i++) {
		const struct jitter_change *c = rows[i];
		_cleanup_(freep) char *name = plot_short(c->source->name, SHARE_NAME);

		plot_tick_text(script, "names", i + 1, name);
		plot_text(script, "ratios", i + 1, "%s (%s)", change_ratio_text(c),
			jitter_ratio_interval(c));
	}
}

/* When the longest interruptions of a run were, how long, and by whom. */
enum { NAMED = 6, OTHER = NAMED, UNEXPLAINED, N_LOOKS };

struct timeline {
	const struct jitter_run *run;
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

static const char *look_name(const struct timeline *t, size_t look)
{
	if (look == OTHER)
		return "others";
	if (look == UNEXPLAINED)
		return "no event explains it";
	return t->run->sources.items[t->named[look] - 1].name;
}

/* The sources that took most of the time of the longest interruptions. */
static void name_sources(struct timeline *t)
{
	const struct jitter *jitter = &t->run->jitter;
	size_t n_sources = t->run->sources.n;
	/* by source */
	_cleanup_(freep) int64_t *totals_ns = xcalloc(n_sources + 1, sizeof(*totals_ns));

	for (size_t i = 0; i < jitter->n_longest; i++) {
		const struct interruption *x = &jitter->longest[i];

		if (x->source && x->source <= n_sources)
			totals_ns[x->source] = saturate_add(totals_ns[x->source], x->length_ns);
	}
	for (; t->n_named < NAMED; t->n_named++) {
		uint32_t best = 0;

		for (uint32_t source = 1; source <= n_sources; source++)
			if (totals_ns[source] > totals_ns[best])
				best = source;
		if (!best)
			break;
		t->named[t->n_named] = best;
		totals_ns[best] = 0;
	}
}

/* The looks that occur, with their names. */
static void write_looks(const struct timeline *t, FILE *script)
{
	const struct jitter *jitter = &t->run->jitter;
	size_t n_looks = 0;

	for (size_t look = 0; look < N_LOOKS; look++) {
		size_t n_points = 0;

		for (size_t i = 0; i < jitter->n_longest; i++)
			n_points += look_of(t, jitter->longest[i].source) == look;
		if (n_points == 0)
			continue;
		fprintf(script, "looks[%zu] = %zu\n", ++n_looks, look + 1);
		plot_text(script, "names", n_looks, "%.40s (%zu)", look_name(t, look), n_points);
	}
	fprintf(script, "n_looks = %zu\n", n_looks);
}

/* A block for each look that occurs: when, and how long. Returns the latest time, in seconds. */
static double write_interruptions(const struct timeline *t, int64_t start_ns, FILE *script)
{
	const struct jitter *jitter = &t->run->jitter;
	double latest = 1e-9;

	fputs("$longest << EOD\n", script);
	for (size_t look = 0; look < N_LOOKS; look++) {
		bool any = false;

		for (size_t i = 0; i < jitter->n_longest; i++) {
			const struct interruption *x = &jitter->longest[i];
			double at = (double)(x->start_ns - start_ns) / 1e9;

			if (look_of(t, x->source) != look)
				continue;
			fprintf(script, "%.9f %.9f\n", at, (double)x->length_ns / 1e9);
			latest = fmax(latest, at);
			any = true;
		}
		fputs(any ? "\n\n" : "", script);
	}
	fputs("EOD\n", script);
	return latest;
}

static void write_longest(const void *subject, FILE *script)
{
	const struct jitter_pair *pair = subject;
	const struct jitter_run *run = pair->run;
	const struct interruption *longest = run->jitter.longest;
	size_t n = run->jitter.n_longest;
	struct timeline t = {.run = run};
	struct axis lengths = {AXIS_LOGARITHMIC, true, 1e-6, 1, .room = 8};
	struct axis times = {.room = 8};
	int64_t start_ns = run->run.started_ns ?: INT64_MAX; /* the earliest moment that is known */

	for (size_t i = 0; i < n; i++)
		start_ns = longest[i].start_ns < start_ns ? longest[i].start_ns : start_ns;
	name_sources(&t);
	fprintf(script, "run = %" PRId64 "\nn = %zu\narray looks[%d]\narray names[%d]\n",
		run->run.id, n, N_LOOKS, N_LOOKS);
	if (n > 0) {
		lengths.low = fmax((double)longest[n - 1].length_ns, 1) / 1e9 / 1.5;
		lengths.high = (double)longest[0].length_ns / 1e9 * 2;
	}
	plot_axis(script, "length", 0, &lengths);
	write_looks(&t, script);
	times.high = write_interruptions(&t, start_ns, script);
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
		size_t rows = pair->changes.n < MOST_ROWS ? pair->changes.n : MOST_ROWS;

		drawing.name = "jitter-shares";
		drawing.write = write_shares;
		drawing.height = plot_height(20 + SHARES_ROW * (double)rows, 3);
	}
	return plot_drawing(drawing, view->output, view->script, err);
}
