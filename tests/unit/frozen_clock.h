/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A clock that stands still until a test moves it, for what happens at most once per second. It
 * replaces the C library's in the binary that includes this, in one file. */
#pragma once

#include "lib/base/number.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t frozen_ns; /* what the clocks that count from the boot show; 0: the time */

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (!frozen_ns || (clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME))
		return (int)syscall(SYS_clock_gettime, clock, ts);
	*ts = (struct timespec){frozen_ns / NS_PER_S, frozen_ns % NS_PER_S};
	return 0;
}
