/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reading the time costs: see clock_price.h. */
#include "lib/host/clock/clock_price.h"

#include "lib/base/clock.h"

#include <math.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 20, CALLS = 1000 };

static void read_clock(void)
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
	struct clock_price price = {INFINITY, INFINITY};

	for (int i = 0; i < ROUNDS; i++) {
		price.clock_ns = fmin(price.clock_ns, price_of(read_clock));
		price.call_ns = fmin(price.call_ns, price_of(call_kernel));
	}
	*ret = price;
}

bool clock_price_is_call(const struct clock_price *price)
{
	return price->clock_ns > 0 && price->clock_ns >= price->call_ns;
}
