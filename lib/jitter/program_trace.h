/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's trace of one CPU during the samples of a program that is pinned to it, and how what
 * it found is shown (emp-measure --trace). */
#pragma once

#include "lib/jitter/preemptions.h"
#include "lib/jitter/trace.h"
#include "lib/record/run.h"

#include <jansson.h>

struct program_trace {
	int cpu;
	struct trace *trace;
	struct jitter_sources sources;
	int64_t event_cost_ns; /* the time that recording one event takes; 0: not known */
};

/* Starts recording. The error says what is missing: root, tracefs. */
int program_trace_open(struct program_trace **ret, int cpu, struct error *err);
void program_trace_free(struct program_trace *trace);
DEFINE_FREEP(program_trace)

/* What was taken since trace_forget(), before the sample, from the program with this first
 * process. */
int program_trace_take(
	struct program_trace *trace, pid_t program, struct preemptions *ret, struct error *err);

/* What was found, by sample: {"cpu", "event_cost_ns", "samples": [{"sample", "taken_ns", "events",
 * "events_lost", "chain_breaks", "sources": [{"name", "kind", "unit", "slices", "total_ns",
 * "longest_ns"}]}]}. */
json_t *program_trace_json(
	const struct program_trace *trace, const struct preemptions *preemptions, size_t n);
/* A table of the sources, a line for each sample that stands out, and what tracing took. */
void program_trace_print(const struct program_trace *trace, const struct preemptions *preemptions,
	size_t n, const struct sample *samples, size_t n_samples);
/* Samples that are more than three robust standard deviations, and a thousandth, longer than the
 * median ET, the longest first: their indices, at most `most` of them. *ret_median_ns: that ET. */
size_t trace_outstanding(
	const struct sample *samples, size_t n, size_t *ret, size_t most, double *ret_median_ns);
