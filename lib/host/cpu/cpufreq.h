/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Governor and limits of a cpufreq policy, written through libcpupower. A library of its own: libcpupower is
 * GPL-2.0-only, and must not be in one binary with GSL. Reading is in frequency.h. */
#pragma once

/* `policy` is its directory, or a file in it: "/sys/devices/system/cpu/cpufreq/policy0". -errno without a
 * sentence. */
int cpufreq_write_governor(const char *policy, const char *governor);
int cpufreq_write_limits(const char *policy, const char *min_max); /* "800000 3600000", in kHz */
