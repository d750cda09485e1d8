/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a duet would show smaller differences between programs than the samples in turn that were
 * taken. */
#pragma once

#include "lib/duet/duet_cost.h"

struct duet_advice {
	bool better;
	/* factor by which the interval of the ratio is narrower, at least; INFINITY: to nothing;
	 * NAN: not known */
	double narrower;
	/* that the machine's speed does not change from sample to sample; NAN: not known */
	double p;
};

/* Of programs whose samples were taken in turn. A duet is better if that is beyond doubt, matters,
 * and the programs are fit for a duet: each runs for several slices, computes on one CPU, and they
 * take about as long. */
struct duet_advice duet_advise(const struct duet_program *programs, size_t n, int64_t slice_ns);
