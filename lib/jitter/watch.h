/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watching CPUs: on each a thread that wants all of it, reads the processor's counter in a loop and keeps each gap between two
 * readings that is over the threshold, with whether the kernel ran in it (lib/jitter/counter.h); the kernel's trace of the same
 * CPUs; and both put together after each round. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/jitter/attribution.h"
#include "lib/book/book.h"
#include "lib/jitter/counter.h"

/* The kernel's trace of one CPU during the samples of a program that is pinned to it, and what took the CPU from the program: interrupts
 * while it runs, and other tasks while it is ready to run, that is, preempted or just forked. Whatever runs while the program
 * waits for something takes nothing from it. */

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

struct watch_request {
	const int *cpus;
	size_t n_cpus;
	int64_t threshold_ns; /* 0: ten times the smallest gap */
	int64_t buffer_bytes; /* of the trace, for each CPU */
	const char *keep;     /* a file for the trace; NULL: none */
	bool mono_raw;        /* the clock of the trace, where it cannot be the counter itself */
};

struct watch {
	struct trace *trace;
	struct identity *identity;
	struct jitter_sources sources;
	struct counter_scale scale;
	struct counter_scale before,
		now; /* two readings of both clocks, between which events are placed (mono_raw) */
	bool mono_raw;
	struct watched_cpu *cpus;
	size_t n_cpus;
	int64_t started_ns, round_ns; /* since the scale's base: the start of all, and of this round */
	int64_t rounds;
	int64_t event_cost_ns;
};

/* Nothing runs yet. */
int watch_open(struct watch *watch, const struct watch_request *request, struct error *err);
/* Ends the threads and removes the trace. */
void watch_close(struct watch *watch);

int watch_start(struct watch *watch, struct error *err);
/* Takes what there is; to be called a few times a second. */
int watch_drain(struct watch *watch, struct error *err);
/* Ends the round: gaps are attributed. */
int watch_end_round(struct watch *watch, struct error *err);
/* Ends the loops, and the last round. */
int watch_stop(struct watch *watch, struct error *err);

/* Stores all that is known so far, replacing what the book has of the run. */
int watch_store(const struct watch *watch, struct book *book, int64_t run, struct error *err);
