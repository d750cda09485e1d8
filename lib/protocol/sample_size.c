/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many samples would have been enough: see sample_size.h. The papers halve 800 down to 100 and continue
 * with 40, 30, 20 and 10. They choose the size by eye; CLOSE_SD and CLOSE_SHARE reproduce their choice. */
#include "lib/protocol/sample_size.h"

#include "lib/base/xalloc.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

static const double CLOSE_SD = 0.10, CLOSE_SHARE = 0.025;

enum { LEAST_HALF = 60, MOST_SIZES = 40 };

static size_t choose_sizes(size_t n, size_t *sizes)
{
	static const size_t last[] = {40, 30, 20, 10};
	size_t count = 0;

	for (size_t size = n; size > LEAST_HALF && count < MOST_SIZES - ELEMENTS(last); size /= 2)
		sizes[count++] = size;
	if (count == 0)
		sizes[count++] = n;
	for (size_t i = 0; i < ELEMENTS(last); i++)
		if (last[i] < n)
			sizes[count++] = last[i];
	return count;
}

static int64_t time_of(const struct sample *s, bool et)
{
	return et ? s->et_ns : s->pt_ns;
}

/* A block of n samples, discarded from as if it were the whole run. scratch has room for two times n. */
static struct sample_size block_of(
	const struct sample *samples, const bool *out, size_t n, bool et, int64_t *scratch)
{
	int64_t *times = scratch, *kept = scratch + n;
	size_t left = 0, n_kept = 0;
	struct summary s;

	for (size_t i = 0; i < n; i++)
		if (!out || !out[i])
			times[left++] = time_of(&samples[i], et);
	s = summary_of(times, left);
	for (size_t i = 0; i < left; i++)
		if (!beyond_two_sd(&s, times[i]))
			kept[n_kept++] = times[i];
	s = summary_of(kept, n_kept);
	return (struct sample_size){
		.n = n,
		.by_cutoff = n - left,
		.by_two_sd = left - n_kept,
		.mean_ns = s.mean_ns,
		.sd_ns = s.sd_ns,
	};
}

static double outlier_share(const struct sample_size *s)
{
	return (double)(s->by_cutoff + s->by_two_sd) / (double)s->n;
}

/* The first block is the row of the papers' tables. One block says little, above all of its sd, which has a sampling
 * error of 24 % for ten samples: whether the size is enough is judged by all disjoint blocks of it. */
static struct sample_size size_of(
	const struct sample *samples, const bool *out, size_t n, size_t size, bool et, int64_t *scratch)
{
	struct sample_size row = block_of(samples, out, size, et, scratch);
	double variance = 0, outliers = 0;

	row.blocks = n / size;
	for (size_t i = 0; i < row.blocks; i++) {
		size_t at = i * size;
		struct sample_size block = block_of(&samples[at], out ? &out[at] : NULL, size, et, scratch);

		variance += block.sd_ns * block.sd_ns / (double)row.blocks;
		outliers += outlier_share(&block) / (double)row.blocks;
	}
	row.blocks_sd_ns = sqrt(variance);
	row.blocks_outliers = outliers;
	return row;
}

static void suggest(struct sample_sizes *sizes)
{
	const struct sample_size *whole = &sizes->rows[0];
	bool close = true;

	for (size_t i = 0; i < sizes->n; i++) {
		struct sample_size *s = &sizes->rows[i];

		s->close = fabs(s->blocks_sd_ns - whole->blocks_sd_ns) <= CLOSE_SD * whole->blocks_sd_ns &&
			   fabs(s->blocks_outliers - whole->blocks_outliers) <=
				   fmax(CLOSE_SHARE, 1 / (double)s->n);
		s->judged = i == 0 || s->blocks > 1;
		close = close && (s->close || !s->judged);
		if (close && s->judged)
			sizes->suggested = s->n;
	}
}

/* So many samples give an interval of that half width, if they are like those of the run and as much alike. */
static double needed_for(double half_width, const struct clock_discarding *c)
{
	double inflation = (double)c->kept.n / c->interval.effective_n, cv = c->kept.relative_error;
	double n = inflation + 1;

	for (int i = 0; i < 60; i++) { /* n grows, and t falls with it: steps in between */
		double t = gsl_cdf_tdist_Pinv(0.975, fmax(1, n / inflation - 1));

		n = (n + fmax(t * t * cv * cv / half_width / half_width * inflation, inflation + 1)) / 2;
	}
	return ceil(n - 1e-6);
}

const double sample_size_half_widths[N_HALF_WIDTHS] = {0.02, 0.01, 0.005, 0.001};

int sample_sizes_find(struct sample_sizes *ret, const struct discarding *d, const struct sample *samples,
	size_t n, bool et, struct error *err)
{
	const struct clock_discarding *clock = et ? &d->et : &d->pt;
	_cleanup_(freep) int64_t *scratch = xreallocarray(NULL, 2 * n + 1, sizeof(*scratch));
	_cleanup_(sample_sizes_clear) struct sample_sizes sizes = {};
	size_t chosen[MOST_SIZES];

	if (n == 0)
		return error_say(err, -EINVAL, "the run has no samples");
	sizes.n = choose_sizes(n, chosen);
	sizes.rows = xcalloc(sizes.n, sizeof(*sizes.rows));
	for (size_t i = 0; i < sizes.n; i++)
		sizes.rows[i] = size_of(samples, d->out, n, chosen[i], et, scratch);
	for (size_t i = 0; i < N_HALF_WIDTHS; i++)
		sizes.needed[i] = clock->kept.n > 1 ? needed_for(sample_size_half_widths[i], clock) : NAN;
	suggest(&sizes);
	*ret = TAKE_STRUCT(sizes);
	return 0;
}

void sample_sizes_clear(struct sample_sizes *sizes)
{
	free(sizes->rows);
	*sizes = (struct sample_sizes){};
}
