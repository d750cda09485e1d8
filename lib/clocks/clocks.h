/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a calibration of the clocks found: the cost, the resolution and the precision of each source
 * of time; what malloc costs; and how wrong the kernel's tick is. Unknown numbers are NAN. */
#pragma once

#include "lib/document/document.h"
#include "lib/record/fields.h"

/* By how much less precise one clock is than another: a ratio of standard deviations. */
struct gain {
	double ratio;     /* NAN: none can be formed */
	double low, high; /* its 95 % interval; NAN: unknown */
};

struct clock_source {
	char *name;
	/* cycles per call; low, high: 95 % interval of the median */
	double median, low, high, min, mean, sd;
	/* how many; interrupted ones are not in mean and sd */
	double calls, interrupted;
	double step_ns;            /* median of its advances, read again and again */
	double lag_ns, lag_max_ns; /* read from another CPU: median, greatest */
	double backwards;          /* readings below the one before */
	struct gain gain;          /* sd by getrusage / sd by this */
};

struct clock_missing {
	char *name, *why;
};

/* Trials of one computation. The arrays have an element for each source, in their order. */
struct clock_precision {
	int64_t primes, trials;
	double *mean_ns;
	double *sd_ns;     /* of the trials that are kept: see primes.c and precision_of() */
	double *sd_all_ns; /* of all */
};

struct clock_allocation {
	int64_t size_bytes;
	double cycles; /* mean of a call of malloc */
};

/* What a source shows of all allocations: the mean, and the share of readings that were 0. */
struct clock_small_cost {
	char *name;
	double cycles, zeros;
};

/* A process that sleeps over every tick, and one that runs only at ticks. */
struct clock_tick {
	double exact_ns, tick_ns;
};

enum { CLOCK_TICK_SLEEPER, CLOCK_TICK_RUNNER, N_CLOCK_TICKS };

extern const char *const clock_tick_names[N_CLOCK_TICKS];

struct clocks {
	int64_t id; /* in the book; 0: not stored */
	int64_t environment, made_ns;
	int64_t cpu;
	bool full;
	double cycles_per_second;
	char *clocksource; /* of the kernel; NULL: not known */
	char *allocator;   /* the library of malloc; NULL: not known */
	struct clock_source *sources;
	size_t n_sources;
	struct clock_missing *missing;
	size_t n_missing;
	struct clock_precision *precision; /* by primes */
	size_t n_precision;
	struct clock_allocation *allocations; /* by size */
	size_t n_allocations;
	struct clock_small_cost *small_costs;
	size_t n_small_costs;
	double tick_period_ns; /* NAN: not measured */
	char *tick_why;        /* why not; NULL: measured */
	struct clock_tick ticks[N_CLOCK_TICKS];
};

void clocks_clear(struct clocks *clocks);

/* A source of that name; NULL: none. */
struct clock_source *clocks_find(const struct clocks *clocks, const char *name);

/* Adds one, with everything unknown. */
struct clock_source *clocks_add_source(struct clocks *clocks, const char *name);
void clocks_add_missing(struct clocks *clocks, const char *name, const char *why);
/* Adds a row for all present sources, likewise. */
struct clock_precision *clocks_add_precision(struct clocks *clocks, int64_t primes, int64_t trials);

/* Calibrations of the clocks as emp-clocks documents, and in the lab book. */

extern const struct document_feature clocks_feature;

/* put sets the id; its environment must be in the book. get: that with the id (0: the latest), or
 * the latest one `before` it on the same machine; 1 found, 0 none. */
int book_put_clocks(struct book *book, struct clocks *clocks, struct error *err);
int book_get_clocks(
	struct book *book, int64_t id, bool before, struct clocks *ret, struct error *err);

json_t *clocks_as_json(const struct clocks *clocks);
/* The reverse. -EINVAL: a member is wrong; -EPROTONOSUPPORT: an unknown version. */
int clocks_from_json(const json_t *json, struct clocks *ret, struct error *err);
