/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's clocks as int64_t nanoseconds. */
#pragma once

#include "lib/base/text.h"

#include <time.h>

static inline int64_t timespec_ns(struct timespec t)
{
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return timespec_ns(now);
}
