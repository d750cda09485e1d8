/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gaps in a tail that the tail itself does not explain: see spacings.h.
 *
 * With D_i = i (x_i - x_i+1), x_1 the largest value, the statistic is D_i over the mean of the next m, which
 * is F(2, 2m) distributed for an exponential tail. Ties of values recorded in coarse steps are spread evenly
 * over one step first, or their gaps would be zero and any other would look long in comparison. */
#include "lib/stats/spacings.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"

#include <errno.h>
#include <math.h>

/* How many gaps each is compared with: enough for a mean, few enough to be in the same tail. */
static size_t comparison(size_t n)
{
	size_t m = (size_t)lround(sqrt((double)n));

	if (m < 6)
		m = 6;
	return m < n - 2 ? m : n - 2;
}

/* The value of rank i (0 = outermost) as a distance that grows outwards. */
static double ranked(const int64_t *ascending, size_t n, enum tail tail, size_t i)
{
	return tail == TAIL_HIGH ? (double)ascending[n - 1 - i] : -(double)ascending[i];
}

/* Distances by rank, with ties spread over one quantum. */
static void spread(double *into, const int64_t *ascending, size_t n, enum tail tail, int64_t quantum)
{
	for (size_t i = 0; i < n;) {
		double value = ranked(ascending, n, tail, i);
		size_t end = i;

		while (end < n && ranked(ascending, n, tail, end) == value)
			end++;
		for (size_t j = i; j < end; j++)
			into[j] = value +
				  (double)quantum * (0.5 - ((double)(j - i) + 0.5) / (double)(end - i));
		i = end;
	}
}

/* The point that F(2, 2m) exceeds with probability p, in closed form. */
static double f_upper(double p, size_t m)
{
	return (double)m * (pow(p, -1 / (double)m) - 1);
}

int spacings_gaps(const int64_t *ascending, size_t n, enum tail tail, int64_t quantum, double alpha,
	struct gap **ret, size_t *ret_n)
{
	_cleanup_(freep) double *x = xreallocarray(NULL, n + 1, sizeof(*x));
	_cleanup_(freep) double *sum = xreallocarray(NULL, n + 1, sizeof(*sum)); /* of D_1 to D_i */
	_cleanup_(freep) struct gap *gaps = xreallocarray(NULL, n / 2 + 1, sizeof(*gaps));
	size_t found = 0;

	spread(x, ascending, n, tail, quantum);
	sum[0] = 0;
	for (size_t i = 1; i < n; i++)
		sum[i] = sum[i - 1] + (double)i * (x[i - 1] - x[i]);
	for (size_t i = n / 2; i >= 1 && n >= 4; i--) {
		double size = ranked(ascending, n, tail, i - 1) - ranked(ascending, n, tail, i);
		size_t m = comparison(n) < n - 1 - i ? comparison(n) : n - 1 - i;
		double longest = f_upper(alpha / (double)n, m) * (sum[i + m] - sum[i]) / (double)m /
				 (double)i;

		gaps[found++] = (struct gap){.beyond = i, .size = size - (double)quantum, .longest = longest};
	}
	*ret = TAKE(gaps);
	*ret_n = found;
	return 0;
}

int64_t quantum_of(const int64_t *values, size_t n)
{
	int64_t quantum = 0;

	for (size_t i = 0; i < n && quantum != 1; i++)
		for (int64_t a = quantum, b = values[i]; b != 0; quantum = a) {
			int64_t rest = a % b;

			a = b;
			b = rest;
		}
	return quantum > 0 ? quantum : 1;
}
