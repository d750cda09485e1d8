/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The division of a series with the least sum of squares: see division.h. */
#include "lib/trend/division.h"

#include <math.h>

/* By i: the sums of the first i values, and of their squares, each less the first value. */
struct running_sums {
	double *sums, *squares;
};

/* The sum of squares about the mean of these values. */
static double division_cost(const struct running_sums *d, size_t first, size_t end)
{
	double sum = d->sums[end] - d->sums[first];

	return fmax(0, d->squares[end] - d->squares[first] - sum * sum / (double)(end - first));
}

/* The least cost of a division of the first values is found for 1, 2, … n of them. costs[end]: that
 * of the first `end` values; before[end]: where the last level of that division begins; starts:
 * where a last level may begin. */
size_t division_best(const double *values, size_t n, size_t least, double penalty, size_t *ret)
{
	_cleanup_(freep) size_t *starts = xcalloc(2 * (n + 1), sizeof(*starts));
	_cleanup_(freep) double *costs = xcalloc(3 * (n + 1), sizeof(*costs));
	struct running_sums d = {costs + n + 1, costs + 2 * (n + 1)};
	size_t *before = starts + n + 1, n_starts = 0, n_bounds = 0;

	if (n < 2 * least)
		return 0;
	for (size_t i = 0; i < n; i++) {
		double off = values[i] - values[0];

		d.sums[i + 1] = d.sums[i] + off;
		d.squares[i + 1] = d.squares[i] + off * off;
	}

	for (size_t end = 1; end < least; end++)
		costs[end] = INFINITY;
	for (size_t end = least; end <= n; end++) {
		/* where the shortest level before `end` begins */
		size_t kept = 0, last = end - least;

		if (isfinite(costs[last]))
			starts[n_starts++] = last;
		costs[end] = INFINITY;
		for (size_t i = 0; i < n_starts; i++) {
			double all = costs[starts[i]] + division_cost(&d, starts[i], end) + penalty;

			if (all < costs[end]) {
				costs[end] = all;
				before[end] = starts[i];
			}
		}
		/* A start is dropped if it is cheaper to begin another level at `last`, whatever
		 * follows (PELT). */
		for (size_t i = 0; i < n_starts; i++)
			if (last < starts[i] + least ||
				costs[starts[i]] + division_cost(&d, starts[i], last) <=
					costs[last])
				starts[kept++] = starts[i];
		n_starts = kept;
	}

	for (size_t end = before[n]; end > 0; end = before[end])
		n_bounds++;
	for (size_t end = before[n], k = n_bounds; end > 0; end = before[end])
		ret[--k] = end;
	return n_bounds;
}
