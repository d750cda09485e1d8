/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The distribution of lengths as Parzen densities (De et al., Figures 1, 4, 6 and 8): that of the gaps beside that of what the trace
 * saw, or that of a run beside its baseline. Both axes are logarithmic, and the Gaussians are on the logarithm
 * of the length. The height is the number of interruptions a second and decade of length, so that two curves compare. */
#include "lib/jitter/jitter_show.h"

#include "lib/base/array.h"
#include "lib/base/text.h"
#include "lib/stats/distribution.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { STEPS = 900, MOST_PEAKS = 6 };

struct curve {
	struct density_point *points; /* of log10 of the length in seconds */
	size_t n;
	double bandwidth, seconds; /* sampled */
	double y[STEPS + 1];
};

struct picture {
	const struct jitter_run *run, *baseline;
	struct curve curves[2];
	double low, high;   /* of log10 of the length */
	double least, most; /* of the heights */
};

static void picture_clear(struct picture *p)
{
	free(p->curves[0].points);
	free(p->curves[1].points);
}

static bool fill(struct curve *c, const struct jitter_run *run, enum jitter_level level)
{
	c->seconds = (double)run->all.sampled_ns / 1e9;
	for (const struct jitter_bucket *b = run->jitter.buckets;
		b < run->jitter.buckets + run->jitter.n_buckets; b++) {
		double mean_ns = (double)b->total_ns / (double)b->count;
		struct density_point *point;

		if (b->level != level || mean_ns <= 0)
			continue;
		point = array_add(c->points, c->n);
		if (!point)
			return false;
		*point = (struct density_point){log10(mean_ns / 1e9), (double)b->count,
			log10((double)b->high_ns / fmax((double)b->low_ns, 1))};
	}
	return true;
}

/* The lengths of both, with a margin. */
static void find_extent(struct picture *p)
{
	p->low = INFINITY;
	p->high = -INFINITY;
	for (const struct curve *c = p->curves; c < p->curves + 2; c++)
		for (size_t i = 0; i < c->n; i++) {
			p->low = fmin(p->low, c->points[i].at);
			p->high = fmax(p->high, c->points[i].at);
		}
	if (p->low > p->high)
		p->low = p->high = -6;
	p->low -= 0.35;
	p->high += 0.35;
}

static double at(const struct picture *p, int step)
{
	return p->low + (p->high - p->low) * step / STEPS;
}

/* The axis ends at a tenth of what a single interruption makes. */
static void evaluate(struct picture *p)
{
	p->most = 0;
	p->least = INFINITY;
	for (struct curve *c = p->curves; c < p->curves + 2; c++) {
		double single = 1 / sqrt(2 * M_PI) / c->bandwidth / c->seconds;

		if (c->n > 0 && c->seconds > 0)
			p->least = fmin(p->least, single / 10);
		for (int i = 0; i <= STEPS; i++) {
			c->y[i] = c->n > 0 && c->seconds > 0
					  ? density_at(c->points, c->n, c->bandwidth, at(p, i)) / c->seconds
					  : 0;
			p->most = fmax(p->most, c->y[i]);
		}
	}
	if (p->most <= 0)
		p->most = 1;
	p->least = fmin(p->least, p->most / 10);
}

/* One bandwidth for both, that of the first, so that a difference of the curves is not one of bandwidths. */
static bool prepare(struct picture *p)
{
	struct curve *c = p->curves;

	if (!fill(&c[0], p->run, p->baseline ? JITTER_MASTER : JITTER_USER) ||
		!fill(&c[1], p->baseline ?: p->run, JITTER_MASTER))
		return false;
	c[0].bandwidth = c[1].bandwidth = density_bandwidth(c[0].points, c[0].n) ?: 0.02;
	find_extent(p);
	evaluate(p);
	return true;
}

static void print_curve(const struct picture *p, int which, struct plot *plot)
{
	const struct curve *c = &p->curves[which];

	fprintf(plot->script, "$curve%d << EOD\n", which);
	for (int i = 0; i <= STEPS; i++)
		fprintf(plot->script, "%.6g %.6g\n", pow(10, at(p, i)), fmax(c->y[i], p->least / 100));
	fputs("EOD\n", plot->script);
}

/* The source that has most of the interruptions of about that length, as the trace saw them. */
static const struct source *main_source(const struct picture *p, double length)
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

