/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The driver: sets the slaves of a load up, releases them together, sleeps until the last one has finished, and ends
 * them. */
#pragma once

#include "lib/load/load_file.h"
#include "lib/load/waits.h"

#include "lib/host/process/cgroup.h"
#include "lib/record/run.h"
#include "lib/run/observer.h"

struct slave_result {
	int64_t started_ns, finished_ns, last_ns; /* since the release; see struct slave_state */
	int64_t repetitions;                      /* until the meters stopped */
	int64_t pt_ns, user_ns, system_ns;
	int64_t wait_ns, io_wait_ns; /* some of its processes waited for a CPU, for a disk; -1: unknown */
	int64_t major_faults, max_rss_bytes;
	int left_behind; /* processes of its that ran when the meters stopped, its command aside */
};

struct load_result {
	struct observation observation; /* of all slaves together */
	int64_t driver_ns;              /* CPU time of the driver while the meters ran */
	int64_t release_ns;             /* how long it took to wake all slaves */
	int64_t last_start_ns;          /* since the release, until the last of them had a CPU */
	int64_t idle_ns, cpus;          /* of the CPUs that the slaves may use, and how many; -1: not known */
	struct slave_result *slaves;
	size_t n;
	struct load_waits *waits; /* NULL: they are not watched */
};

struct drive {
	const struct load *load;
	const char *text; /* the load's file */
	struct observer *observer;
	const struct page_wait_meter *page_waits; /* NULL: they are not watched */
	const struct cgroup_controllers *controllers; /* for the slaves; NULL: they have no limits */
	bool show_output;
};

/* One run of the load. -ECANCELED, with a sentence: a slave failed; -ETIMEDOUT with one: it took longer than the load's
 * timeout; -EINTR without one: a signal came for this process. Nothing of the run is left in any case. */
int drive_once(const struct drive *drive, struct load_result *ret, struct error *err);
/* The CPUs of the load, or else those that this process may use. */
int drive_cpus(const struct load *load, cpu_set_t *ret, struct error *err);
/* What its slave k did, as the lab book has it. */
struct sample_program load_result_part(const struct load_result *result, size_t k, uint32_t sample);
void load_result_clear(struct load_result *result);
