/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Summary statistics: see summary.h. */
#include "lib/stats/summary.h"

#include "lib/stats/robust.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* Sum of squares about the mean: two passes, because ETs of hours in ns leave a double few digits. */
static double squares(const int64_t *values, size_t n, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += ((double)values[i] - mean) * ((double)values[i] - mean);
	return sum;
}

struct summary summary_of(const int64_t *values, size_t n)
{
	struct summary s = {.n = n};
	double sum = 0;

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
	s.sd_ns = n < 2 ? 0 : sqrt(squares(values, n, s.mean_ns) / (double)(n - 1));
	s.relative_error = s.mean_ns > 0 ? s.sd_ns / s.mean_ns : 0;
	return s;
}

double summary_interval(const struct summary *s, double level)
{
	if (s->n < 2)
		return NAN;
	return gsl_cdf_tdist_Pinv(0.5 + level / 2, (double)(s->n - 1)) * s->sd_ns / sqrt((double)s->n);
}
