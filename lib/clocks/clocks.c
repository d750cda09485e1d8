/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a calibration of the clocks found: see clocks.h. */
#include "lib/clocks/clocks.h"

#include "lib/base/xalloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const clock_tick_names[N_CLOCK_TICKS] = {"sleeps over every tick", "runs only at the tick"};

void clocks_clear(struct clocks *c)
{
	for (size_t i = 0; i < c->n_sources; i++)
		free(c->sources[i].name);
	for (size_t i = 0; i < c->n_missing; i++) {
		free(c->missing[i].name);
		free(c->missing[i].why);
	}
	for (size_t i = 0; i < c->n_precision; i++)
		free(c->precision[i].mean_ns);
	for (size_t i = 0; i < c->n_small_costs; i++)
		free(c->small_costs[i].name);
	free(c->sources);
	free(c->missing);
	free(c->precision);
	free(c->allocations);
	free(c->small_costs);
	free(c->clocksource);
	free(c->allocator);
	free(c->tick_why);
	*c = (struct clocks){};
}

struct clock_source *clocks_find(const struct clocks *c, const char *name)
{
	for (size_t i = 0; i < c->n_sources; i++)
		if (!strcmp(c->sources[i].name, name))
			return &c->sources[i];
	return NULL;
}

struct clock_source *clocks_add_source(struct clocks *c, const char *name)
{
	struct clock_source *source = array_add(c->sources, c->n_sources);

	*source = (struct clock_source){
		.median = NAN, .low = NAN, .high = NAN, .min = NAN, .mean = NAN, .sd = NAN,
		.calls = NAN, .interrupted = NAN,
		.step_ns = NAN, .lag_ns = NAN, .lag_max_ns = NAN, .backwards = NAN,
		.gain = NAN, .gain_low = NAN, .gain_high = NAN,
	};
	source->name = xstrdup(name);
	return source->name ? source : NULL;
}

int clocks_add_missing(struct clocks *c, const char *name, const char *why)
{
	struct clock_missing *missing = array_add(c->missing, c->n_missing);

	missing->name = xstrdup(name);
	missing->why = xstrdup(why);
	return missing->name && missing->why ? 0 : -ENOMEM;
}

struct clock_precision *clocks_add_precision(struct clocks *c, int64_t primes, int64_t trials)
{
	struct clock_precision *row = array_add(c->precision, c->n_precision);
	size_t n = c->n_sources;

	row->primes = primes;
	row->trials = trials;
	row->mean_ns = xcalloc(3 * n + 1, sizeof(double));
	row->sd_ns = row->mean_ns + n;
	row->sd_all_ns = row->sd_ns + n;
	for (size_t i = 0; i < 3 * n; i++)
		row->mean_ns[i] = NAN;
	return row;
}

struct clock_small_cost *clocks_add_small_cost(struct clocks *c, const char *name)
{
	struct clock_small_cost *cost = array_add(c->small_costs, c->n_small_costs);

	*cost = (struct clock_small_cost){xstrdup(name), NAN, NAN};
	return cost->name ? cost : NULL;
}