static bool is_peak(const struct picture *p, const struct curve *c, int step)
{
	const double ALONE = 0.2; /* decades */
	int near = (int)(ALONE / (p->high - p->low) * STEPS);

	if (c->y[step] < 20 * p->least)
		return false;
	for (int i = step - near; i <= step + near; i++)
		if (i >= 0 && i <= STEPS && (c->y[i] > c->y[step] || (c->y[i] >= c->y[step] && i < step)))
			return false;
	return true;
}

/* The highest peak whose source has no name yet; -1: none. */
static int next_peak(const struct picture *p, const struct curve *c, const struct source *const *named, int n)
{
	int best = -1;

	for (int i = 0; i <= STEPS; i++) {
		const struct source *source = is_peak(p, c, i) ? main_source(p, at(p, i)) : NULL;
		bool is_named = !source;

		for (int k = 0; k < n; k++)
			is_named |= named[k] == source;
		if (!is_named && (best < 0 || c->y[i] > c->y[best]))
			best = i;
	}
	return best;
}

/* Each source has its name at the highest of its peaks, as the trace saw them. */
static void print_peaks(const struct picture *p, struct plot *plot)
{
	const struct curve *c = &p->curves[p->baseline ? 0 : 1];
	const struct source *named[MOST_PEAKS] = {};
	int peak;

	for (int n = 0; n < MOST_PEAKS && (peak = next_peak(p, c, named, n)) >= 0; n++) {
		_cleanup_(freep) char *name = NULL;

		named[n] = main_source(p, at(p, peak));
		name = text_format("%.28s%s", named[n]->name, strlen(named[n]->name) > 28 ? "…" : "");
		fputs("set label ", plot->script);
		plot_quote(plot, name ?: "");
		fprintf(plot->script, " at first %.6g,%.6g offset 0,0.7 center font ',9' front\n",
			pow(10, at(p, peak)), c->y[peak]);
	}
}

static void print_axes(const struct picture *p, struct plot *plot)
{
	fprintf(plot->script,
		"set logscale xy\nset xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\nset format y '%%g'\nset mxtics 10\n",
		pow(10, p->low), pow(10, p->high), p->least, p->most * 10);
	fputs("set xtics ('' 1e9", plot->script);
	for (int decade = (int)ceil(p->low); decade <= (int)floor(p->high); decade++)
		plot_tick(plot, "", pow(10, decade));
	fputs(")\nset xlabel 'length of an interruption'\nset ylabel 'interruptions per second and decade of length'\n"
	      "set key top right\n",
		plot->script);
}

static void print_title(const struct picture *p, struct plot *plot)
{
	double h = p->curves[0].bandwidth;
	char percent[TEXT_TIME_SIZE];
	_cleanup_(freep) char *what = p->baseline
					      ? text_format("Run %" PRId64 " and its baseline, run %" PRId64,
							p->run->run.id, p->baseline->run.id)
					      : text_format("Interruptions of run %" PRId64, p->run->run.id);
	_cleanup_(freep) char *how = text_format(
		"Parzen densities, bandwidth %.3f decades (%s of the length; Botev, Grotowski and Kroese 2010)",
		h, text_percent(percent, pow(10, h) - 1));

	fputs("set title ", plot->script);
	plot_quote(plot, what ?: "");
	fputs(" . \"\\n\" . ", plot->script);
	plot_quote(plot, how ?: "");
	fputc('\n', plot->script);
	printf("%s\n", how ?: "");
}

static void draw(const void *subject, struct plot *plot)
{
	const struct jitter_pair *pair = subject;
	_cleanup_(picture_clear) struct picture p = {.run = pair->run, .baseline = pair->baseline};

	if (!prepare(&p))
		return;
	print_title(&p, plot);
	print_axes(&p, plot);
	print_peaks(&p, plot);
	print_curve(&p, 0, plot);
	print_curve(&p, 1, plot);
	fprintf(plot->script,
		"plot $curve1 with filledcurves y1=%.6g fc rgb '#cfdff0' notitle, $curve1 with lines lw 1.5 lc rgb '#3366a0' title '%s', $curve0 with lines lw 1.5 lc rgb '#d62728' title '%s'\n",
		p.least, p.baseline ? "baseline, from the trace" : "master: from the trace",
		p.baseline ? "this run, from the trace" : "user level: gaps that the loop saw");
}

struct drawing jitter_densities(const struct jitter_pair *pair)
{
	return (struct drawing){draw, pair, JITTER_WIDTH, JITTER_HEIGHT};
}
