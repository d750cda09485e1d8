/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connecting to emp-clock.service on a slow machine: it starts when the first client comes, and the
 * library waits a second for it. */
#pragma once

#include "lib/clock/emp-clock.h"

#include <errno.h>

static inline int clock_open_patiently(void)
{
	int r;

	for (int tries = 0; (r = emp_clock_open()) < 0 && errno == EAGAIN && tries < 120; tries++)
		;
	return r;
}
