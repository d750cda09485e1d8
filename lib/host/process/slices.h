/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time slice that the scheduler gives a process of the fair class before another's turn. A
 * process may choose its own since Linux 6.12, without privileges (sched_setattr(2)); what it
 * starts inherits it. */
#pragma once

#include "lib/base/base.h"

/* The kernel's limits. */
#define SLICE_LEAST_NS (NS_PER_MS / 10)
#define SLICE_MOST_NS (100 * NS_PER_MS)

/* Of the calling process, within these limits; 0: the kernel's own again. System calls only, so
 * that a child that shares its parent's memory may call it. -ENOTSUP: the kernel has one slice for
 * all, or the process is not of the fair class. */
int slice_set(int64_t slice_ns);
