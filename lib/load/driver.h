/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the driver holds while a run of the load is under way. Only for drive.c and meters.c. */
#pragma once

#include "lib/load/directory.h"
#include "lib/load/drive.h"
#include "lib/load/shared.h"

struct slave_process {
	struct cgroup *cgroup;
	struct program *program;
	struct spawn spawn;
	char *directory, *name;
	char number[24];
	char *argv[5];
	struct cgroup_usage usage; /* when the meters started */
	int64_t wait_ns, io_wait_ns;
};

struct driver {
	const struct drive *drive;
	const struct load *load;
	struct directory *directory;
	struct cgroup *all; /* the slaves' cgroups are in it */
	struct shared *shared;
	int memory_fd, socket, slaves_socket; /* all slaves have the same one */
	struct slave_process *slaves;
	struct program **programs; /* of the slaves, for program_wait_any */
	size_t n;
	cpu_set_t cpus;      /* that the slaves may use */
	int64_t idle_ns;     /* of them, when the meters started; -1: not known */
	bool is_set_up;      /* by the load's own setup */
	int64_t deadline_ns; /* CLOCK_MONOTONIC */
	int64_t released_ns; /* CLOCK_MONOTONIC_RAW */
	struct load_result *result;
};

/* The meters of all slaves: their CPU time, and what they waited for. They are stopped into driver->result, and their sum
 * into *ret. */
int meters_start(struct driver *driver, struct error *err);
int meters_stop(struct driver *driver, struct spawned *ret, struct error *err);
