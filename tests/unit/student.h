/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Half the width of Student's 95 % interval of a mean, with which other intervals are compared.
 * NAN: n < 2. */
#pragma once

#include "lib/stats/summary.h"

#include <gsl/gsl_cdf.h>

static inline double student_half(const struct summary *s)
{
	if (s->n < 2)
		return NAN;
	return gsl_cdf_tdist_Pinv(0.975, (double)(s->n - 1)) * s->sd_ns / sqrt((double)s->n);
}
