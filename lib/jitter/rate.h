/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether something that comes in bursts takes more of the time in one run than in another, by more
 * than chance.
 *
 * Bursts make counts vary far more than Poisson's, so the time is counted in rounds: how it varies
 * from round to round, and how much a round is like the next, shows how much chance can explain. */
#pragma once

#include "lib/base/base.h"

/* One side: n rounds of equal length, and what it took in them. */
struct rate {
	double n;        /* rounds */
	double time_ns;  /* all rounds together */
	double with;     /* rounds in which it occurs */
	double total_ns; /* of all rounds */
	double squares;  /* sum of the squares of its time in a round */
	double steps;    /* sum of the squares of the differences between neighbouring rounds */
};

/* The p-value of "the rate of b is at most `margin` times that of a": small where b has more.
 * margin >= 1. */
double rate_more(const struct rate *a, const struct rate *b, double margin);

/* total_ns / time_ns of b, divided by that of a; INFINITY if only b has any. Its 95 % interval: the
 * margins that rate_more() does not reject on either side; INFINITY: no upper bound. */
double rate_ratio(const struct rate *a, const struct rate *b, double *ret_low, double *ret_high);
