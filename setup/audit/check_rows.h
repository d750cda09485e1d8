/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of an audit as rows, in the order of the protocol, and the functions that decide them. */
#pragma once

#include "setup/audit/check.h"

extern const struct check check_rows[]; /* ends with {} */
extern const size_t n_check_rows;

/* NULL: there is no such check. */
const struct check *check_rows_find(const char *id);

/* The files of each row's setting, an array of n_check_rows (none where a row has no setting). */
int check_rows_read(struct setting_files **ret, int root_fd, struct error *err);
void check_rows_freep(struct setting_files **files);

/* EMPv1: services and timers that are not needed, judged by the policy. */
check_decider check_daemons_services, check_daemons_timers, check_daemons_unknown, check_daemons_due;
/* EMPv2: exactly one daemon disciplines the clock, and both it and the kernel say so. */
check_decider check_ntp;
/* EMPv3: governor, frequency limits, turbo, SpeedStep. */
check_decider check_frequency_driver, check_frequency_governor, check_frequency_min, check_frequency_max,
	check_frequency_turbo_intel, check_frequency_turbo_boost, check_frequency_turbo_policy,
	check_frequency_speedstep;
/* EMPv4: the running kernel is the newest of this system. */
check_decider check_kernel_version, check_kernel_pending;
/* What else may disturb a run: load, swap, tracers, package managers, SMT, idle states. */
check_decider check_system_packagers, check_system_load, check_system_clocksource, check_system_swap,
	check_system_tracer, check_system_mains, check_system_latency, check_system_delayacct,
	check_system_smt;

/* The limits that hold a policy at its base frequency; NULL: not known. The caller frees it. */
char *check_frequency_limits(const struct facts *facts, const char *path);
