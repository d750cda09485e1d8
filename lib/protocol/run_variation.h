/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much the mean of a program varies from one run to the next. Successive samples share the state of the
 * machine (its frequency, its neighbours, where things are in memory), so that the spread within a run says little about
 * it (Kalibera & Jones 2013). */
#pragma once

#include "lib/record/run.h"

struct run_variation {
	double sd;     /* of the means of separate runs, as a share of their mean */
	double df;     /* degrees of freedom; 0: not known */
	size_t n_runs; /* from which it is known */
};

/* From the runs of one program, by their start, and those of another (NULL: none). `without` are the runs that are
 * compared. They do not count, nor do runs at the same time, nor runs of fewer than five samples. Fewer than two degrees
 * of freedom: not known. */
struct run_variation run_variation_find(const struct run_means *a, const struct run_means *b,
	const struct run_mean *without, size_t n_without);
