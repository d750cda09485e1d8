/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's clock: its state as adjtimex(2) reports it, and what a reading costs. The state proves nothing alone: ntpsec without any server leaves it at "synchronised". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct clock_state {
	bool settable;        /* a daemon could set it: not so in most containers */
	bool known;           /* the rest is filled in */
	bool synchronised;    /* TIME_ERROR and STA_UNSYNC are both clear */
	double frequency_ppm; /* the correction of its rate */
	int64_t max_error_us; /* grows while the clock is not disciplined */
};

/* Changes nothing, needs no privilege. */
void kernel_clock_read(struct clock_state *ret);

/* Usually the kernel maps a page from which clock_gettime(2) computes the time; where the kernel's clock source does not allow
 * that, each reading is a system call. */
struct clock_price {
	double clock_ns; /* clock_gettime(CLOCK_MONOTONIC); 0: not measured */
	double call_ns;  /* a system call that does nothing */
};

/* The fastest of several rounds, in a few milliseconds. A reading that costs as much as a system call is one. */
void clock_price_read(struct clock_price *ret);
