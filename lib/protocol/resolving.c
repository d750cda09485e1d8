/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine can resolve: see resolving.h. */
#include "lib/protocol/resolving.h"

#include "lib/base/xalloc.h"
#include "lib/stats/robust.h"
#include "lib/stats/summary.h"
#include "lib/stats/trend.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

enum { LEAST_BLOCKS = 5, LEAST_CORRELATED = 40 };

/* The PTs of the samples that are not L-samples; both are in order. */
static size_t other_pts(const struct analysis *analysis, int64_t *pts)
{
	size_t l = 0, n = 0;

	for (size_t i = 0; i < analysis->n_samples; i++) {
		if (l < analysis->n_l_samples && analysis->l_samples[l] == analysis->samples[i].n)
			l++;
		else
			pts[n++] = analysis->samples[i].pt_ns;
	}
	return n;
}

/* Samples in turn are neighbours, and each pair of them differs by what changes from one sample to the next. Separate runs are blocks,
 * any two of which differ by what changes within the run, too; chance may make them seem more alike. */
static struct resolving resolve(const int64_t *pts, size_t blocks, size_t size)
{
	double freedom = (double)size - 1, mean = 0, squares = 0, steps = 0; /* Welford's */
	double k = gsl_cdf_tdist_Pinv(0.975, freedom) + gsl_cdf_tdist_Pinv(0.8, freedom), separate, pairs;

	for (size_t i = 0; i < blocks; i++) {
		double block = summary_of(pts + i * size, size).mean_ns, off = block - mean;

		mean += off / (double)(i + 1);
		squares += off * (block - mean);
	}
	if (mean <= 0)
		return (struct resolving){};
	for (size_t i = 1; i < blocks * size; i++)
		steps += pow((double)(pts[i] - pts[i - 1]), 2);
	pairs = steps / (double)(blocks * size - 1) / (double)size;
	separate = k * sqrt(2 * squares / (double)(blocks - 1)) / mean;
	return (struct resolving){
		.samples = (int64_t)size,
		.interleaved = fmin(k * sqrt(pairs) / mean, separate),
		.separate = separate,
	};
}

int resolving_find(struct resolving ret[N_RESOLVING], const struct analysis *analysis)
{
	_cleanup_(freep) int64_t *pts = xreallocarray(NULL, analysis->n_samples + 1, sizeof(*pts));
	size_t n;

	n = other_pts(analysis, pts);
	for (size_t i = 0; i < N_RESOLVING; i++) {
		size_t blocks = n / (size_t)resolving_sizes[i];

		ret[i] = (struct resolving){};
		if (blocks >= LEAST_BLOCKS)
			ret[i] = resolve(pts, blocks, (size_t)resolving_sizes[i]);
	}
	return 0;
}

/* As a duet is judged: within each starting order, which may favour one of the two. */
void resolving_add_duet(struct resolving rows[N_RESOLVING], const double *log_ratios, size_t n)
{
	double sums[2] = {}, squares = 0;

	if (n < 6)
		return;
	for (size_t i = 0; i < n; i++)
		sums[i % 2] += log_ratios[i];
	for (size_t i = 0; i < n; i++)
		squares += pow(log_ratios[i] - sums[i % 2] / (double)((n + 1 - i % 2) / 2), 2);
	for (size_t i = 0; i < N_RESOLVING; i++) {
		double freedom = (double)rows[i].samples - 2;

		if (rows[i].samples > 0)
			rows[i].duet = expm1((gsl_cdf_tdist_Pinv(0.975, freedom) +
						     gsl_cdf_tdist_Pinv(0.8, freedom)) *
					     sqrt(squares / (double)(n - 2) / (double)rows[i].samples));
	}
}

/* Ranks are not misled by single long samples. Of normal values, the correlation r has the rank correlation
 * 6/pi asin(r/2) (Pearson 1907). */
int correlation_find(struct correlation *ret, const struct analysis *analysis)
{
	_cleanup_(freep) int64_t *pts = xreallocarray(NULL, analysis->n_samples + 1, sizeof(*pts));
	_cleanup_(freep) int64_t *sorted = xreallocarray(NULL, analysis->n_samples + 1, sizeof(*sorted));
	size_t n;

	n = other_pts(analysis, pts);
	memcpy(sorted, pts, n * sizeof(*sorted));
	sort_ascending(sorted, n);
	*ret = (struct correlation){};
	if (n >= LEAST_CORRELATED)
		*ret = (struct correlation){
			fmax(0, 2 * sin(M_PI / 6 * neighbours_alike(pts, sorted, n))), (int64_t)n};
	return 0;
}

const struct resolving *resolving_for(const struct resolving rows[N_RESOLVING], size_t n)
{
	for (size_t i = N_RESOLVING; i-- > 0;)
		if (rows[i].samples > 0 && (size_t)rows[i].samples <= n)
			return &rows[i];
	return NULL;
}
