/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Summary statistics: see summary.h. */
#include "lib/stats/summary.h"

#include <gsl/gsl_cdf.h>

static int int64_by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void sort_ascending(int64_t *values, size_t n)
{
	if (n > 1)
		qsort(values, n, sizeof(*values), int64_by_value);
}

double quantile_of(const int64_t *ascending, size_t n, double p)
{
	double at = p * (double)(n - 1);
	size_t low = (size_t)at;
	size_t high = low + 1 < n ? low + 1 : low;

	return (double)ascending[low] +
	       (at - (double)low) * (double)(ascending[high] - ascending[low]);
}

double median_of(const int64_t *values, size_t n)
{
	_cleanup_(freep) int64_t *sorted = xreallocarray(NULL, n, sizeof(*sorted));

	if (n == 0)
		return NAN;
	memcpy(sorted, values, n * sizeof(*sorted));
	sort_ascending(sorted, n);
	return quantile_of(sorted, n, 0.5);
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

struct summary summary_of(const int64_t *values, size_t n)
{
	struct summary s = {.n = n};
	double sum = 0, squares = 0;

	if (n == 0)
		return s;
	s.min_ns = s.max_ns = values[0];
	for (size_t i = 0; i < n; i++) {
		sum += (double)(values[i] - values[0]);
		if (values[i] < s.min_ns)
			s.min_ns = values[i];
		if (values[i] > s.max_ns)
			s.max_ns = values[i];
	}
	s.mean_ns = (double)values[0] + sum / (double)n;
	s.median_ns = median_of(values, n);
	/* two passes, because ETs of hours in ns leave a double few digits */
	for (size_t i = 0; i < n; i++)
		squares += ((double)values[i] - s.mean_ns) * ((double)values[i] - s.mean_ns);
	s.sd_ns = n < 2 ? 0 : sqrt(squares / (double)(n - 1));
	s.relative_error = s.mean_ns > 0 ? s.sd_ns / s.mean_ns : 0;
	return s;
}

double proportion_at_least(size_t k, size_t n)
{
	const double z = 1.6448536269514722; /* normal quantile of 0.95 */
	double cases = (double)n, p, middle, reach;

	if (n == 0)
		return 0;
	p = (double)k / cases;
	middle = p + z * z / (2 * cases);
	reach = z * sqrt(p * (1 - p) / cases + z * z / (4 * cases * cases));
	return (middle - reach) / (1 + z * z / cases);
}

void proportion_interval(size_t k, size_t n, double *ret_low, double *ret_high)
{
	double wrong = (double)k, right = (double)(n - k);

	*ret_low = k == 0 ? 0 : gsl_cdf_beta_Pinv(0.025, wrong, right + 1);
	*ret_high = k == n ? 1 : gsl_cdf_beta_Pinv(0.975, wrong + 1, right);
}

double decile_sd_of(const int64_t *ascending, size_t n)
{
	const double deciles_of_normal = 2.563103131089201; /* twice the normal quantile of 0.9 */

	return (quantile_of(ascending, n, 0.9) - quantile_of(ascending, n, 0.1)) /
	       deciles_of_normal;
}

struct two_levels two_levels_of(const int64_t *ascending, size_t n, size_t least, int64_t quantum)
{
	struct two_levels best = {};

	for (size_t k = least > 0 ? least : 1; k + least <= n && k < n; k++) {
		struct two_levels at = {.n_low = k,
			.low = quantile_of(ascending, k, 0.5),
			.high = quantile_of(ascending + k, n - k, 0.5)};
		double sd = fmax(decile_sd_of(ascending, k), decile_sd_of(ascending + k, n - k));

		at.apart = (at.high - at.low) / fmax(sd, (double)quantum);
		if (best.n_low == 0 || at.apart > best.apart)
			best = at;
	}
	/* outliers do not say where the levels part: the widest gap between the medians does */
	for (size_t i = 1; best.n_low > 0 && i < n; i++)
		if ((double)ascending[i - 1] >= best.low && (double)ascending[i] <= best.high &&
			ascending[i] - ascending[i - 1] >
				ascending[best.n_low] - ascending[best.n_low - 1])
			best.n_low = i;
	return best;
}

/* With D_i = i (x_i - x_i+1), x_1 the largest value, the statistic is D_i over the mean of the next
 * m, which is F(2, 2m) distributed for an exponential tail. Ties of values recorded in coarse steps
 * are spread evenly over one step first, or their gaps would be zero and any other would look long
 * in comparison. */

/* The value of rank i (0 = outermost) as a distance that grows outwards. */
static double ranked(const int64_t *ascending, size_t n, enum tail tail, size_t i)
{
	return tail == TAIL_HIGH ? (double)ascending[n - 1 - i] : -(double)ascending[i];
}

struct tail_gap *spacings_gaps(const int64_t *ascending, size_t n, enum tail tail, int64_t quantum,
	double alpha, size_t *ret_n)
{
	/* distances by rank */
	_cleanup_(freep) double *x = xreallocarray(NULL, n + 1, sizeof(*x));
	_cleanup_(freep) double *sum = xreallocarray(NULL, n + 1, sizeof(*sum)); /* of D_1 to D_i */
	struct tail_gap *gaps = xreallocarray(NULL, n / 2 + 1, sizeof(*gaps));
	size_t found = 0, compared = (size_t)lround(sqrt((double)n));

	for (size_t i = 0, end; i < n; i = end) { /* ties are spread over one quantum */
		double value = ranked(ascending, n, tail, i);

		for (end = i; end < n && ranked(ascending, n, tail, end) == value;)
			end++;
		for (size_t j = i; j < end; j++)
			x[j] = value + (double)quantum *
					       (0.5 - ((double)(j - i) + 0.5) / (double)(end - i));
	}
	sum[0] = 0;
	for (size_t i = 1; i < n; i++)
		sum[i] = sum[i - 1] + (double)i * (x[i - 1] - x[i]);
	/* each gap is compared with enough others for a mean, and few enough to be in the same
	 * tail */
	compared = compared < 6 ? 6 : compared;
	for (size_t i = n / 2; i >= 1 && n >= 4; i--) {
		double size = ranked(ascending, n, tail, i - 1) - ranked(ascending, n, tail, i);
		size_t m = compared < n - 1 - i ? compared : n - 1 - i;
		/* the point that F(2, 2m) exceeds with probability alpha / n, in closed form */
		double most = (double)m * (pow(alpha / (double)n, -1 / (double)m) - 1);
		double longest = most * (sum[i + m] - sum[i]) / (double)m / (double)i;

		gaps[found++] = (struct tail_gap){
			.beyond = i, .size = size - (double)quantum, .longest = longest};
	}
	*ret_n = found;
	return gaps;
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
