/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long CPUs have been idle since boot (/proc/stat), whether or not a disk was awaited meanwhile; in ticks of 10 ms. */
#pragma once

#include <sched.h>
#include <stdint.h>

/* The sum over these CPUs; *ret_n: how many of them are online. -1: not known. root_fd as in lib/base/text.h. */
int64_t idle_time_ns(const cpu_set_t *cpus, int root_fd, int *ret_n);
