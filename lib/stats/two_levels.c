/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two levels in a set of values: see two_levels.h. Width is measured between the first and the last decile, so that
 * up to a tenth of outliers on either side of a level does not hide it. */
#include "lib/stats/two_levels.h"

#include "lib/stats/robust.h"

#include <math.h>

static double width(const int64_t *ascending, size_t n)
{
	const double deciles_of_normal = 2.563103131089201; /* twice the normal quantile of 0.9 */

	return (quantile_of(ascending, n, 0.9) - quantile_of(ascending, n, 0.1)) / deciles_of_normal;
}

/* Outliers do not say where the levels part: the widest gap between the medians does. */
static size_t part(const int64_t *ascending, const struct two_levels *levels, size_t n)
{
	size_t at = levels->n_low;

	for (size_t i = 1; i < n; i++)
		if ((double)ascending[i - 1] >= levels->low && (double)ascending[i] <= levels->high &&
			ascending[i] - ascending[i - 1] > ascending[at] - ascending[at - 1])
			at = i;
	return at;
}

struct two_levels two_levels_of(const int64_t *ascending, size_t n, size_t least, int64_t quantum)
{
	struct two_levels best = {};

	for (size_t k = least > 0 ? least : 1; k + least <= n && k < n; k++) {
		struct two_levels at = {.n_low = k,
			.low = quantile_of(ascending, k, 0.5),
			.high = quantile_of(ascending + k, n - k, 0.5)};
		double sd = fmax(width(ascending, k), width(ascending + k, n - k));

		at.apart = (at.high - at.low) / fmax(sd, (double)quantum);
		if (best.n_low == 0 || at.apart > best.apart)
			best = at;
	}
	if (best.n_low > 0)
		best.n_low = part(ascending, &best, n);
	return best;
}
