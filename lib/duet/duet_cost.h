/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a duet costs: programs that share a CPU share its caches, so that each takes longer than
 * alone; and how far their ratio may be biased by that. */
#pragma once

#include "lib/duet/book_duet.h"
#include "lib/record/run.h"
#include "lib/stats/compare.h"

/* One program of a duet, as the book has it; of one in turn, only its samples. */
struct duet_program {
	const struct sample *samples;
	const bool *out; /* by index into the samples: discarded */
	size_t n_samples;
	struct duet_sample *together; /* of each sample */
	size_t n_together;
	struct duet_alone *alone;
	size_t n_alone;
	int64_t switches; /* away from the CPU, in all samples; -1: not known */
};

/* A logarithm and half its 95 % interval; NAN: not known. */
struct duet_estimate {
	double log, half;
};

struct duet_cost {
	double alone_ns, together_ns; /* mean PT; NAN: not known */
	/* log (PT in the duet / PT alone), each run alone against its neighbours */
	struct duet_estimate price;
	/* share of its ET without another program, 0 to 1; NAN: it has no samples */
	double last;
	double slice_ns; /* mean time between two switches; NAN: not known */
};

struct duet_cost duet_cost_of(const struct duet_program *program);

/* Of the ratio b / a: by how much its logarithm in the duet is above that alone. */
struct duet_estimate duet_bias(const struct duet_cost *a, const struct duet_cost *b);

/* Why two programs are not to be compared by their duet. */
enum duet_doubt {
	DUET_SOUND,
	DUET_BIASED, /* the interval of the bias leaves out 0 */
	/* the interval of the duet's ratio leaves out 1, and the runs alone leave a chance of more
	 * than one in three that the ratio alone lies on the other side */
	DUET_CONTRADICTED,
	DUET_TOO_SHORT, /* one of them runs for less than four slices */
	N_DUET_DOUBTS
};
extern const char *const duet_doubt_names[N_DUET_DOUBTS];

/* ratio: of b / a in the duet. */
enum duet_doubt duet_doubt_of(const struct duet_cost *a, const struct duet_cost *b,
	int64_t slice_ns, const struct log_ratio *ratio);

/* For a program whose PT is that long: 10 ms, or 3 ms below 100 ms. */
int64_t duet_slice_for(int64_t pt_ns);

/* A longer slice if a price is above 1 % beyond doubt: 3, 10, 30 or 100 ms, of which the shortest
 * program has four, and which makes the price 5 % or less; 0: none. The price of a switch is
 * refilling the caches, so that it falls with the number of switches. */
int64_t duet_suggest_slice(int64_t slice_ns, const struct duet_cost *costs, size_t n);
