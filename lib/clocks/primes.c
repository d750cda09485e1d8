/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How precisely each source times the same computation, the first N primes (Hines, Wyatt & Chang, Figure 2). What a call
 * of the source costs is subtracted, as in the paper.
 *
 * The cycle counter is read around every trial, whatever the source. In each batch of a source the fastest quarter by
 * that counter is kept, because other programs disturbed many of the rest. Each batch has trials of the whole time. */
#include "lib/clocks/bench.h"
#include "lib/base/xalloc.h"

#include "lib/clocks/precision.h"
#include "lib/stats/summary.h"

#include <errno.h>
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
	size_t n_sizes, n_kept, n_batches;
	double *ns, *truths;
	struct trial *now; /* of the N in progress, by source and batch */
};

static double *trials_of(const struct trials *t, size_t source, size_t size)
{
	return t->ns + (source * t->n_sizes + size) * t->n_kept;
}

static int step_size(const struct clock_bench *b)
{
	return b->full ? STEP_FULL : STEP;
}

static size_t n_trials(const struct clock_bench *b)
{
	return b->full ? TRIALS_FULL : TRIALS;
}

static size_t n_sizes(const struct clock_bench *b)
{
	return (size_t)((LAST - FIRST) / step_size(b) + 1);
}

uint64_t clock_primes_steps(const struct clock_bench *b)
{
	return n_trials(b) * n_sizes(b);
}

/* By trial division by the primes found so far. The last of them. */
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

/* The trials of a source in a batch. */
static struct trial *batch_of(struct clock_bench *b, const struct trials *t, size_t source, size_t batch)
{
	return t->now + source * n_trials(b) + batch * (n_trials(b) / t->n_batches);
}

static double primes_mean(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

/* `exact`: the source whose mean is the true CPU time. */
static int add_size(struct clock_bench *b, struct trials *t, size_t size, size_t exact)
{
	struct running all[MAX_CLOCK_READERS];
	struct clock_precision *row = clocks_add_precision(
		b->result, FIRST + (int64_t)size * step_size(b), (int64_t)n_trials(b));
	int r;

	for (size_t i = 0; i < b->n; i++)
		all[i] = RUNNING_NONE;

	/* `all` is of all trials, by source. */
	int n = FIRST + (int)size * step_size(b);

	r = 0;
	for (size_t trial = 0; r == 0 && trial < n_trials(b); trial++) {
		for (size_t k = 0; k < b->n; k++) {
			size_t source = (trial + k) % b->n;
			struct trial *done = batch_of(b, t, source, trial % t->n_batches);

			if (!takes_part(b, source))
				continue;
			done += trial / t->n_batches;

			struct time_reader *reader = &b->readers[source];
			double cost_ns = b->result->sources[source].median / b->cycles_per_ns;
			int64_t start = cycles_now(), before, after;

			before = time_read(reader);
			__asm__ volatile("" ::"r"(first_primes(n))
					 : "memory"); /* it stays between the readings */
			after = time_read(reader);
			*done = (struct trial){
				cycles_now() - start, clock_bench_ns(b, reader, after - before) - cost_ns};
			running_add(&all[source], llround(done->ns));
		}
		r = clock_bench_step(b);
	}
	for (size_t i = 0; r == 0 && i < b->n; i++) {
		size_t n_fastest = n_trials(b) / t->n_batches;
		double *kept = trials_of(t, i, size);

		for (size_t batch = 0; batch < t->n_batches; batch++) {
			struct trial *trials = batch_of(b, t, i, batch);

			qsort(trials, n_fastest, sizeof(*trials), by_cycles);
			for (size_t k = 0; k < n_fastest / KEPT; k++)
				*kept++ = trials[k].ns;
		}
	}
	if (r < 0)
		return r;
	t->truths[size] = primes_mean(trials_of(t, exact, size), t->n_kept);
	for (size_t i = 0; i < b->n; i++) {
		const double *ns = trials_of(t, i, size);

		if (!takes_part(b, i))
			continue;
		row->mean_ns[i] = primes_mean(ns, t->n_kept);
		row->sd_ns[i] = precision_of(ns, t->n_kept, t->truths[size]);
		row->sd_all_ns[i] = running_sd(&all[i]);
	}
	return 0;
}

int clock_primes(struct clock_bench *b, struct error *err)
{
	struct trials t = {.n_sizes = n_sizes(b),
		.n_kept = n_trials(b) / KEPT,
		.n_batches = b->full ? BATCHES_FULL : BATCHES};
	_cleanup_(freep) double *ns = xcalloc(b->n * t.n_sizes * t.n_kept, sizeof(double));
	_cleanup_(freep) double *truths = xcalloc(t.n_sizes, sizeof(double));
	_cleanup_(freep) struct trial *now = xcalloc(b->n * n_trials(b), sizeof(*now));
	int r = 0;

	t.ns = ns;
	t.truths = truths;
	t.now = now;

	const struct clock_source *exact = clocks_find(b->result, TIME_EXACT);

	if (!exact)
		return error_say(err, -ENOTSUP, "this kernel has no %s", TIME_EXACT);
	for (size_t i = 0; r == 0 && i < t.n_sizes; i++)
		r = add_size(b, &t, i, (size_t)(exact - b->result->sources));
	if (r == 0) {
		const struct clock_source *reference = clocks_find(b->result, TIME_REFERENCE);
		struct precision_pair pair = {.truths = t.truths,
			.n_things = t.n_sizes,
			.n_trials = t.n_kept,
			.n_batches = t.n_batches};

		for (size_t i = 0; reference && i < b->n; i++) {
			struct clock_source *source = &b->result->sources[i];
			struct gain gain;

			if (!takes_part(b, i))
				continue;
			pair.reference = trials_of(&t, (size_t)(reference - b->result->sources), 0);
			pair.other = trials_of(&t, i, 0);
			gain = precision_gain(&pair, 0.95);
			source->gain = gain.ratio;
			source->gain_low = gain.low;
			source->gain_high = gain.high;
		}
	}
	return r;
}
