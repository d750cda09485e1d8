/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How fast the processor may run: policies, governor, limits, turbo, out of /sys. Reading only,
 * below a root descriptor; writing is in cpupower.h, whose library not every tool may link. */
#pragma once

#include "lib/base/base.h"

/* One cpufreq policy: CPUs that share a clock. Frequencies in kHz, -1 where not known. */
struct frequency_policy {
	int number;   /* policyN */
	char *cpus;   /* "0-3" */
	char *driver; /* NULL where not known, like all texts here */
	char *governor;
	char *preference; /* energy_performance_preference */
	int64_t min_khz, max_khz;
	int64_t hardware_max_khz;
	int64_t base_khz; /* what it runs at without turbo; reported, or derived */
	int64_t boost;    /* 1 on, 0 off, -1 no such switch */
};

struct frequency {
	struct frequency_policy *policies; /* by number; those with a CPU that is online */
	size_t n_policies;
	int64_t no_turbo; /* intel_pstate: 1 turbo off, 0 on, -1 no such switch */
	/* intel_pstate's limits on all policies, in percent of the turbo maximum */
	int64_t min_perf_pct, max_perf_pct;
	int64_t boost;         /* acpi-cpufreq and others: 1 on, 0 off, -1 no such switch */
	int64_t msr_turbo_off; /* 1, 0: what the processor's register says; -1: not read */
	char *pstate_status;   /* of intel_pstate or amd_pstate: "active", "passive"… */
};

/* What every user can read. */
void frequency_read(struct frequency *ret, int root_fd);
/* Also what only root can, where the kernel's module msr is loaded: whether turbo is off, and
 * base frequencies that are still not known. `vendor`: machine.cpu_vendor. */
void frequency_read_registers(struct frequency *frequency, int root_fd, const char *vendor);
void frequency_clear(struct frequency *frequency);
