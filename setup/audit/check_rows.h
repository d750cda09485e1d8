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
/* The files of one row's setting; NULL: they were not read. */
const struct setting_files *check_rows_files(const struct facts *facts, const char *id);
void check_rows_freep(struct setting_files **files);

/* EMPv1: services and timers that are not needed, judged by the policy. */
check_decider check_daemons_services, check_daemons_timers, check_daemons_unknown, check_daemons_due;
/* EMPv2: exactly one daemon disciplines the clock, and both it and the kernel say so. */
check_decider check_ntp;
/* EMPv3: governor, frequency limits, turbo, SpeedStep. */
check_decider check_frequency_driver, check_frequency_governor, check_frequency_min, check_frequency_max,
	check_frequency_turbo_intel, check_frequency_turbo_boost, check_frequency_turbo_policy,
	check_frequency_percent, check_frequency_speedstep;
/* EMPv4: the running kernel is the newest of this system. */
check_decider check_kernel_version, check_kernel_pending;
/* What shares the CPU that programs are timed on. */
check_decider check_cpus_latency, check_cpus_smt, check_cpus_quota, check_cpus_weight, check_cpus_isolated,
	check_cpus_nohz, check_cpus_balancer, check_cpus_interrupts, check_cpus_new_interrupts;
/* What the kernel does by itself, and how it schedules and accounts. */
check_decider check_kernel_leftovers, check_kernel_tracer, check_kernel_programs, check_kernel_audit, check_kernel_scheduler,
	check_kernel_irq_time, check_kernel_delayacct, check_kernel_throttling, check_kernel_power;
/* What else may disturb a run: load, swap, package managers, battery. */
check_decider check_system_packagers, check_system_load, check_system_clocksource, check_system_swap,
	check_system_mains;

/* The CPUs for an interrupt, and for those that come; NULL: not known. The caller frees them. */
char *check_cpus_interrupt_list(const struct facts *facts, const char *path);
char *check_cpus_interrupt_mask(const struct facts *facts, const char *path);
/* The limits that hold a policy at its base frequency; NULL: not known. The caller frees it. */
char *check_frequency_limits(const struct facts *facts, const char *path);
