/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The connection to emp-clock.service. */
#include "lib/clock/emp-clock.h"

#include <errno.h>

__attribute__((visibility("default"))) int emp_clock_open(void)
{
	errno = ENOENT;
	return -1;
}
