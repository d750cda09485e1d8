/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of --perf, in the samples that count for PT. */
#pragma once

#include "measure/session.h"

#include <jansson.h>

/* {"cycles": {"mean", "sd", "values": [of each sample, null where it was not counted]}}; NULL: no memory. */
json_t *perf_json(const struct session *session, const struct task *task);

/* "cycles 1.234 G, instructions 2.345 G (1.90 per cycle)"; the caller frees it. NULL: nothing was counted, or no
 * memory. */
char *perf_text(const struct session *session, const struct task *task);
