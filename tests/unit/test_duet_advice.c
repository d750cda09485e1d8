/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a duet is suggested, and how often that is right: on a simulated machine whose speed
 * changes, with programs that have noise of their own. What a duet would show is simulated, too. */
#include "tests/unit/drawn.h"

#include "lib/base/number.h"
#include "lib/base/cleanup.h"
#include "lib/duet/duet_advice.h"

#include <math.h>
#include <string.h>

enum { MOST_PROGRAMS = 3, MOST_ROUNDS = 40, TRUTH_ROUNDS = 300, TIMES = 1000 };
static const double STEP_S = 0.01; /* of the machine, and a slice */

/* What is drawn for each case. */
struct world {
	size_t programs, rounds;
	double length_s;          /* of a sample alone */
	double sd, correlation_s; /* of the logarithm of the machine's speed */
	double period_s, busy_share,
		/* something that comes back and slows it down; slower 0: nothing does */
		slower;
	double noise[MOST_PROGRAMS]; /* of each program's own, a standard deviation */
	int shape[MOST_PROGRAMS];    /* its distribution */
};

/* A sample of each program a round: their logarithms. */
struct series {
	double logs[TRUTH_ROUNDS][MOST_PROGRAMS];
};

static double from(double low, double high) /* evenly on a logarithmic scale */
{
	return low * pow(high / low, gsl_rng_uniform(rng));
}

static double draw_noise(const struct world *w, size_t program)
{
	double sd = w->noise[program];

	switch (w->shape[program]) {
	case 0:
		return gsl_ran_gaussian(rng, sd);
	case 1:
		return gsl_ran_exponential(rng, sd);
	case 2:
		return sd / sqrt(3) * gsl_ran_tdist(rng, 3);
	default: /* now and then far out */
		return gsl_ran_gaussian(rng, sd / 2) +
		       (gsl_rng_uniform_int(rng, 10) ? 0 : gsl_ran_exponential(rng, 5 * sd));
	}
}

/* The machine's slowness, a step after another: an Ornstein-Uhlenbeck process, and what comes
 * back. */
struct machine {
	double level, phase_s;
};

static double next_step(const struct world *w, struct machine *m)
{
	double keep = exp(-STEP_S / w->correlation_s);

	m->level = keep * m->level + gsl_ran_gaussian(rng, w->sd * sqrt(1 - keep * keep));
	m->phase_s += STEP_S;
	if (w->slower > 0 && fmod(m->phase_s, w->period_s) < w->busy_share * w->period_s)
		return m->level + w->slower;
	return m->level;
}

static struct machine begin_machine(const struct world *w)
{
	return (struct machine){gsl_ran_gaussian(rng, w->sd),
		w->slower > 0 ? gsl_rng_uniform(rng) * w->period_s : 0};
}

static void add_noise(const struct world *w, size_t rounds, struct series *ret)
{
	for (size_t i = 0; i < rounds; i++)
		for (size_t p = 0; p < w->programs; p++)
			ret->logs[i][p] += draw_noise(w, p);
}

static void run_in_turn(const struct world *w, size_t rounds, struct series *ret)
{
	int steps = (int)(w->length_s / STEP_S);
	struct machine m = begin_machine(w);

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < rounds; i++)
		for (size_t p = 0; p < w->programs; p++)
			for (int k = 0; k < steps; k++)
				ret->logs[i][p] += next_step(w, &m) / steps;
	add_noise(w, rounds, ret);
}

/* Of the logarithm of the ratio of the first two. */
static double sd_of(const struct series *s, size_t rounds)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < rounds; i++)
		mean += (s->logs[i][1] - s->logs[i][0]) / (double)rounds;
	for (size_t i = 0; i < rounds; i++)
		squares += pow(s->logs[i][1] - s->logs[i][0] - mean, 2);
	return sqrt(squares / (double)(rounds - 1));
}

