/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether rates differ by more than chance: how often the test is wrong about sources of drawn
 * kinds, periods and bursts. */
#include "lib/jitter/rate.h"

#include "tests/unit/check.h"

#include <math.h>

enum { CASES = 2000, MOST_ROUNDS = 400 };

enum habit { AT_RANDOM, PERIODIC, IN_BURSTS, HEAVY, THROUGHOUT, N_HABITS };

static const char *const names[N_HABITS] = {
	"at random", "periodic", "in bursts", "heavy tails", "throughout"};

/* A source, and how it behaves. Times in rounds. */
struct habits {
	enum habit habit;
	double rate, period, burst;
};

static double uniform(void)
{
	return ((double)random() + 0.5) / ((double)RAND_MAX + 1);
}

static double exponential(double mean)
{
	return -mean * log(uniform());
}

static double length(const struct habits *h)
{
	return h->habit == HEAVY ? 1000 * pow(uniform(), -1 / 1.5) : 1000 * (0.9 + 0.2 * uniform());
}

static void put(double *rounds, int n, double at, double ns)
{
	if (at >= 0 && at < n)
		rounds[(int)at] += ns;
}

/* Slices one after another over h->burst rounds on the average. */
static void put_burst(double *rounds, int n, double at, const struct habits *h)
{
	double end = at + exponential(h->burst);

	for (; at < end; at += 0.1)
		put(rounds, n, at, length(h));
}

static struct rate run(int n, const struct habits *h, double more)
{
	double rounds[MOST_ROUNDS] = {};
	struct rate rate = {.n = n, .time_ns = 1e9 * n};
	double at = h->habit == PERIODIC ? uniform() * h->period : -20;

	for (int i = 0; h->habit == THROUGHOUT && i < n; i++)
		rounds[i] = more * 1000 * (50 + 10 * uniform());
	while (h->habit != THROUGHOUT && at < n) {
		if (h->habit == IN_BURSTS)
			put_burst(rounds, n, at, h);
		else
			put(rounds, n, at, length(h));
		at += h->habit == PERIODIC ? h->period / more : exponential(1 / (h->rate * more));
	}
	for (int i = 0; i < n; i++) {
		rate.with += rounds[i] > 0;
		rate.total_ns += rounds[i];
		rate.squares += rounds[i] * rounds[i];
		rate.steps += i > 0 ? (rounds[i] - rounds[i - 1]) * (rounds[i] - rounds[i - 1]) : 0;
	}
	return rate;
}

static struct habits draw(enum habit habit)
{
	return (struct habits){habit, exp(log(0.01) + uniform() * log(300)),
		exp(log(0.3) + uniform() * log(200)), exp(log(0.5) + uniform() * log(16))};
}

static int rounds(void)
{
	return (int)exp(log(20) + uniform() * log(20));
}

struct wrong {
	int at_05, at_001;
};

/* How often two runs of the same source are said to differ. */
static struct wrong count_wrong(enum habit habit, double margin)
{
	struct wrong wrong = {};

	for (int i = 0; i < CASES; i++) {
		struct habits h = draw(habit);
		struct rate a = run(rounds(), &h, 1), b = run(rounds(), &h, 1);
		double p = fmin(1, 2 * fmin(rate_more(&a, &b, margin), rate_more(&b, &a, margin)));

		wrong.at_05 += p < 0.05;
		wrong.at_001 += p < 0.001;
	}
	printf("%s, margin %g: %.2f %% at 5 %%, %.2f %% at 0.1 %%\n", names[habit], margin,
		100.0 * wrong.at_05 / CASES, 100.0 * wrong.at_001 / CASES);
	return wrong;
}

TEST(two_runs_of_a_source_that_did_not_change_seldom_differ)
{
	srandom((unsigned)check_seed(11));
	for (enum habit habit = 0; habit < N_HABITS; habit++)
		assert_true(count_wrong(habit, 1).at_05 < 0.065 * CASES);
}

TEST(they_hardly_ever_differ_by_half)
{
	srandom((unsigned)check_seed(12));
	for (enum habit habit = 0; habit < N_HABITS; habit++) {
		struct wrong wrong = count_wrong(habit, 1.5);

		assert_true(wrong.at_05 < 0.03 * CASES);
		assert_true(wrong.at_001 < 0.003 * CASES);
	}
}

