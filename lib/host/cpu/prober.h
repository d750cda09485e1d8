/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks for a neighbour (neighbour.h) before, within and after a sample, by a thread on the CPU
 * that the program is pinned to. Within the sample it interrupts the program at intervals, for a
 * given share of the time: readings before and after alone would miss what happens between. */
#pragma once

#include "lib/base/base.h"

struct prober;

/* What it saw of a sample; -1: not known. */
struct probed {
	/* the share of the time with a neighbour, and its standard error, in parts of 10^6 */
	int64_t neighbour_ppm, error_ppm;
	int64_t probe_ns;  /* CPU time that it took within the sample */
	int64_t waited_ns; /* before it, for a neighbour to go */
};

#define PROBED_NOTHING ((struct probed){-1, -1, -1, -1})

/* The share of the time that probes within samples take unless another is given. */
#define PROBE_SHARE 0.02

struct prober_options {
	int cpu;
	double share; /* of the time within samples; 0: no readings within them */
	/* a sample begins when there is no neighbour; waiting for that takes 0.2 s at first, and
	 * then no longer in all than the samples do */
	bool wait;
};

/* Takes some 3 ms, to learn how fast the CPU is without a neighbour. -errno with a sentence. */
int prober_new(struct prober **ret, const struct prober_options *options, struct error *err);
/* From the next sample on, so long from one reading within samples to the next; PROBER_NEVER: there
 * are none; 0: as the option says. */
#define PROBER_NEVER (-1)
void prober_set_period(struct prober *prober, int64_t period_ns);

void prober_free(struct prober *prober);
DEFINE_FREEP(prober)

/* Before the program is started. */
void prober_begin(struct prober *prober);
/* When it has ended: from now on nobody interrupts the CPU. Returns at once. */
void prober_stop(struct prober *prober);
/* What was seen since prober_begin; the second time nothing. */
struct probed prober_end(struct prober *prober);
