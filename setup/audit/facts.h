/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that an audit looks at, gathered once. The checks are pure functions of this struct, so that machines
 * that nobody has can be made up in tests. */
#pragma once

#include "lib/base/error.h"
#include "lib/host/clock/kernel_clock.h"
#include "lib/host/cpu/frequency.h"
#include "lib/host/system/kernel.h"
#include "lib/host/system/machine.h"
#include "lib/host/clock/ntp.h"
#include "lib/host/system/policy.h"
#include "lib/host/process/process.h"
#include "lib/host/systemd/units.h"
#include "setup/audit/system_state.h"

struct elapse {
	const char *unit;
	int64_t next_ns; /* since 1970; 0: never, or not known */
};

/* One file of a setting as it is now. */
struct analysis {
	char *path;
	char *value; /* NULL: it could not be read */
	int error;   /* why, negative */
};

struct readings {
	struct analysis *items;
	size_t n;
};

/* A service that runs and that no policy names. */
struct stranger {
	const char *unit;
	int64_t cpu_ns; /* since it was started; -1: not accounted */
};

struct facts {
	int root_fd;
	int64_t within_ns;         /* how far ahead timers matter */
	struct readings *readings; /* one for each row of checks[] */
	struct machine machine;
	struct policy *policy;
	struct frequency frequency;
	struct kernel kernel;
	struct clock_state clock;
	struct ntp ntp;
	bool has_units;  /* systemd was asked, and answered */
	char *units_why; /* why it did not; NULL where it did */
	struct unit_list units;
	struct elapse *timers; /* those of the policy that are up */
	size_t n_timers;
	struct elapse *due; /* the other ones that are up, in order of time */
	size_t n_due;
	struct stranger *strangers;
	size_t n_strangers;
	struct process *processes;
	size_t n_processes;
	int64_t delayacct; /* kernel.task_delayacct, -1: not there */
	struct system_state system_state;
};

/* `policy`: a name, or NULL for the one of this distribution. With a root_fd other than AT_FDCWD only files
 * below it are read, and nobody is asked. */
int facts_read(struct facts *ret, int root_fd, const char *policy, int64_t within_ns, struct error *err);
void facts_clear(struct facts *facts);
