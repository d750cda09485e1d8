/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample or warm-up of the sampling loop: observed, checked, stored. Only for sampling.c. */
#pragma once

#include "lib/run/sampling.h"

/* Errors as for sampling_run. 1: this process was stopped meanwhile (^Z), so the times mean nothing; take the sample
 * again. */
int sample_take(const struct sampling_plan *plan, struct sampling *s, struct error *err);
