/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The division of a series into levels with the least sum of squares: PELT (Killick, Fearnhead &
 * Eckley 2012). It proposes where levels may begin; lib/trend/regression.h decides. */
#pragma once

#include "lib/base/base.h"

/* Where levels of `least` or more of values[n] begin, after the first, if each level costs
 * `penalty`: ret[n], ascending. Returns how many. */
size_t division_best(const double *values, size_t n, size_t least, double penalty, size_t *ret);
