/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that an audit looks at, gathered once. The checks are pure functions of this struct, so that tests can
 * make up machines. */
#pragma once

#include "lib/base/error.h"
#include "lib/host/clock/kernel_clock.h"
#include "lib/host/clock/ntp.h"
#include "lib/host/cpu/frequency.h"
#include "lib/host/process/process.h"
#include "lib/host/system/kernel.h"
#include "lib/host/system/machine.h"
#include "lib/host/system/policy.h"
#include "lib/host/systemd/units.h"
#include "setup/audit/cpu_state.h"
#include "setup/audit/system_state.h"

struct elapse {
	const char *unit;
	int64_t next_ns; /* since 1970; 0: never, or not known */
	char *owned;     /* what `unit` points to, where it is not in the list of units */
};

/* A running service that the policy does not list. */
struct unlisted {
	const char *unit;
	int64_t cpu_ns; /* since it was started; -1: not accounted */
};

struct setting_files;

struct facts {
	int root_fd;
	int64_t within_ns; /* how far ahead timers matter */
	struct machine machine;
	struct policy *policy;
	struct frequency frequency;
	struct kernel kernel;
	struct clock_state clock;
	struct clock_price price;
	double calibrated_ns; /* clock_gettime at the last 'emp-calibrate clocks' on this machine; 0: not known */
	struct ntp ntp;
	bool has_units;  /* systemd answered */
	char *units_why; /* why it did not; NULL if it did */
	struct unit_list units;
	struct elapse *timers; /* the active ones of the policy */
	size_t n_timers;
	struct elapse
		*due; /* the other active ones that elapse soon, jobs of cron, timers of users, and desktop
			       sessions, in order of time */
	size_t n_due;
	struct unlisted *unlisted;
	size_t n_unlisted;
	struct process *processes;
	size_t n_processes;
	int64_t delayacct; /* kernel.task_delayacct; -1: none */
	struct system_state system_state;
	struct cpu_state cpus;
	struct setting_files *files; /* of check_rows_read */
};

/* `policy`: a name, or NULL for the one of this distribution. `cpu`: the one that programs will be timed on, -1: not
 * known. With a root_fd other than AT_FDCWD only files
 * below it are read, and systemd is not asked. */
int facts_read(
	struct facts *ret, int root_fd, const char *policy, int cpu, int64_t within_ns, struct error *err);
void facts_clear(struct facts *facts);
