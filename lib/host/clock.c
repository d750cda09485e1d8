/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's clock: see clock.h. */
#include "lib/host/clock.h"

#include <sys/timex.h>

void clock_read(struct clock_state *ret)
{
	struct timex timex = {};
	int state = adjtimex(&timex);

	*ret = (struct clock_state){};
	if (state < 0)
		return;
	*ret = (struct clock_state){
		.known = true,
		.synchronised = state != TIME_ERROR && !(timex.status & STA_UNSYNC),
		.frequency_ppm = (double)timex.freq / 65536, /* 16 bits of it are a fraction */
		.max_error_us = timex.maxerror,
		.estimated_error_us = timex.esterror,
	};
}
