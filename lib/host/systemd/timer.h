/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often systemd starts a service, for comparison with how often it was observed. */
#pragma once

#include "lib/host/systemd/units.h"

struct timer {
	char *name;        /* "man-db.timer" */
	char *text;        /* its setting */
	int64_t period_ns; /* 0: not regular, or not known */
	int64_t spread_ns; /* the random delay on top */
};

/* The timers that start `service`; there may be none. timer_list_free frees the array. */
int timer_list(
	struct units *units, const char *service, struct timer **ret, size_t *ret_n, struct error *err);
void timer_list_free(struct timer *timers, size_t n);

/* The time between all successive moments in what "systemd-analyze calendar --iterations=…" prints, 0 if they
 * are not equal or there are fewer than two. */
int64_t timer_period(const char *printed);
