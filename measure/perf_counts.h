/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --perf counted in the samples of a program, as text and for documents. */
#pragma once

#include "measure/session.h"

/* "cycles 1.234 G, instructions 2.345 G (1.90 per cycle)": the means of what --perf counted, in the
 * samples that count for PT. The caller frees it. NULL: nothing was counted. */
char *perf_counts_text(const struct session *session, const struct task *task);

/* {"cycles": {"mean", "sd", "values": [of each sample, null where it was not counted]}}. */
json_t *perf_counts_json(const struct session *session, const struct task *task);
