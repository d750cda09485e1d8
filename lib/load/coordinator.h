/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The coordinator of a load: sets its workers up, releases them together, sleeps until the last one
 * has finished, and ends them. */
#pragma once

#include "lib/load/book_load.h"
#include "lib/run/sampling.h"

#include <sched.h>

struct load_session;

/* One run of the load, as the lab book has it. */
struct load_result {
	struct raw_sample raw; /* of all workers together */
	struct load_sample start;
	struct sample_program *parts; /* what each worker did */
	size_t n;
	struct page_waits page_waits; /* empty: they were not watched */
};

/* This is the sample of that number. -ECANCELED, with a sentence: a worker failed; -ETIMEDOUT with
 * one: it took longer than the load's timeout; -EINTR without one: a signal came for this process.
 * Nothing of the run is left in any case. */
int load_run_once(const struct load_session *session, uint32_t sample, struct load_result *ret,
	struct error *err);
void load_result_clear(struct load_result *result);

/* How long these CPUs have been idle since boot (/proc/stat), all together, whether or not a disk
 * was awaited meanwhile; in ticks of 10 ms. *ret_n: how many of them are online. -1: not known.
 * root_fd as in lib/base/paths.h. */
int64_t idle_time_ns(const cpu_set_t *cpus, int root_fd, int *ret_n);
