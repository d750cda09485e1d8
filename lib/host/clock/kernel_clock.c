/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's clock: see kernel_clock.h. */
#include "lib/host/clock/kernel_clock.h"

#include "lib/base/number.h"

#include <linux/capability.h>
#include <math.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

enum { ROUNDS = 20, CALLS = 1000 };

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

void clock_price_read(struct clock_price *ret)
{
	*ret = (struct clock_price){INFINITY, INFINITY};
	for (int round = 0; round < ROUNDS; round++) {
		int64_t start_ns = clock_ns(CLOCK_MONOTONIC), middle_ns, end_ns;
		struct timespec now;

		for (int i = 0; i < CALLS; i++)
			clock_gettime(CLOCK_MONOTONIC, &now);
		middle_ns = clock_ns(CLOCK_MONOTONIC);
		for (int i = 0; i < CALLS; i++)
			syscall(SYS_getppid);
		end_ns = clock_ns(CLOCK_MONOTONIC);
		ret->clock_ns = fmin(ret->clock_ns, (double)(middle_ns - start_ns) / CALLS);
		ret->call_ns = fmin(ret->call_ns, (double)(end_ns - middle_ns) / CALLS);
	}
}
