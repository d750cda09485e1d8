/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lower bounds of proportions: see proportion.h. */
#include "lib/stats/proportion.h"

#include <math.h>

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
