/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the kernel's clock as adjtimex(2) reports it. It proves nothing alone: ntpsec without any server leaves it at "synchronised". */
#pragma once

#include "lib/base/base.h"

struct clock_state {
	bool settable;        /* a daemon could set it: not so in most containers */
	bool known;           /* the rest is filled in */
	bool synchronised;    /* TIME_ERROR and STA_UNSYNC are both clear */
	double frequency_ppm; /* the correction of its rate */
	int64_t max_error_us; /* grows while the clock is not disciplined */
};

/* Changes nothing, needs no privilege. */
void kernel_clock_read(struct clock_state *ret);
