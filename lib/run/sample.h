/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample or warm-up of the sampling loop: observed, checked, stored. Only for sampling.c. */
#pragma once

#include "lib/run/sampling.h"

/* Errors as sampling_run. 1: this process was stopped meanwhile (^Z); the times mean nothing, and the sample is
 * to be taken again. */
int sample_take(const struct sampling_plan *plan, struct sampling *s, struct error *err);
