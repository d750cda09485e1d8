/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's trace of one CPU during the samples of a program that is pinned to it, and what took the CPU from the program: interrupts
 * while it runs, and other tasks while it is ready to run, that is, preempted or just forked. Whatever runs while the program
 * waits for something takes nothing from it. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/jitter/intervals.h"

/* What one source took. */
struct taken {
	uint32_t source; /* of the jitter_sources */
	int64_t slices, total_ns, longest_ns;
};

/* What was taken in one sample. */
struct taken_sample {
	struct taken *items; /* the largest total first */
	size_t n;
	int64_t total_ns;
	int64_t events, lost, broken; /* as in struct jitter_cpu */
};

void taken_sample_clear(struct taken_sample *sample);
/* Adds what one source took. */
void taken_sample_add(struct taken_sample *sample, const struct taken *taken);
void taken_sample_sort(struct taken_sample *sample);

/* Finds it in events. */
struct taking {
	struct intervals intervals;
	pid_t program;         /* all its threads are this one to the intervals */
	struct keymap threads; /* of the program: 1 if ready */
	size_t n_ready;
	bool running;
	struct taken_sample sample;
};

/* `program`: its first process. What it forks belongs to it. */
void taking_begin(struct taking *taking, pid_t program, struct jitter_sources *sources);
void taking_add(struct taking *taking, const struct trace_event *event, int64_t at_ns);
struct taken_sample taking_end(struct taking *taking);
void taking_clear(struct taking *taking);

struct program_trace;

/* Starts recording. The error says what is missing: root, tracefs. */
int program_trace_open(struct program_trace **ret, int cpu, struct error *err);
void program_trace_free(struct program_trace *trace);
DEFINE_FREEP(program_trace)

/* Drops what was recorded so far; for use before a sample. */
int program_trace_forget(struct program_trace *trace, struct error *err);

/* What was taken since then from the program with this first process; for use after a sample. */
int program_trace_take(
	struct program_trace *trace, pid_t program, struct taken_sample *ret, struct error *err);

/* The name, unit and kind of a source. */
const struct jitter_source_name *program_trace_source(const struct program_trace *trace, uint32_t source);
int program_trace_cpu(const struct program_trace *trace);
/* The time that recording one event takes; 0: not known. */
int64_t program_trace_event_cost_ns(const struct program_trace *trace);

/* Recording an event is timed with something that makes one event each time: a page fault. */

/* The time of a page fault on that CPU now; 0: it could not be measured. */
int64_t event_cost_fault_ns(int cpu);
/* The difference, with the trace and without; 0: not known. */
static inline int64_t event_cost_ns(int64_t untraced_ns, int64_t traced_ns)
{
	return untraced_ns > 0 && traced_ns > untraced_ns ? traced_ns - untraced_ns : 0;
}
