/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Periods in what no event explains, simulated. */
#include "tests/unit/check.h"

#include "lib/jitter/unexplained.h"

#include <math.h>

enum { ROUND_NS = 1000000000, MOST = 16000, RUNS = 200, ROUNDS = 3 };

static int by_start(const void *a, const void *b)
{
	const struct unexplained_item *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* At random times, so many a second on average. */
static size_t scatter(struct unexplained_item *items, size_t n, double per_second, int64_t from_ns)
{
	double at = 0;

	while (n < MOST) {
		at += -log(1 - drand48()) / per_second * 1e9;
		if (at >= ROUND_NS)
			break;
		items[n++] = (struct unexplained_item){
			from_ns + (int64_t)at, 3000 + (int64_t)(drand48() * 20000), true};
	}
	return n;
}

/* A tick that comes up to `late_ns` late, of which some are missing; *next is the first in this
 * round, and in the next one. */
static size_t tick(struct unexplained_item *items, size_t n, double period_ns, double late_ns,
	double missing, double *next_ns, int64_t until_ns)
{
	for (; *next_ns < (double)until_ns && n < MOST; *next_ns += period_ns)
		if (drand48() >= missing)
			items[n++] = (struct unexplained_item){
				(int64_t)(*next_ns + drand48() * late_ns), 10000, true};
	return n;
}

enum { MOST_TICKS = 3 };

/* Periods of 0.5 to 20 ms, none of which is nearly a multiple of another: such are not told
 * apart. */
static void draw_periods(double *periods_ns, int n)
{
	for (int i = 0; i < n; i++) {
		bool apart = true;

		periods_ns[i] = exp(log(0.5e6) + drand48() * log(40));
		for (int k = 0; k < i; k++) {
			double ratio = fmax(periods_ns[i], periods_ns[k]) /
				       fmin(periods_ns[i], periods_ns[k]);

			apart &= fabs(ratio - round(ratio)) > 0.04;
		}
		i -= !apart;
	}
}

/* Whether exactly these were found, each with its items: at least 9 in 10, and a twentieth of the
 * random ones as well. */
static bool are_found(const struct unexplained *unexplained, const double *periods_ns,
	const int64_t *counts, int n, int64_t random)
{
	int firm = 0, right = 0;

	for (const struct unexplained_period *p = unexplained->periods;
		p < unexplained->periods + UNEXPLAINED_PERIODS; p++) {
		firm += p->firm;
		for (int i = 0; i < n; i++)
			right += p->period_ns &&
				 fabs((double)p->period_ns / periods_ns[i] - 1) < 0.002 &&
				 p->count > 9 * counts[i] / 10 &&
				 p->count < counts[i] * 11 / 10 + random / 5;
	}
	return firm == n && right == n;
}

/* Ticks, up to 5 us late, of which up to a fifth are missing, among 20 to 1000 random items a
 * second: in how many of RUNS runs all are found. */
static int count_found(int n_ticks)
{
	static struct unexplained_item items[MOST];
	int found = 0;

	for (int run = 0; run < RUNS; run++) {
		struct unexplained unexplained = {};
		double periods_ns[MOST_TICKS], next_ns[MOST_TICKS],
			late_ns = drand48() * 5000, missing = drand48() * 0.2,
			rate = exp(log(20) + drand48() * log(50));
		int64_t counts[MOST_TICKS] = {}, random = 0;

		draw_periods(periods_ns, n_ticks);
		for (int i = 0; i < n_ticks; i++)
			next_ns[i] = drand48() * periods_ns[i];
		for (int round = 0; round < ROUNDS; round++) {
			size_t n = scatter(items, 0, rate, round * (int64_t)ROUND_NS);

			random += (int64_t)n;
			for (int i = 0; i < n_ticks; i++) {
				size_t before = n;

				n = tick(items, n, periods_ns[i], late_ns, missing, &next_ns[i],
					(round + 1) * (int64_t)ROUND_NS);
				counts[i] += (int64_t)(n - before);
			}
			assert_true(n < MOST);
			qsort(items, n, sizeof(*items), by_start);
			unexplained_add(&unexplained, items, n);
		}
		found += are_found(&unexplained, periods_ns, counts, n_ticks, random);
		unexplained_clear(&unexplained);
	}
	printf("%d of %d found\n", found, RUNS);
	return found;
}

TEST(periods_are_found_whatever_they_are_told_apart_and_told_from_what_comes_at_random)
{
	static const struct {
		int n_ticks, seed, percent;
	} cases[] = {{0, 11, 99}, {1, 12, 98}, {2, 15, 95}, {3, 16, 90}};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		srand48((long)check_seed((uint64_t)cases[i].seed));
		assert_in_range(count_found(cases[i].n_ticks), RUNS * cases[i].percent / 100, RUNS);
	}
}