/* How much narrower a duet's interval is than that of samples in turn. */
static double true_gain(const struct world *w)
{
	int steps = (int)(w->length_s / STEP_S);
	struct series turn, duet = {};
	struct machine m;

	run_in_turn(w, TRUTH_ROUNDS, &turn);
	m = begin_machine(w);
	for (size_t i = 0; i < TRUTH_ROUNDS; i++)
		for (int k = 0; k < steps; k++)
			for (size_t p = 0; p < w->programs; p++)
				duet.logs[i][p] += next_step(w, &m) / steps;
	add_noise(w, TRUTH_ROUNDS, &duet);
	return sd_of(&turn, TRUTH_ROUNDS) / sd_of(&duet, TRUTH_ROUNDS);
}

struct programs {
	struct sample samples[MOST_PROGRAMS][MOST_ROUNDS];
	bool out[MOST_ROUNDS];
	struct duet_program candidates[MOST_PROGRAMS];
};

static void fill(struct programs *p, const struct world *w, const struct series *s)
{
	memset(p, 0, sizeof(*p));
	for (size_t k = 0; k < w->programs; k++) {
		p->candidates[k] = (struct duet_program){p->samples[k], p->out, w->rounds};
		for (size_t i = 0; i < w->rounds; i++) {
			int64_t pt_ns = (int64_t)(exp(s->logs[i][k]) * w->length_s * 1e9);

			p->samples[k][i] = (struct sample){.n = (uint32_t)i + 1,
				.pt_ns = pt_ns,
				.et_ns = pt_ns + 1000,
				.wait_ns = 0};
		}
	}
}

static struct duet_advice advise(const struct world *w)
{
	struct series s;
	struct programs p;

	run_in_turn(w, w->rounds, &s);
	fill(&p, w, &s);
	return duet_advise(p.candidates, w->programs, 10 * NS_PER_MS);
}

/* Programs of any length and number, whose noise is independent from sample to sample. */
static struct world any_world(void)
{
	static const size_t rounds[] = {6, 10, 10, 15, 20, 40};
	struct world w = {
		.programs = 2 + gsl_rng_uniform_int(rng, 2),
		.rounds = rounds[gsl_rng_uniform_int(rng, ELEMENTS(rounds))],
		.length_s = from(0.06, 1),
		.correlation_s = 1,
	};
	double noise = from(0.001, 0.03);

	for (size_t p = 0; p < w.programs; p++) {
		w.noise[p] = noise * from(0.5, 2);
		w.shape[p] = (int)gsl_rng_uniform_int(rng, 4);
	}
	return w;
}

TEST_DRAWN(independent_noise_is_no_reason_for_a_duet, 1)
{
	int advised = 0;

	for (int i = 0; i < TIMES; i++) {
		struct world w = any_world();

		advised += advise(&w).better;
	}
	printf("independent noise: a duet is suggested in %.1f %% of cases\n",
		100.0 * advised / TIMES);
	assert_true(advised <= TIMES / 20);
}

