/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long recording one event takes, measured by something that makes one event each time: a page fault. */
#pragma once

#include <stdint.h>

/* The time of a page fault on that CPU now; 0: it could not be measured. */
int64_t event_cost_fault_ns(int cpu);
/* The difference, with the trace and without; 0: not known. */
static inline int64_t event_cost_ns(int64_t untraced_ns, int64_t traced_ns)
{
	return untraced_ns > 0 && traced_ns > untraced_ns ? traced_ns - untraced_ns : 0;
}
