/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What emp-setup sets and asks through libcpupower: governor and limits of a cpufreq policy, and
 * idle states. A library of its own: libcpupower is GPL-2.0-only, and must not be in one binary
 * with GSL. Reading frequencies is in frequency.h. */
#pragma once

#include "lib/base/base.h"

/* `policy` is its directory, or a file in it: "/sys/devices/system/cpu/cpufreq/policy0". -errno
 * without a sentence. */
int cpufreq_write_governor(const char *policy, const char *governor);
int cpufreq_write_limits(const char *policy, const char *min_max); /* "800000 3600000", in kHz */

/* The user's limits are requests beside those of turbo switches, firmware and cooling, and what
 * is read is the narrowest of all. So a limit that is read and written back may become one that
 * nobody has asked for. These ask for none, as the kernel begins; any may be written alone with
 * a number for the other. */
#define CPUFREQ_NO_MIN 0
#define CPUFREQ_NO_MAX 2147483647

/* The lower limit and the upper one, in kHz. */
struct cpufreq_lifted {
	int64_t was[2];
	int64_t open[2]; /* without any of the user's */
	bool asked[2];   /* whether the user's own was what was read */
};

/* Whether a limit is narrower than the hardware's. */
bool cpufreq_shows_limits(const char *policy);
/* Asks for no limits, one after the other: a lower limit that gives way to an upper one looks like
 * it, and would not once both are gone. Limits of the hardware stay as they are. */
int cpufreq_lift_limits(const char *policy, struct cpufreq_lifted *ret);
/* Has the kernel apply limits that have changed, which it does in the background. */
void cpufreq_settle_limits(const char *policy);

/* The wake-up latency to ask for, in us. 0: idle CPUs poll. Where two threads share a core, one
 * that polls slows the other down: then it is that of the first state in which a CPU halts (C1), or
 * 0 if that is not known. */
int32_t idle_latency_us(void);