TEST(what_grew_threefold_is_found_if_it_is_frequent)
{
	srandom((unsigned)check_seed(12));
	for (enum habit habit = 0; habit < N_HABITS; habit++) {
		int found = 0;

		for (int i = 0; i < CASES / 4; i++) {
			struct habits h = draw(habit);
			struct rate a, b;

			h.rate = fmax(h.rate, 0.5);
			h.period = fmin(h.period, 2);
			h.burst = fmin(h.burst, 1);
			a = run(100, &h, 1);
			b = run(100, &h, 3);
			found += rate_more(&a, &b, 1.5) < 0.025;
		}
		printf("%s: found in %.0f %%\n", names[habit], 400.0 * found / CASES);
		assert_true(found > 0.6 * CASES / 4);
	}
}

TEST(the_interval_of_the_ratio_contains_it_in_19_of_20_pairs)
{
	static const double ratios[] = {0.1, 0.5, 1, 3};

	srandom((unsigned)check_seed(13));
	for (enum habit habit = 0; habit < N_HABITS; habit++)
		for (size_t k = 0; k < ELEMENTS(ratios); k++) {
			int covered = 0, bounded = 0;

			for (int i = 0; i < CASES / 2; i++) {
				struct habits h = draw(habit);
				double low, high;
				struct rate a, b;

				h.rate = fmax(h.rate, 0.5);
				h.period = fmin(h.period, 2);
				h.burst = fmin(h.burst, 1);
				a = run(60, &h, 1);
				b = run(60, &h, ratios[k]);
				rate_ratio(&a, &b, &low, &high);
				covered += low <= ratios[k] && ratios[k] <= high;
				bounded += high < 10 * ratios[k];
			}
			printf("%s, ratio %g: %.1f %% covered, %.0f %% bounded\n", names[habit],
				ratios[k], 200.0 * covered / CASES, 200.0 * bounded / CASES);
			assert_true(covered > 0.935 * CASES / 2);
			assert_true(bounded > 0.4 * CASES / 2);
		}
}

static struct rate constant(double n, double with)
{
	return (struct rate){.n = n,
		.time_ns = 1e9 * n,
		.with = with,
		.total_ns = 1000 * with,
		.squares = 1e6 * with,
		.steps = with < n ? 2e6 * with : 0};
}

TEST(what_one_run_has_in_all_rounds_and_the_other_never_is_new)
{
	struct rate none = constant(30, 0), all = constant(30, 30);
	double low, high;

	assert_true(rate_more(&none, &all, 1.5) < 1e-8);
	assert_true(rate_more(&all, &none, 1.5) == 1);
	assert_true(isinf(rate_ratio(&none, &all, &low, &high)));
}

TEST(one_burst_over_many_rounds_is_no_proof)
{
	struct rate none = constant(30, 0), burst = constant(30, 10);

	burst.steps = 2e6;
	assert_true(rate_more(&none, &burst, 1.5) > 0.4);
}

TEST(once_in_either_run_is_no_proof)
{
	struct rate none = constant(30, 0), once = constant(30, 1);

	assert_true(rate_more(&none, &once, 1.5) > 0.4);
}

TEST(once_in_a_long_run_is_expected)
{
	struct rate none = constant(20, 0), rare = constant(400, 5);

	assert_true(rate_more(&none, &rare, 1.5) > 0.5);
	none = constant(400, 0);
	rare = constant(20, 5); /* but five in a short one are not */
	assert_true(rate_more(&none, &rare, 1.5) < 1e-5);
}

TEST(what_is_gone_has_an_upper_bound_only)
{
	struct rate none = constant(30, 0), all = constant(30, 30);
	double low, high;

	rate_ratio(&all, &none, &low, &high);
	assert_true(low == 0 && high > 0 && high < 0.2);
	rate_ratio(&none, &all, &low, &high);
	assert_true(low > 5 && isinf(high));
	rate_ratio(&none, &none, &low, &high);
	assert_true(low == 0 && isinf(high));
}
