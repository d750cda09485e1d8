/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a clock that counts in steps hides: see rounding.h.
 *
 * Of a true time x that is rounded to y, E (y - x)² is at most (step / 2)², and it is the square of
 * the bias plus the variance of y if the noise is small beside the step. So the bias is at most
 * sqrt(step² / 4 - sd²): half a step if all values are the same, none if they scatter over two
 * values in equal parts, or more. With much noise the rounding adds step² / 12 to the variance
 * (Sheppard 1898), which the values then show. tests/bench/comparisons.c shows what intervals with
 * both cover. */
#include "lib/stats/rounding.h"

/* Values are outliers, whose noise is not that of the others, if they are further from the median
 * than this many steps and than this many sd. */
static const double MOST_STEPS = 1.5, MOST_SD = 3;

static int64_t common_step(int64_t a, int64_t b)
{
	return quantum_of((const int64_t[]){a, b}, 2);
}

/* Of times of which all are the same: the greatest step that they are a multiple of, of those that
 * clocks have. 4 ms is the kernel's tick with CONFIG_HZ=250. */
static int64_t likely_step(int64_t value_ns)
{
	static const int64_t steps_ns[] = {
		NS_PER_S, 10 * NS_PER_MS, 4 * NS_PER_MS, NS_PER_MS, 100000, 10000, 1000, 100, 10};

	for (size_t i = 0; i < ELEMENTS(steps_ns); i++)
		if (value_ns >= steps_ns[i] && value_ns % steps_ns[i] == 0)
			return steps_ns[i];
	return 1;
}

static bool are_all(const int64_t *values, size_t n, int64_t value)
{
	for (size_t i = 0; i < n; i++)
		if (values[i] != value)
			return false;
	return true;
}

int64_t rounding_step(const int64_t *a, size_t n_a, const int64_t *b, size_t n_b, int64_t known_ns)
{
	int64_t first = 0;

	if (known_ns > 1)
		return known_ns;
	if (n_a > 0)
		first = a[0];
	else if (n_b > 0)
		first = b[0];
	if (are_all(a, n_a, first) && are_all(b, n_b, first))
		return likely_step(first);
	return common_step(quantum_of(a, n_a), n_b > 0 ? quantum_of(b, n_b) : 0);
}

struct rounding rounding_of(const int64_t *values, size_t n, int64_t step_ns)
{
	_cleanup_(freep) int64_t *sorted = xcalloc(n + 1, sizeof(*sorted));
	double step = (double)step_ns, median, most, sd;
	size_t first = 0, end = n;

	if (n == 0)
		return (struct rounding){};
	memcpy(sorted, values, n * sizeof(*sorted));
	sort_ascending(sorted, n);
	median = quantile_of(sorted, n, 0.5);
	most = fmax(MOST_STEPS * step, MOST_SD * decile_sd_of(sorted, n));
	while ((double)sorted[first] < median - most)
		first++;
	while ((double)sorted[end - 1] > median + most)
		end--;
	sd = summary_of(sorted + first, end - first).sd_ns;
	return (struct rounding){
		.bias_ns = sqrt(fmax(0, step * step / 4 - sd * sd)),
		.variance = step * step / 12 / (double)n,
	};
}
