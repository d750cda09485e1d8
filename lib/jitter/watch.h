/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watching CPUs (emp-calibrate jitter): on each a thread that wants all of it, reads the
 * processor's counter in a loop and keeps each gap between two readings that is over the threshold,
 * with whether the kernel ran in it (lib/jitter/sampler.h); the kernel's trace of the same CPUs;
 * and both put together after each round. */
#pragma once

#include "lib/record/run.h"
#include "lib/run/sampling.h"

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
