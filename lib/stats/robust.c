/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Location and width of the bulk of an array: see robust.h. */
#include "lib/stats/robust.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void sort_ascending(int64_t *values, size_t n)
{
	if (n > 1)
		qsort(values, n, sizeof(*values), by_value);
}

double quantile_of(const int64_t *ascending, size_t n, double p)
{
	double at = p * (double)(n - 1);
	size_t low = (size_t)at;
	size_t high = low + 1 < n ? low + 1 : low;

	return (double)ascending[low] + (at - (double)low) * (double)(ascending[high] - ascending[low]);
}

double median_of(const int64_t *values, size_t n)
{
	_cleanup_(freep) int64_t *sorted = n > 0 ? xreallocarray(NULL, n, sizeof(*sorted)) : NULL;

	if (!sorted)
		return NAN;
	memcpy(sorted, values, n * sizeof(*sorted));
	sort_ascending(sorted, n);
	return quantile_of(sorted, n, 0.5);
}

double grouped_median_of(const int64_t *ascending, size_t n, int64_t quantum)
{
	int64_t median = ascending[n / 2];
	size_t below = 0, equal = 0;

	for (size_t i = 0; i < n; i++) {
		below += ascending[i] < median;
		equal += ascending[i] == median;
	}
	return (double)median + (double)quantum * (((double)n / 2 - (double)below) / (double)equal - 0.5);
}

struct bounds median_interval(const int64_t *ascending, size_t n, double level)
{
	size_t outside = 0; /* values that may be left out at each end */

	while (outside < n / 2 && gsl_cdf_binomial_P((unsigned int)outside, 0.5, (unsigned int)n) <= (1 - level) / 2)
		outside++;
	if (outside == 0)
		return (struct bounds){NAN, NAN};
	return (struct bounds){(double)ascending[outside - 1], (double)ascending[n - outside]};
}

struct shorth shorth_of(const int64_t *ascending, size_t n)
{
	const double half_of_normal = 0.674489750196082; /* the normal quantile of 3/4 */
	size_t reach = n / 2, best = 0; /* an interval from i to i + reach holds more than half */
	int64_t width;

	for (size_t i = 1; i + reach < n; i++)
		if (ascending[i + reach] - ascending[i] < ascending[best + reach] - ascending[best])
			best = i;
	width = ascending[best + reach] - ascending[best];
	return (struct shorth){
		.middle = (double)ascending[best] + (double)width / 2,
		.sd = (double)width / 2 / half_of_normal,
	};
}
