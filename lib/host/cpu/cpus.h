/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of CPUs as the kernel writes them: lists ("0-3,8"), which text_parse_cpu_list reads, and
 * masks ("f", "ff,ffffffff"); and how fast they may run. */
#pragma once

#include "lib/base/base.h"

#include <sched.h>

/* What the kernel has a file of for each CPU, and for all of them. */
#define SYS_CPU "/sys/devices/system/cpu/"

/* NULL is an empty list. */
bool cpu_list_has(const char *list, int cpu);

/* The list, as the kernel would write it; the caller frees it. */
char *cpu_list_text(const int *cpus, size_t n);

/* All CPUs of two lists, as the kernel would write them; the caller frees it. NULL: they are no
 * such text. */
char *cpu_list_join(const char *list, const char *other);

/* A list without these CPUs; "" if nothing remains. The caller frees it. NULL: it is no such
 * text. */
char *cpu_list_without(const char *list, const int *cpus, size_t n);

/* A mask as long as this one: of these CPUs, or of those of `mask` without these; likewise. */
char *cpu_mask(const char *mask, const int *cpus, size_t n, bool without);

/* How fast the processor may run: policies, governor, limits, turbo, out of /sys. Reading only,
 * below a root descriptor; writing is in cpupower.h, whose library not every tool may link. */

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
	int64_t min_perf_pct,
		/* intel_pstate's limits on all policies, in percent of the turbo maximum */
		max_perf_pct;
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