TEST(bursts_at_random_have_no_period)
{
	static struct unexplained_item items[MOST];
	int found = 0;

	srand48((long)check_seed(14));
	for (int run = 0; run < RUNS; run++) {
		struct unexplained unexplained = {};

		for (int round = 0; round < ROUNDS; round++) {
			size_t starts = scatter(items, 0, 20, round * (int64_t)ROUND_NS),
			       n = starts;

			for (size_t i = 0; i < starts; i++)
				for (int k = 0; k < 10 && n < MOST; k++)
					items[n++] = (struct unexplained_item){
						items[i].start_ns + (int64_t)(drand48() * 2e6),
						5000, true};
			qsort(items, n, sizeof(*items), by_start);
			unexplained_add(&unexplained, items, n);
		}
		found += unexplained_sums(&unexplained).periodic > 0;
		unexplained_clear(&unexplained);
	}
	printf("%d of %d runs of bursts have a period\n", found, RUNS);
	assert_in_range(found, 0, RUNS / 100);
}

TEST(short_ones_are_never_periodic_and_nothing_is_lost)
{
	static struct unexplained_item items[1000];
	struct unexplained unexplained = {};
	struct unexplained_sums sums;
	int64_t total = 0;

	for (int i = 0; i < 1000; i++) {
		items[i] = (struct unexplained_item){
			i * INT64_C(1000000), i % 2 ? 500 : 9000, i % 10 > 0};
		total += items[i].length_ns;
	}
	unexplained_add(&unexplained, items, 1000);
	sums = unexplained_sums(&unexplained);
	assert_int_equal(sums.periodic + sums.rest, 900); /* the others are parts of gaps */
	assert_int_equal(sums.periodic_ns + sums.rest_ns, total);
	assert_int_equal(unexplained.periods[0].period_ns, 2000000);
	assert_int_equal(sums.periodic_ns, 500 * 9000);
	unexplained_clear(&unexplained);
}

TEST(a_few_items_are_no_period)
{
	struct unexplained_item items[15];
	struct unexplained unexplained = {};

	for (int i = 0; i < 15; i++)
		items[i] = (struct unexplained_item){i * INT64_C(3000000), 9000, true};
	unexplained_add(&unexplained, items, 15);
	assert_int_equal(unexplained_sums(&unexplained).periodic, 0);
	assert_int_equal(unexplained_sums(&unexplained).rest, 15);
	unexplained_clear(&unexplained);
}

/* Ticks of 10 ms, and then of 9.96 ms. */
TEST(periods_within_a_hundredth_of_each_other_are_one)
{
	static struct unexplained_item items[MOST];
	struct unexplained unexplained = {};
	double next_ns = 0;
	int firm = 0;

	srand48((long)check_seed(16));
	for (int round = 0; round < 2 * ROUNDS; round++) {
		size_t n = tick(items, 0, round < ROUNDS ? 10e6 : 9.96e6, 2000, 0.1, &next_ns,
			(round + 1) * (int64_t)ROUND_NS);

		unexplained_add(&unexplained, items, n);
	}
	for (const struct unexplained_period *p = unexplained.periods;
		p < unexplained.periods + UNEXPLAINED_PERIODS; p++)
		firm += p->firm;
	assert_int_equal(firm, 1);
	unexplained_clear(&unexplained);
}
