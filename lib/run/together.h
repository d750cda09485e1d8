/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample of a duet: the programs of several runs alternate, and each run gets a sample of that number. Only for
 * sampling.c. */
#pragma once

#include "lib/run/sampling.h"

/* Whether each program is due to run alone before the next sample. */
bool together_alone_is_due(const struct sampling_plan *plan, const struct sampling *s);

/* With the hooks of each run; taken again if this process was stopped meanwhile. Errors as for sampling_run. */
int together_take(const struct sampling_plan *plan, struct sampling *items, size_t n, struct error *err);