TEST_DRAWN(a_drift_that_samples_in_turn_have_alike_is_no_reason_either, 2)
{
	int wrong = 0;

	for (int i = 0; i < TIMES; i++) {
		struct world w = any_world();

		/* so slow that samples in turn have it alike */
		w.sd = from(1, 5) * w.noise[0];
		w.correlation_s = 20 * (double)(w.rounds * w.programs) * w.length_s;
		wrong += advise(&w).better && true_gain(&w) < 1.2;
	}
	printf("drift: a duet is suggested in vain in %.1f %% of cases\n", 100.0 * wrong / TIMES);
	assert_true(wrong <= TIMES / 20);
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

TEST_DRAWN(where_a_duet_is_suggested_its_interval_is_narrower, 3)
{
	double gains[TIMES];
	int advised = 0, helps = 0, worth = 0, found = 0;

	for (int i = 0; i < TIMES; i++) {
		struct world w = any_world();
		bool better;
		double gain;

		w.sd = from(0.002, 0.1);
		w.correlation_s = from(0.02, 30);
		if (gsl_rng_uniform_int(rng, 2)) {
			w.slower = w.sd * from(0.5, 3);
			w.period_s = from(0.05, 20);
			w.busy_share = 0.05 + 0.45 * gsl_rng_uniform(rng);
		}
		better = advise(&w).better;
		gain = true_gain(&w);
		if (better)
			gains[advised++] = gain;
		helps += better && gain > 1.1;
		if (gain > 2 && w.rounds >= 10 && w.correlation_s > w.length_s) {
			worth++;
			found += better;
		}
	}

	qsort(gains, (size_t)advised, sizeof(*gains), by_value);
	printf("changing speed: a duet is suggested in %d of %d cases, "
	       "and is better in %.1f %% of them, its interval\n"
	       "%.1f times as narrow (median); %d of %d that it would make half as "
	       "wide are found\n",
		advised, TIMES, 100.0 * helps / advised, gains[advised / 2], found, worth);

	assert_true(helps > 0.8 * advised);
	assert_true(gains[advised / 2] > 1.5);
	assert_true(found > worth / 3);
}

static struct programs p;

/* Two programs of 0.2 s on a machine whose speed is a random walk. */
static int make_walk(void **state)
{
	struct world w = {.programs = 2, .rounds = 20, .length_s = 0.2};
	struct series s;
	double level = 0;

	rng = gsl_rng_alloc(gsl_rng_mt19937); /* the same walk in each run */
	for (size_t i = 0; i < w.rounds; i++)
		for (size_t k = 0; k < 2; k++)
			s.logs[i][k] = level += gsl_ran_gaussian(rng, 0.02);
	fill(&p, &w, &s);
	return rng_end(NULL);
}

#define TEST_OF_WALK(name) TEST_WITH(name, make_walk, NULL)

static bool is_better(int64_t slice_ns)
{
	return duet_advise(p.candidates, 2, slice_ns).better;
}

static void lengthen(size_t program, double pt, double et)
{
	for (size_t i = 0; i < MOST_ROUNDS; i++) {
		p.samples[program][i].pt_ns = (int64_t)(pt * (double)p.samples[program][i].pt_ns);
		p.samples[program][i].et_ns = (int64_t)(et * (double)p.samples[program][i].et_ns);
	}
}

TEST_OF_WALK(programs_that_are_not_fit_for_a_duet_get_none)
{
	assert_true(is_better(10 * NS_PER_MS));
	assert_false(is_better(50 * NS_PER_MS)); /* a few slices */
	lengthen(1, 3, 3);
	assert_false(is_better(10 * NS_PER_MS)); /* left over for most of its time */
	make_walk(NULL);
	lengthen(1, 1, 2);
	assert_false(is_better(10 * NS_PER_MS)); /* it waits for something */
	for (size_t i = 0; i < MOST_ROUNDS; i++)
		p.samples[1][i].wait_ns = p.samples[1][i].pt_ns;
	assert_true(is_better(10 * NS_PER_MS)); /* for its CPU */
	make_walk(NULL);
	lengthen(0, 1.8, 1);
	assert_false(is_better(10 * NS_PER_MS)); /* two CPUs */
}

TEST_OF_WALK(rounds_of_which_something_was_discarded_do_not_count)
{
	p.samples[1][3].pt_ns *= 100;
	assert_false(is_better(10 * NS_PER_MS));
	p.out[3] = true;
	assert_true(is_better(10 * NS_PER_MS));
	memset(p.out, true, 16);
	assert_false(is_better(10 * NS_PER_MS)); /* too few */
}

TEST_OF_WALK(intervals_that_are_narrow_already_need_no_duet)
{
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < MOST_ROUNDS; i++)
			p.samples[k][i].pt_ns =
				(int64_t)(2e8 * pow((double)p.samples[k][i].pt_ns / 2e8, 0.1));
	assert_false(is_better(10 * NS_PER_MS));
}

TEST_OF_WALK(constant_times_and_one_program_have_nothing_to_say)
{
	assert_false(duet_advise(p.candidates, 1, 10 * NS_PER_MS).better);
	assert_false(duet_advise(NULL, 0, 10 * NS_PER_MS).better);
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < MOST_ROUNDS; i++)
			p.samples[k][i].pt_ns = 200 * NS_PER_MS;
	assert_false(is_better(10 * NS_PER_MS));
}
