/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reading the time costs now. Usually the kernel maps a page from which clock_gettime(2) computes it; where the
 * kernel's clock source does not allow that, each reading is a system call. */
#pragma once

#include <stdbool.h>

struct clock_price {
	double clock_ns; /* clock_gettime(CLOCK_MONOTONIC); 0: not measured */
	double call_ns;  /* a system call that does nothing */
};

/* The fastest of several rounds, in a few milliseconds. */
void clock_price_read(struct clock_price *ret);

/* Whether a reading costs as much as a system call. */
bool clock_price_is_call(const struct clock_price *price);
