/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The neighbour: whoever uses the other hardware thread of this CPU's core. On a virtual machine it
 * may be another customer of the host, whom no counter, no steal and no process shows. A loop that
 * takes a branch a cycle does: it takes two cycles a turn while somebody is there. A chain of
 * increments with few branches, timed beside it, gives the length of a cycle, so that a change of
 * the frequency is not taken for a neighbour. */
#pragma once

#include "lib/base/base.h"

struct neighbour_reading {
	int64_t at_ns;   /* CLOCK_MONOTONIC, its middle */
	int64_t for_ns;  /* how long it took */
	double turn_ps;  /* a turn of the tight loop, with its taken branch */
	double cycle_ps; /* an increment of the chain */
};

/* Reads on the CPU of the calling thread, which should be pinned, for about 0.2 ms, or 0.4 ms
 * beside a neighbour. */
struct neighbour_reading neighbour_read(void);

/* How long such a reading takes if nothing interrupts it. */
int64_t neighbour_uninterrupted_ns(const struct neighbour_reading *reading);

/* Whether it says something of a neighbour. Not if it was interrupted for as long as it took; nor
 * if a turn took less than a cycle, because then something slowed the chain alone. */
bool neighbour_sound(const struct neighbour_reading *reading);

/* How many cycles a turn takes without a neighbour, by readings of one processor, in any order: 1
 * on most, also if none of the readings is sound. */
double neighbour_alone(const struct neighbour_reading *readings, size_t n);

/* The same after another sound reading: there may have been a neighbour in each of those before. */
double neighbour_alone_after(double alone, const struct neighbour_reading *reading);

/* How much of the reading's time had a neighbour, 0 to 1. */
double neighbour_share(const struct neighbour_reading *reading, double alone);
