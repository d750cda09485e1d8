/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Points at which a test may kill the process: see crash_point.h. */
#include "setup/apply/crash_point.h"

#include <signal.h>

static int left;

void crash_point_kill_after(int n)
{
	left = n;
}

void crash_point(void)
{
	if (left > 0 && --left == 0)
		raise(SIGKILL);
}
