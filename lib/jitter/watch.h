/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watching CPUs: a loop on each, the kernel's trace of the same CPUs, and both merged after each round. */
#pragma once

#include "lib/jitter/sampler.h"

#include "lib/host/accounting/identity.h"
#include "lib/host/cpu/processor.h"
#include "lib/host/system/counter_reader.h"
#include "lib/host/trace/trace.h"
#include "lib/jitter/jitter_store.h"

struct watch_request {
	const int *cpus;
	size_t n_cpus;
	int64_t threshold_ns; /* 0: ten times the smallest gap */
	int64_t buffer_bytes; /* of the trace, for each CPU */
	const char *keep;     /* a file for the trace; NULL: none */
	bool mono_raw;        /* the clock of the trace, where it cannot be the counter itself */
};

struct watched_cpu {
	struct sampler sampler;
	struct intervals intervals;
	struct merge merge;
	struct gap_seen *gaps; /* of the round */
	size_t n_gaps, gaps_capacity;
	int64_t sampled_ns, lost;
	struct counter_reader *counters; /* read before and after, since that interrupts the CPU */
	struct counters changes;
	int64_t last_ns; /* when the loop ended; 0: it runs */
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
/* Ends the round: what was taken is merged. */
int watch_end_round(struct watch *watch, struct error *err);
/* Ends the loops, and the last round. */
int watch_stop(struct watch *watch, struct error *err);

/* What is known of all CPUs so far, for jitter_store(); the caller frees it. NULL: no memory. */
struct jitter_watched *watch_facts(const struct watch *watch);
/* When it started, since 1970. */
int64_t watch_started_ns(const struct watch *watch);
