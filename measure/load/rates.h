/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rate of work: complete repetitions of the scripts per second, by run. With a constant load the rate of a slave is
 * the number of its repetitions over the time to the end of the last of them, and that of a script the sum over its
 * slaves. Otherwise it is the number of repetitions over the time to the last slave's end. */
#pragma once

#include "measure/load/load.h"

#include "lib/record/programs.h"
#include "lib/record/run.h"
#include "lib/stats/interval.h"
#include "lib/stats/summary.h"

struct rate {
	const char *script; /* NULL: of all; the programs' otherwise */
	int64_t slaves;
	int64_t *nano;            /* by run: repetitions in 10^9 s */
	struct summary summary;   /* of them */
	struct interval interval; /* of the mean, at 95 % */
};

struct rates {
	struct rate *items; /* the first: of all */
	size_t n, n_runs;
	struct summary time;      /* to the last slave's end */
	struct interval interval; /* likewise */
	double order_changed; /* the share of runs whose slaves finished in another order than in the run before; NAN: one run */
};

/* samples[n_samples]: those that count; parts: of all samples, in the order of samples, then of programs. */
int rates_of(struct rates *ret, enum coordination coordination, const struct run_program *programs,
	size_t n_programs, const struct sample *samples, size_t n_samples, const struct sample_program *parts,
	size_t n_parts, struct error *err);
void rates_clear(struct rates *rates);
