/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often systemd starts a service, to be held against how often it was seen to run. */
#pragma once

#include "lib/host/systemd/units.h"

struct timer {
	char *name;        /* "man-db.timer" */
	char *words;       /* how it is set */
	int64_t period_ns; /* 0: not regular, or not to be found out */
	int64_t spread_ns; /* the random delay on top */
};

/* The timers that start `service`. None is no failure. timers_free frees the array. */
int timers_of(struct units *units, const char *service, struct timer **ret, size_t *ret_n, struct error *err);
void timers_free(struct timer *timers, size_t n);

/* The time between all successive moments in what "systemd-analyze calendar --iterations=…" prints, 0 if they
 * are not equal or there are fewer than two. */
int64_t calendar_period(const char *printed);
