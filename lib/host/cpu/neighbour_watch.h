/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readings of the neighbour (neighbour.h) of one CPU or several, for a while. One thread takes them
 * all, on one CPU after the other: readings on two threads of a core at once would take each other
 * for a neighbour. */
#pragma once

#include "lib/host/cpu/neighbour.h"

struct neighbour_series {
	int cpu;
	struct neighbour_reading *readings; /* in the order of time */
	size_t n;
};

struct neighbour_watch {
	struct neighbour_series *series; /* with their CPUs */
	size_t n;
	int64_t for_ns;
	/* Between the readings of a CPU, about: half of it to one and a half, so that what comes
	 * periodically is not missed. 0: none. Longer if the readings would take too much
	 * memory. */
	int64_t pause_ns;
	/* Called now and then, NULL: not. */
	void (*progress)(void *of, int64_t done_ns);
	void *of;
};

/* Returns 0, or 1 if a signal came (lib/base/interrupt.h): the readings so far are there then. The
 * calling thread may run where it could before. neighbour_series_clear() frees the readings, after
 * a failure too. */
int neighbour_watch(struct neighbour_watch *watch, struct error *err);

/* The share of the time with a neighbour; NAN: no reading is sound. */
double neighbour_series_share(const struct neighbour_series *series);
void neighbour_series_clear(struct neighbour_series *series);
