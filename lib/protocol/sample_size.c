/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many samples are enough, and what so many show: see sample_size.h. The papers halve 800 down
 * to 100 and continue with 40, 30, 20 and 10. They choose the size by eye; CLOSE_SD and CLOSE_SHARE
 * reproduce their choice. */
#include "lib/protocol/sample_size.h"

#include "lib/record/profile.h"
#include "lib/stats/compare.h"
#include "lib/stats/pairs.h"
#include "lib/stats/rounding.h"

#include <gsl/gsl_cdf.h>

static const double CLOSE_SD = 0.10, CLOSE_SHARE = 0.025;

enum { LEAST_HALF = 60 };
enum { LEAST_BLOCKS = 5, LEAST_CORRELATED = 40, LEAST_LOG_RATIOS = 6 };
enum { LEAST_FREEDOM = 2, LEAST_SAMPLES = 5 };

/* A block of n samples of a run, discarded from as if it were the whole run. scratch has room for
 * two times n. */
static struct sample_size block_of(const struct discarding *d, const struct sample *samples,
	size_t first, size_t n, bool et, int64_t *scratch)
{
	const struct clock_discarding *clock = et ? &d->et : &d->pt;
	int64_t *times = scratch, *kept = scratch + n;
	size_t left = 0, n_kept = 0;
	struct summary s;

	for (size_t i = first; i < first + n; i++)
		if (!d->out[i])
			times[left++] = clock_time_ns(clock, samples, i, et);
	s = summary_of(times, left);
	for (size_t i = 0; i < left; i++)
		if (!beyond_two_sd(&s, times[i]))
			kept[n_kept++] = times[i];
	s = summary_of(kept, n_kept);
	return (struct sample_size){
		.n = n,
		.by_cutoff = n - left,
		.by_two_sd = left - n_kept,
		.mean_ns = summary_mean(&s),
		.sd_ns = summary_sd(&s),
	};
}

/* How many samples give an interval of that half width, if they vary as those of the run do, and
 * neighbours are as much alike. The bias that the clock's steps may give the mean does not shrink
 * with more samples, nor does the error of what was taken out for a neighbour. NAN: no number of
 * samples is enough. */
static double samples_needed_for(double half_width, const struct clock_discarding *c)
{
	double inflation = (double)c->kept.n / c->interval.effective_n;
	double mean = fmax(c->kept.mean_ns, 1), n = inflation + 1;
	double cv = fmax(c->kept.relative_error, c->interval.step_ns / sqrt(12) / mean);
	const struct neighbour_adjustment *by = &c->adjusted.by;

	half_width -= c->interval.bias_ns / mean;
	if (by->variance > 0)
		half_width = sqrt(
			half_width * half_width -
			pow(gsl_cdf_tdist_Pinv(0.975, by->slope.df) / mean, 2) * by->variance);
	if (isnan(c->kept.relative_error) || !(half_width > 0))
		return NAN;
	for (int i = 0; i < 60; i++) { /* n grows, and t falls with it: steps in between */
		double t = gsl_cdf_tdist_Pinv(0.975, fmax(1, n / inflation - 1));

		n = (n + fmax(t * t * cv * cv / half_width / half_width * inflation,
				 inflation + 1)) /
		    2;
	}
	return ceil(n - 1e-6);
}

const double sample_size_half_widths[N_HALF_WIDTHS] = {0.02, 0.01, 0.005, 0.001};

/* The sizes of the papers' tables: halves of the run as long as they are large, then 40, 30, 20 and
 * 10. */
static void list_sample_sizes(struct sample_sizes *sizes, size_t n)
{
	static const size_t last[] = {40, 30, 20, 10};

	for (size_t size = n; size == n || size > LEAST_HALF; size /= 2)
		sizes->rows[sizes->n++].n = size;
	for (size_t i = 0; i < ELEMENTS(last); i++)
		if (last[i] < n)
			sizes->rows[sizes->n++].n = last[i];
}

/* A size, by all disjoint blocks of it. The first block is the row of the papers' tables. One block
 * says little, above all of its sd, which has a sampling error of 24 % for ten samples. */
static struct sample_size size_of_blocks(const struct discarding *d, const struct sample *samples,
	size_t blocks, size_t size, bool et)
{
	_cleanup_(freep) int64_t *scratch = xcalloc(2 * size, sizeof(*scratch));
	struct sample_size s = {};
	double variance = 0, outliers = 0;

	for (size_t k = 0; k < blocks; k++) {
		struct sample_size block = block_of(d, samples, k * size, size, et, scratch);

		if (k == 0)
			s = block;
		variance += block.sd_ns * block.sd_ns / (double)blocks;
		outliers += ((double)(block.by_cutoff + block.by_two_sd) / (double)size) /
			    (double)blocks;
	}
	s.blocks = blocks;
	s.blocks_sd_ns = sqrt(variance);
	s.blocks_outliers = outliers;
	return s;
}

