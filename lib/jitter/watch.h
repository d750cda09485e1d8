/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taking jitter: what took the CPU of a program from it in each of its samples (emp-measure
 * --trace), and what takes CPUs from a thread that wants all of them (emp-calibrate jitter). */
#pragma once

#include "lib/jitter/jitter_internal.h"
#include "lib/run/sampling.h"

/* The kernel's trace of one CPU during the samples of a program that is pinned to it, and what took
 * the CPU from the program: interrupts while it runs, and other tasks while it is ready to run,
 * that is, preempted or just forked. Whatever runs while the program waits for something takes
 * nothing from it. */

/* What one source took. */
struct preemption {
	uint32_t source; /* of the jitter_sources */
	int64_t slices, total_ns, longest_ns;
};

/* What was taken in one sample. */
struct preemptions {
	struct preemption *items; /* the largest total first */
	size_t n;
	int64_t total_ns;
	int64_t events, lost, broken; /* as in struct jitter_cpu */
};

void preemptions_clear(struct preemptions *preemptions);

/* Finds them in events. */
struct preemption_finder {
	struct intervals intervals;
	pid_t program;         /* all its threads are this one to the intervals */
	struct keymap threads; /* of the program: 1 if ready */
	size_t n_ready;
	bool running;
	struct preemptions found;
};

/* `program`: its first process. What it forks belongs to it. */
void preemption_finder_begin(
	struct preemption_finder *finder, pid_t program, struct jitter_sources *sources);
void preemption_finder_add(
	struct preemption_finder *finder, const struct trace_event *event, int64_t at_ns);
void preemption_finder_clear(struct preemption_finder *finder);

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

/* Watching CPUs: on each a thread that wants all of it, reads the processor's counter in a loop and
 * keeps each gap between two readings that is over the threshold, with whether the kernel ran in it
 * (lib/jitter/sampler.h); the kernel's trace of the same CPUs; and both put together after each
 * round. */

struct watch_request {
	const char *db; /* NULL: the user's book */
	const int *cpus;
	size_t n_cpus;
	int64_t observe_ns;
	int64_t threshold_ns; /* 0: ten times the smallest gap */
	int64_t buffer_bytes; /* of the trace, for each CPU */
	const char *keep;     /* a file for the trace; NULL: none */
	bool mono_raw;        /* the clock of the trace, where it cannot be the counter itself */
	FILE *screen;         /* says when it will end */
	bool quiet;           /* no progress */
};

/* Watches them, until the time is over or a signal comes, and stores a run: all of it twice a
 * minute, and at the end, also of one that failed. The session is RUN_SESSION_NEW, and *run {}; the
 * caller clears both, also after a failure. */
int watch_run(const struct watch_request *request, struct run_session *session, struct run *run,
	struct error *err);
