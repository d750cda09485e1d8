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

static void call_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
}

static void call_kernel(void)
{
	syscall(SYS_getppid);
}

static double price_of(void (*call)(void))
{
	int64_t start_ns = clock_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < CALLS; i++)
		call();
	return (double)(clock_ns(CLOCK_MONOTONIC) - start_ns) / CALLS;
}

void clock_price_read(struct clock_price *ret)
{
	*ret = (struct clock_price){INFINITY, INFINITY};
	for (int i = 0; i < ROUNDS; i++) {
		ret->clock_ns = fmin(ret->clock_ns, price_of(call_clock));
		ret->call_ns = fmin(ret->call_ns, price_of(call_kernel));
	}
}

bool clock_price_is_call(const struct clock_price *price)
{
	return price->clock_ns > 0 && price->clock_ns >= price->call_ns;
}
