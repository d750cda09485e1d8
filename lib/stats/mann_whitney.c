/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The test of Mann and Whitney: see mann_whitney.h. */
#include "lib/stats/mann_whitney.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>

enum { EXACT_MAX = 40 }; /* n_a + n_b up to which all permutations are counted */

struct ranked {
	int64_t value;
	bool of_b;
	size_t twice_rank; /* tied values share their mean rank, which may be a half */
};

static int by_value(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	return (a->value > b->value) - (a->value < b->value);
}

/* The tie term: t³ - t, summed over groups of t equal values. */
static double rank_all(struct ranked *all, size_t n)
{
	double ties = 0;

	qsort(all, n, sizeof(*all), by_value);
	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && all[end].value == all[i].value; end++)
			;
		t = (double)(end - i);
		ties += t * t * t - t;
		for (size_t k = i; k < end; k++)
			all[k].twice_rank = i + 1 + end;
	}
	return ties;
}

/* In how many ways n_b of the ranks give each sum: the ranks are taken one by one (Streitberg & Röhmel 1986). The share
 * of those whose sum is as far from the expected one as `twice_sum`. */
static int exact(const struct ranked *all, size_t n, size_t n_b, size_t twice_sum, double *ret)
{
	size_t width = n * (n + 1) + 1, expected = n_b * (n + 1);
	size_t off = twice_sum > expected ? twice_sum - expected : expected - twice_sum;
	_cleanup_(freep) double *ways = xcalloc(
		(n_b + 1) * width, sizeof(*ways)); /* rows: number of values of b */
	double as_far = 0, total = 0;

	ways[0] = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = n_b; k >= 1; k--)
			for (size_t sum = width; sum-- > all[i].twice_rank;)
				ways[k * width + sum] += ways[(k - 1) * width + sum - all[i].twice_rank];
	for (size_t sum = 0; sum < width; sum++) {
		total += ways[n_b * width + sum];
		if (sum + off <= expected || sum >= expected + off)
			as_far += ways[n_b * width + sum];
	}
	*ret = as_far / total;
	return 0;
}

/* Normal, corrected for ties and continuity (Lehmann 1975). */
static double approximate(double u, double n_a, double n_b, double ties)
{
	double n = n_a + n_b, sd = sqrt(n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1))));
	double off = fmax(0, fabs(u - n_a * n_b / 2) - 0.5);

	return sd > 0 ? fmin(1, 2 * gsl_cdf_ugaussian_Q(off / sd)) : 1;
}

int mann_whitney(const int64_t *a, size_t n_a, const int64_t *b, size_t n_b, double *ret_u, double *ret_p)
{
	size_t n = n_a + n_b, twice_sum = 0;
	_cleanup_(freep) struct ranked *all = xcalloc(n, sizeof(*all));
	double ties;

	for (size_t i = 0; i < n; i++)
		all[i] = (struct ranked){.value = i < n_a ? a[i] : b[i - n_a], .of_b = i >= n_a};
	ties = rank_all(all, n);
	for (size_t i = 0; i < n; i++)
		twice_sum += all[i].of_b ? all[i].twice_rank : 0;
	*ret_u = ((double)twice_sum - (double)n_b * (double)(n_b + 1)) / 2;
	if (n <= EXACT_MAX)
		return exact(all, n, n_b, twice_sum, ret_p);
	*ret_p = approximate(*ret_u, (double)n_a, (double)n_b, ties);
	return 0;
}
