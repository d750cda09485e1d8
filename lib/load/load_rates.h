/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rate of work of a load: complete repetitions of the scripts per second, by run. With a
 * constant load the rate of a worker is the number of its repetitions over the time to the end of
 * the last of them, and that of a script the sum over its workers. Otherwise it is the number of
 * repetitions over the time to the last worker's end.
 *
 * A share is what all workers of a script have to do in a run, by the load's file. The rate of all
 * work is the geometric mean of the scripts' rates in shares, so that each script counts as much as
 * any other, however short its repetitions are. With one script it is that script's rate, in
 * repetitions. */
#pragma once

#include "lib/load/book_load.h"
#include "lib/record/run.h"
#include "lib/stats/summary.h"
#include "lib/stats/time_series.h"

/* What the workers of a load did. */
struct load_work {
	enum coordination coordination;
	struct run_program *programs; /* the workers: programs[n - 1].n == n */
	size_t n_programs;
	struct sample_program *parts; /* of all samples, in their order, then of programs */
	size_t n_parts;
	const char *file; /* the text of the load */
};

/* What they did in one sample. */
struct load_parts {
	const struct sample_program *items;
	size_t n;
};

struct load_parts load_parts_of(const struct load_work *work, uint32_t sample);

struct load_rate {
	const char *script; /* NULL: of all; the programs' otherwise */
	int64_t workers;
	int64_t share;            /* repetitions of all its workers in a run */
	int64_t *nano;            /* by run: repetitions, or of all work shares, in 10^9 s */
	struct summary summary;   /* of them */
	struct interval interval; /* of the mean, at 95 % */
};

struct load_rates {
	struct load_rate *items; /* the first: of all work */
	size_t n, n_runs;
	struct load_rate sum; /* repetitions of all scripts */
	struct summary time;  /* to the last worker's end */
	/* the share of runs whose workers finished in another order than in the run before; NAN:
	 * one run */
	double order_changed;
};

/* samples[n_samples]: those that count. shares_of: the shares of that load, not those of the file;
 * NULL: those of the file. load_rates_clear() frees them. */
struct load_rates load_rates_of(const struct load_work *work, const struct load_rates *shares_of,
	const struct sample *samples, size_t n_samples);
void load_rates_clear(struct load_rates *rates);

/* What one worker did in a sample, in repetitions a second. */
double load_rate_of_worker(enum coordination coordination, const struct sample *sample,
	const struct sample_program *part);
/* Whether the rate of all work is in shares: there are several scripts. */
bool load_rates_in_shares(const struct load_rates *rates);
/* NULL: there is no such script. */
struct load_rate *load_rates_find(const struct load_rates *rates, const char *script);

/* The unit of time in which a rate (in 10^9 s) is not below one, if there is one. */
struct load_unit {
	const char *name, *long_name;
	double seconds;
};
const struct load_unit *load_unit_for(double nano);
/* As many decimals as give the sd of a rate two significant digits in that unit; without one, the
 * mean four. */
int load_rate_decimals(const struct load_rate *rate, const struct load_unit *unit);
/* As text_brief: the mean and the sd, "12.26 ± 0.29"; the interval, "11.90 … 12.62", NULL: one run
 * has none. */
const char *load_rate_text(const struct load_rate *rate, const struct load_unit *unit);
const char *load_rate_interval_text(const struct load_rate *rate, const struct load_unit *unit);
