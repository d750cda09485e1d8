/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of --trace: who took the CPU from the program, in all samples and in those that stand out. */
#pragma once

#include "measure/session.h"

#include <jansson.h>

/* {"cpu", "event_cost_ns", "samples": [{"sample", "taken_ns", "events", "events_lost", "chain_breaks", "sources": [{"name", "kind",
 * "unit", "slices", "total_ns", "longest_ns"}]}]}; NULL: no memory. */
json_t *trace_json(const struct session *session, const struct task *task);

/* A table of the sources, a line for each sample that stands out, and what tracing took. */
int trace_print(const struct session *session, const struct task *task, struct error *err);

/* Samples that are more than three robust standard deviations, and a thousandth, longer than the median ET, the longest first: their
 * indices, at most `most` of them. *ret_median_ns: that ET. */
size_t trace_outstanding(
	const struct sample *samples, size_t n, size_t *ret, size_t most, double *ret_median_ns);
