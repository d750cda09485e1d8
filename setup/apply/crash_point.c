/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See crash_point.h. */
#include "setup/apply/crash_point.h"

#include "setup/options.h"

#include <signal.h>

void crash_point(void)
{
	if (options.kill_after > 0 && --options.kill_after == 0)
		raise(SIGKILL);
}
