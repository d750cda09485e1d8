/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's clock: what adjtimex says of its discipline, and which hardware counter it reads. What the
 * kernel says alone proves nothing: ntpsec without any server makes it say "synchronised". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct clock_state {
	bool settable;        /* a daemon in here could steer it: not so in most containers */
	bool known;           /* the rest is filled in */
	bool synchronised;    /* TIME_ERROR and STA_UNSYNC are both clear */
	double frequency_ppm; /* by how much the rate is being corrected */
	int64_t max_error_us; /* what the kernel believes of its own error, growing without discipline */
	int64_t estimated_error_us;
};

/* Asks the running kernel; changes nothing, needs no privilege. */
void clock_read(struct clock_state *ret);
