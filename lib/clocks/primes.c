/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trials of the same computation by all sources in turn: see primes.h.
 *
 * The cycle counter is read around every trial, whatever the source. In each batch of a source the
 * fastest quarter by that counter is kept, because other programs disturbed many of the rest. Each
 * batch has trials of the whole time. */
#include "lib/clocks/primes.h"

#include "lib/clocks/precision.h"
#include "lib/stats/summary.h"

#include <math.h>

enum {
	FIRST = 100,
	LAST = 5000,
	STEP = 500,
	STEP_FULL = 100,
	TRIALS = 200,
	TRIALS_FULL = 1000,
	BATCHES = 5,
	BATCHES_FULL = 10,
	KEPT = 4, /* one trial in four */
};

struct trial {
	int64_t cycles;
	double ns;
};

/* The readings that are kept, by source, N and trial, in ns; and the true time of each N. */
struct trials {
	int step; /* from one N to the next */
	size_t n_sizes, n_trials, n_kept, n_batches;
	double *ns, *truths;
	struct trial *now; /* of the N in progress, by source and batch */
};

static double *kept_readings(const struct trials *t, size_t source, size_t size)
{
	return t->ns + (source * t->n_sizes + size) * t->n_kept;
}

static struct trials plan_trials(const struct clock_bench *b)
{
	struct trials t = {.step = b->result->full ? STEP_FULL : STEP,
		.n_trials = b->result->full ? TRIALS_FULL : TRIALS,
		.n_batches = b->result->full ? BATCHES_FULL : BATCHES};

	t.n_sizes = (size_t)((LAST - FIRST) / t.step + 1);
	t.n_kept = t.n_trials / KEPT;
	return t;
}

uint64_t clock_primes_steps(const struct clock_bench *b)
{
	struct trials t = plan_trials(b);

	return t.n_trials * t.n_sizes;
}

/* The n-th prime, by trial division by those before it. */
static int first_primes(int n)
{
	static int primes[LAST];
	int found = 0;

	for (int candidate = 2; found < n; candidate++) {
		int i = 0;

		while (i < found && primes[i] * primes[i] <= candidate && candidate % primes[i])
			i++;
		if (i == found || primes[i] * primes[i] > candidate)
			primes[found++] = candidate;
	}
	return primes[n - 1];
}

static bool takes_part(const struct clock_bench *b, size_t source)
{
	return b->readers[source].source->scope != TIME_OF_CHILDREN;
}

static int by_cycles(const void *a, const void *b)
{
	const struct trial *x = a, *y = b;

	return (x->cycles > y->cycles) - (x->cycles < y->cycles);
}

/* One trial of each source. `all`: of all trials so far, by source. */
static void try_sources(struct clock_bench *b, const struct trials *t, int n_primes, size_t trial,
	struct running all[])
{
	size_t batch = trial % t->n_batches * (t->n_trials / t->n_batches) + trial / t->n_batches;

	for (size_t k = 0; k < b->n; k++) {
		size_t source = (trial + k) % b->n;
		struct time_reader *reader = &b->readers[source];
		struct trial *done = &t->now[source * t->n_trials + batch];
		double cost_ns = b->result->sources[source].median / b->cycles_per_ns;
		int64_t start, before, after;

		if (!takes_part(b, source))
			continue;
		start = cycles_now();
		before = time_read(reader);
		__asm__ volatile("" ::"r"(first_primes(n_primes))
				 : "memory"); /* it stays between the readings */
		after = time_read(reader);
		*done = (struct trial){
			cycles_now() - start, clock_bench_ns(b, reader, after - before) - cost_ns};
		running_add(&all[source], llround(done->ns));
	}
}

/* The readings of a source for the N in progress: of each batch the fastest quarter. Returns their
 * mean. */
static double keep_fastest(struct trials *t, size_t source, double *kept)
{
	size_t n_batch = t->n_trials / t->n_batches;
	double sum = 0;

	for (size_t batch = 0; batch < t->n_batches; batch++) {
		struct trial *trials = &t->now[source * t->n_trials + batch * n_batch];

		qsort(trials, n_batch, sizeof(*trials), by_cycles);
		for (size_t i = 0; i < n_batch / KEPT; i++)
			sum += *kept++ = trials[i].ns;
	}
	return sum / (double)t->n_kept;
}

/* `exact`: the source whose mean is the true CPU time. */
static int add_size(struct clock_bench *b, struct trials *t, size_t size, size_t exact)
{
	int n_primes = FIRST + (int)size * t->step, r = 0;
	struct clock_precision *row = clocks_add_precision(
		b->result, n_primes, (int64_t)t->n_trials);
	struct running all[MAX_CLOCK_READERS];

	for (size_t i = 0; i < b->n; i++)
		all[i] = RUNNING_NONE;
	for (size_t trial = 0; r == 0 && trial < t->n_trials; trial++) {
		try_sources(b, t, n_primes, trial, all);
		r = clock_bench_step(b);
	}
	if (r < 0)
		return r;

	for (size_t i = 0; i < b->n; i++) {
		double mean_ns = keep_fastest(t, i, kept_readings(t, i, size));

		row->mean_ns[i] = takes_part(b, i) ? mean_ns : NAN;
	}
	t->truths[size] = row->mean_ns[exact];
	for (size_t i = 0; i < b->n; i++) {
		const double *kept = kept_readings(t, i, size);

		if (!takes_part(b, i))
			continue;
		row->sd_ns[i] = precision_of(kept, t->n_kept, t->truths[size]);
		row->sd_all_ns[i] = running_sd(&all[i]);
	}
	return 0;
}

int clock_primes(struct clock_bench *b, struct error *err)
{
	const struct clock_source *exact = clocks_find(b->result, TIME_EXACT),
				  *reference = clocks_find(b->result, TIME_REFERENCE);
	struct trials t = plan_trials(b);
	size_t n_of_source = t.n_sizes * t.n_kept;
	_cleanup_(freep) double *ns = t.ns = xcalloc(b->n * n_of_source, sizeof(double));
	_cleanup_(freep) double *truths = t.truths = xcalloc(t.n_sizes, sizeof(double));
	_cleanup_(freep) struct trial *now = t.now = xcalloc(b->n * t.n_trials, sizeof(*now));
	int r = 0;

	if (!exact)
		return error_say(err, -ENOTSUP, "this kernel has no %s", TIME_EXACT);
	for (size_t i = 0; r == 0 && i < t.n_sizes; i++)
		r = add_size(b, &t, i, (size_t)(exact - b->result->sources));
	for (size_t i = 0; r == 0 && reference && i < b->n; i++) {
		struct precision_pair pair = {
			.reference = ns + (size_t)(reference - b->result->sources) * n_of_source,
			.other = ns + i * n_of_source,
			.truths = truths,
			.n_things = t.n_sizes,
			.n_trials = t.n_kept,
			.n_batches = t.n_batches};

		if (takes_part(b, i))
			b->result->sources[i].gain = precision_gain(&pair);
	}
	return r;
}
