/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watching CPUs: on each a thread that wants all of it, reads the processor's counter in a loop and keeps each gap between two
 * readings that is over the threshold, with whether the kernel ran in it (lib/host/clock/kernel_clock.h); the kernel's trace of the same
 * CPUs; and both put together after each round. */
#pragma once

#include "lib/base/error.h"
#include "lib/book/book.h"
#include "lib/host/clock/kernel_clock.h"
#include "lib/jitter/intervals.h"

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
