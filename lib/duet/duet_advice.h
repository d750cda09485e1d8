/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a duet would show smaller differences between programs than the samples in turn that were taken. */
#pragma once

#include "lib/record/run.h"

#include <stdbool.h>

/* A program whose samples were taken in turn with others'. */
struct duet_candidate {
	const struct sample *samples;
	const bool *out; /* by index into the samples: discarded */
	size_t n;
};

struct duet_advice {
	bool better;
	double narrower; /* factor by which the interval of the ratio is narrower, at least; INFINITY: to nothing; NAN: not known */
	double p; /* that the machine's speed does not change from sample to sample; NAN: not known */
};

/* A duet is better if that is beyond doubt, matters, and the programs are fit for a duet: each runs for several slices, computes
 * on one CPU, and they take about as long. */
struct duet_advice duet_advise(const struct duet_candidate *programs, size_t n, int64_t slice_ns);
