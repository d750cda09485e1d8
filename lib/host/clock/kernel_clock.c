/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's clock: see kernel_clock.h. */
#include "lib/host/clock/kernel_clock.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/timex.h>

void kernel_clock_read(struct clock_state *ret)
{
	struct timex timex = {};
	int state = adjtimex(&timex);

	*ret = (struct clock_state){.settable = prctl(PR_CAPBSET_READ, CAP_SYS_TIME) == 1};
	if (state < 0)
		return;
	ret->known = true;
	ret->synchronised = state != TIME_ERROR && !(timex.status & STA_UNSYNC);
	ret->frequency_ppm = (double)timex.freq / 65536; /* 16 bits of it are a fraction */
	ret->max_error_us = timex.maxerror;
}
