/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time slice that the scheduler gives a process of the fair class before another's turn. A
 * process may choose its own since Linux 6.12, without privileges (sched_setattr(2)); what it
 * starts inherits it. */
#pragma once

#include "lib/base/base.h"

/* Of the calling process, 0.1 to 100 ms; 0: the kernel's own again. System calls only, so that a
 * child that shares its parent's memory may call it. -ENOTSUP: the kernel has one slice for all, or
 * the process is not of the fair class. */
int slice_set(int64_t slice_ns);
