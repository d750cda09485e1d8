/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rate of work: complete repetitions of the scripts per second, by run. With a constant load the rate of a slave is
 * the number of its repetitions over the time to the end of the last of them, and that of a script the sum over its
 * slaves. Otherwise it is the number of repetitions over the time to the last slave's end.
 *
 * A share is what all slaves of a script have to do in a run, by the load's file. The rate of all work is the geometric mean
 * of the scripts' rates in shares, so that each script counts as much as any other, however short its repetitions are. With
 * one script it is that script's rate, in repetitions. */
#pragma once

#include "lib/base/error.h"
#include "lib/load/load.h"
#include "lib/record/run.h"
#include "lib/stats/interval.h"
#include "lib/stats/summary.h"

#include <stdbool.h>

/* What the slaves of a load did. */
struct load_work {
	enum coordination coordination;
	const struct run_program *programs; /* the slaves: items[n - 1].n == n */
	size_t n_programs;
	const struct sample_program *parts; /* of all samples, in their order, then of programs */
	size_t n_parts;
	const char *file;                   /* the text of the load */
	const struct load_rates *shares_of; /* not NULL: the shares of that load count, not those of `file` */
};

struct load_rate {
	const char *script; /* NULL: of all; the programs' otherwise */
	int64_t slaves;
	int64_t share;            /* repetitions of all its slaves in a run */
	int64_t *nano;            /* by run: repetitions, or of all work shares, in 10^9 s */
	struct summary summary;   /* of them */
	struct interval interval; /* of the mean, at 95 % */
};

struct load_rates {
	struct load_rate *items; /* the first: of all work */
	size_t n, n_runs;
	struct load_rate sum;     /* repetitions of all scripts */
	struct summary time;      /* to the last slave's end */
	struct interval interval; /* likewise */
	double order_changed; /* the share of runs whose slaves finished in another order than in the run before; NAN: one run */
};

/* samples[n_samples]: those that count. */
int load_rates_of(struct load_rates *ret, const struct load_work *work, const struct sample *samples,
	size_t n_samples, struct error *err);
void load_rates_clear(struct load_rates *rates);

/* What one slave did in a sample, in repetitions a second. */
double load_rate_of_slave(
	enum coordination coordination, const struct sample *sample, const struct sample_program *part);
/* Whether the rate of all work is in shares: there are several scripts. */
bool load_rates_in_shares(const struct load_rates *rates);
/* NULL: there is no such script. */
const struct load_rate *load_rates_find(const struct load_rates *rates, const char *script);
