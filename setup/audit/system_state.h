/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may disturb a run and is not a setting: load, swap, tracers, a package manager at work, mains power. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct system_state {
	char *load;          /* /proc/loadavg; NULL if not known, like all texts here */
	char *clocksource;   /* the counter that the kernel's clock reads */
	char *smt;           /* "on", "off", "notsupported"… */
	char *swaps;         /* /proc/swaps without its first line; "" if there are none */
	char *tracer;        /* the current tracer */
	int tracer_error;    /* why it is not known, negative */
	int64_t mains;       /* 1 plugged in, 0 on battery, -1 not known */
	int64_t idle_states; /* of CPU 0, polling included */
	const char *locked;  /* the lock of a package manager at work; NULL: none */
	int lock_error;      /* why that is not known, negative */
	bool shutdown;       /* is scheduled */
};

/* What cannot be read stays NULL or -1. */
void system_state_read(struct system_state *ret, int root_fd);
void system_state_clear(struct system_state *system_state);
