/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The coordinator: sets the workers of a load up, releases them together, sleeps until the last one has finished, and ends
 * them. */
#pragma once

#include "lib/load/load_file.h"

#include "lib/host/disk/page_wait_meter.h"
#include "lib/host/process/cgroup.h"
#include "lib/run/observer.h"

/* What all runs of the load have in common. */
struct load_plan {
	const struct load *load;
	const char *text; /* the load's file */
	struct observer *observer;
	const struct page_wait_meter *page_waits;     /* NULL: they are not watched */
	const struct cgroup_controllers *controllers; /* for the workers; NULL: they have no limits */
	bool show_output;
};

/* One run of the load, as the lab book has it. */
struct load_result {
	struct observation observation; /* of all workers together */
	struct load_sample start;
	struct sample_program *parts; /* what each worker did */
	size_t n;
	struct page_waits page_waits; /* empty: they were not watched */
};

/* Runs the load as the sample of that number. -ECANCELED, with a sentence: a worker failed; -ETIMEDOUT with one: it took longer
 * than the load's timeout; -EINTR without one: a signal came for this process. Nothing of the run is left in any case. */
int load_run_once(const struct load_plan *plan, uint32_t sample, struct load_result *ret, struct error *err);
void load_result_clear(struct load_result *result);

/* The CPUs of the load, or else those that this process may use. */
int load_allowed_cpus(const struct load *load, cpu_set_t *ret, struct error *err);

/* What the limits of the load's workers need: its lines "weight" and "memory", which are limits of their cgroups, and "nice"
 * where another script has a weight. *ret is NULL where it has none. Call this after the cgroup of all workers is made.
 * Failures as of cgroup_controllers_new(). */
int load_limits_begin(struct cgroup_controllers **ret, const struct load *load, struct error *err);

/* This process in real time for a moment, then again under the policy that it had. */
struct real_time {
	bool raised;
	int policy; /* before */
	struct sched_param param;
};

/* -errno: it may not. A process that has a real-time policy keeps it. */
int real_time_begin(struct real_time *ret);
void real_time_end(const struct real_time *real_time);