/* False also if the sd of one of them is not known. */
static bool is_close(const struct sample_size *s, const struct sample_size *whole)
{
	double sd_off = fabs(s->blocks_sd_ns - whole->blocks_sd_ns);
	double outliers_off = fabs(s->blocks_outliers - whole->blocks_outliers);

	return sd_off <= CLOSE_SD * whole->blocks_sd_ns &&
	       outliers_off <= fmax(CLOSE_SHARE, 1 / (double)s->n);
}

int sample_sizes_find(struct sample_sizes *ret, const struct discarding *d,
	const struct sample *samples, size_t n, bool et, struct error *err)
{
	const struct clock_discarding *clock = et ? &d->et : &d->pt;
	struct sample_sizes sizes = {};
	bool close = true;

	if (n == 0)
		return error_say(err, -EINVAL, "the run has no samples");
	list_sample_sizes(&sizes, n);
	for (size_t i = 0; i < sizes.n; i++) {
		struct sample_size *s = &sizes.rows[i];
		size_t size = s->n, blocks = n / size;

		*s = size_of_blocks(d, samples, blocks, size, et);
		s->close = i == 0 || is_close(s, &sizes.rows[0]);
		s->judged = i == 0 || blocks > 1;
		close = close && (s->close || !s->judged);
		if (close && s->judged)
			sizes.suggested = size;
	}

	for (size_t i = 0; i < N_HALF_WIDTHS; i++) {
		sizes.needed[i] = NAN;
		if (clock->kept.n < 2)
			continue;
		sizes.needed[i] = samples_needed_for(sample_size_half_widths[i], clock);
		if (sample_size_half_widths[i] * clock->kept.mean_ns <= clock->interval.bias_ns)
			sizes.step_ns = clock->interval.step_ns;
	}
	*ret = sizes;
	return 0;
}

/* The PTs of the samples that are not L-samples, in order; without those that had a neighbour, if a
 * quarter had none. INC hardly branches: else all count. */
static size_t other_pts(const struct analysis *analysis, int64_t *pts)
{
	int64_t limit_ppm = run_neighbour_limit_ppm(&analysis->run);
	size_t l = 0, n = 0, clean = 0;
	bool discards;

	for (size_t i = 0; i < analysis->n_samples; i++)
		clean += !sample_has_neighbour(&analysis->samples[i], limit_ppm);
	discards = 4 * clean >= analysis->n_samples;
	for (size_t i = 0; i < analysis->n_samples; i++) {
		const struct sample *sample = &analysis->samples[i];

		if (l < analysis->n_l_samples && analysis->l_samples[l] == sample->n)
			l++;
		else if (!discards || !sample_has_neighbour(sample, limit_ppm))
			pts[n++] = sample->pt_ns;
	}
	return n;
}

/* The mean of the means of all disjoint blocks of this size, and their variance. */
static void find_block_variance(
	const int64_t *pts, size_t blocks, size_t size, double *ret_mean, double *ret_variance)
{
	double mean = 0, squares = 0; /* Welford's */

	for (size_t b = 0; b < blocks; b++) {
		double block = summary_of(pts + b * size, size).mean_ns, off = block - mean;

		mean += off / (double)(b + 1);
		squares += off * (block - mean);
	}
	*ret_mean = mean;
	*ret_variance = squares / (double)(blocks - 1);
}

/* The mean square of the differences of neighbours. */
static double mean_square_step(const int64_t *pts, size_t n)
{
	double steps = 0;

	for (size_t p = 1; p < n; p++)
		steps += pow((double)(pts[p] - pts[p - 1]), 2);
	return steps / (double)(n - 1);
}

/* Samples in turn are neighbours, and each pair of them differs by what changes from one sample to
 * the next. Separate runs are blocks, any two of which differ by what changes within the run, too.
 * There are few blocks, and chance may make them seem more alike: they resolve no more than
 * neighbours. */
void mdd_find(struct mdd ret[N_MDD], const struct analysis *analysis)
{
	_cleanup_(freep) int64_t *pts = xcalloc(analysis->n_samples, sizeof(*pts));
	size_t n = other_pts(analysis, pts);
	int64_t step_ns = rounding_step(pts, n, NULL, 0, analysis->run.resolution_ns);
	struct rounding rounding = rounding_of(pts, n, step_ns);
	double bias = 2 * rounding.bias_ns;

	for (size_t i = 0; i < N_MDD; i++) {
		size_t size = (size_t)mdd_sizes[i], blocks = n / size;
		double least = rounding.variance * (double)n / (double)size; /* of a block's mean */
		double mean, of_blocks, of_pairs, pairs, separate;

		ret[i] = (struct mdd){};
		if (blocks < LEAST_BLOCKS)
			continue;
		find_block_variance(pts, blocks, size, &mean, &of_blocks);
		if (mean <= 0)
			continue;

		of_pairs = fmax(mean_square_step(pts, blocks * size) / (double)size, 2 * least);
		pairs = detectable_difference(pairs_freedom(size), 0.05) * sqrt(of_pairs) + bias;
		of_blocks = 2 * fmax(of_blocks, least);
		separate = detectable_difference((double)size - 1, 0.05) * sqrt(of_blocks) + bias;
		ret[i] = (struct mdd){
			.samples = (int64_t)size,
			.interleaved = pairs / mean,
			.separate = fmax(pairs, separate) / mean,
		};
	}
}

