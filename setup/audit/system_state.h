/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may disturb a run and is no setting: load, swap, tracers, a package manager at work, the mains. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct system_state {
	char *load;          /* /proc/loadavg; NULL where it is not told, like all texts here */
	char *clocksource;   /* the counter that the kernel's clock reads */
	char *clocksources;  /* those on offer */
	char *smt;           /* "on", "off", "notsupported"… */
	char *swaps;         /* /proc/swaps without its head; "" if there are none */
	char *tracer;        /* the tracer that is on */
	int tracer_error;    /* why it is not known, negative */
	int64_t mains;       /* 1 plugged in, 0 on battery, -1 has no such thing */
	int64_t idle_states; /* of CPU 0, polling included */
	const char *locked;  /* a package manager at work: its lock; NULL: none is */
	int lock_error;      /* why it could not be seen whether one is, negative */
	bool shutdown;       /* one is scheduled */
};

/* What cannot be read stays NULL or -1. */
void system_state_read(struct system_state *ret, int root_fd);
void system_state_clear(struct system_state *system_state);