/* As a duet is judged: within each starting order, which may favour one of the two. */
void mdd_add_duet(struct mdd rows[N_MDD], const double *log_ratios, size_t n)
{
	double sums[2] = {}, squares = 0;

	if (n < LEAST_LOG_RATIOS)
		return;
	for (size_t i = 0; i < n; i++)
		sums[i % 2] += log_ratios[i];
	for (size_t i = 0; i < n; i++)
		squares += pow(log_ratios[i] - sums[i % 2] / (double)((n + 1 - i % 2) / 2), 2);
	for (struct mdd *row = rows; row < rows + N_MDD; row++)
		if (row->samples > 0)
			row->duet = expm1(detectable_difference((double)row->samples - 2, 0.05) *
					  sqrt(squares / (double)(n - 2) / (double)row->samples));
}

/* Ranks are not misled by single long samples. Of normal values, the correlation r has the rank
 * correlation 6/pi asin(r/2) (Pearson 1907). */
struct correlation correlation_find(const struct analysis *analysis)
{
	_cleanup_(freep) int64_t *pts = xcalloc(analysis->n_samples, sizeof(*pts));
	_cleanup_(freep) int64_t *sorted = xcalloc(analysis->n_samples, sizeof(*sorted));
	size_t n = other_pts(analysis, pts);

	memcpy(sorted, pts, n * sizeof(*sorted));
	sort_ascending(sorted, n);
	if (n < LEAST_CORRELATED)
		return (struct correlation){};
	return (struct correlation){
		fmax(0, 2 * sin(M_PI / 6 * neighbours_alike(pts, sorted, n))), (int64_t)n};
}

static bool runs_overlap(const struct run_mean *a, const struct run_mean *b)
{
	return a->started_ns <= b->ended_ns && b->started_ns <= a->ended_ns;
}

/* Whether a run is one that is compared, or ran at the same time as one. */
static bool is_among(const struct run_mean *run, const struct run_mean *compared, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (run->run == compared[i].run || runs_overlap(run, &compared[i]))
			return true;
	return false;
}

/* What the runs of one program add to a variation. */
struct program_runs {
	size_t n;
	double squares;         /* of their means about the mean of these, relative to it */
	double sum_of_inverses; /* of their numbers of samples */
};

/* Of fewer than two runs: nothing. */
static struct program_runs add_up_runs(
	const struct run_means *runs, const struct run_mean *without, size_t n_without)
{
	const struct run_mean *last = NULL;
	struct program_runs sums = {};
	double mean = 0; /* Welford's */

	for (size_t i = 0; i < runs->n; i++) {
		const struct run_mean *run = &runs->items[i];
		double off = run->mean_ns - mean;

		if (run->n_samples < LEAST_SAMPLES || is_among(run, without, n_without))
			continue;
		/* Runs that were measured in turn are one state of the machine: the first
		 * counts. */
		if (last && runs_overlap(run, last))
			continue;
		last = run;
		mean += off / (double)++sums.n;
		sums.squares += off * (run->mean_ns - mean);
		sums.sum_of_inverses += 1 / (double)run->n_samples;
	}
	if (sums.n < 2 || mean <= 0)
		return (struct program_runs){};
	sums.squares /= mean * mean;
	return sums;
}

struct run_variation run_variation_find(const struct run_means *a, const struct run_means *b,
	const struct run_mean *without, size_t n_without)
{
	const struct run_means *programs[] = {a, b};
	struct run_variation v = {};
	double squares = 0, inverses = 0;

	for (size_t p = 0; p < ELEMENTS(programs) && programs[p]; p++) {
		struct program_runs runs = add_up_runs(programs[p], without, n_without);

		squares += runs.squares;
		inverses += runs.sum_of_inverses;
		v.n_runs += runs.n;
		v.df += runs.n > 0 ? (double)(runs.n - 1) : 0;
	}
	if (v.df < LEAST_FREEDOM)
		return (struct run_variation){};
	v.sd = sqrt(squares / v.df);
	v.n_samples = (double)v.n_runs / inverses;
	return v;
}
