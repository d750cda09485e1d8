/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Periods in what no event explains, simulated. */
#include "tests/unit/check.h"

#include "lib/jitter/residue.h"

#include <math.h>

enum { ROUND_NS = 1000000000, MOST = 8000, RUNS = 200 };

static int by_start(const void *a, const void *b)
{
	const struct residue_item *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* At random times, so many a second on average. */
static size_t scatter(struct residue_item *items, size_t n, double per_second, int64_t from_ns)
{
	double at = 0;

	while (n < MOST) {
		at += -log(1 - drand48()) / per_second * 1e9;
		if (at >= ROUND_NS)
			break;
		items[n++] = (struct residue_item){
			from_ns + (int64_t)at, 3000 + (int64_t)(drand48() * 20000), true};
	}
	return n;
}

/* A tick that comes up to 2 us late, of which some are missing. */
static size_t tick(struct residue_item *items, size_t n, double period_ns, double missing, int64_t from_ns)
{
	for (double at = drand48() * period_ns; at < ROUND_NS && n < MOST; at += period_ns)
		if (drand48() >= missing)
			items[n++] = (struct residue_item){
				from_ns + (int64_t)(at + drand48() * 2000), 10000, true};
	return n;
}

TEST(what_comes_at_random_has_no_period)
{
	static struct residue_item items[MOST];
	int found = 0;

	srand48((long)check_seed(11));
	for (int run = 0; run < RUNS; run++) {
		struct residue residue = {};
		double rate = exp(log(20) + drand48() * log(200));

		for (int round = 0; round < 3; round++) {
			size_t n = scatter(items, 0, rate, round * (int64_t)ROUND_NS);

			assert_int_equal(residue_add(&residue, items, n), 0);
		}
		found += residue.periodic > 0;
		residue_clear(&residue);
	}
	printf("%d of %d random runs have a period\n", found, RUNS);
	assert_in_range(found, 0, RUNS / 50);
}

TEST(a_tick_is_found_whatever_its_period_and_is_told_from_the_rest)
{
	static struct residue_item items[MOST];
	int found = 0;

	srand48((long)check_seed(12));
	for (int run = 0; run < RUNS; run++) {
		struct residue residue = {};
		double period_ns = exp(log(0.5e6) + drand48() * log(40));

		for (int round = 0; round < 3; round++) {
			size_t n = tick(items, 0, period_ns, 0.1, round * (int64_t)ROUND_NS), ticks = n;

			n = scatter(items, n, 0.05 * (double)n, round * (int64_t)ROUND_NS);
			assert_true(n < MOST && ticks > 0);
			qsort(items, n, sizeof(*items), by_start);
			assert_int_equal(residue_add(&residue, items, n), 0);
		}
		found += residue.period_ns && fabs((double)residue.period_ns / period_ns - 1) < 0.01 &&
			 residue.periodic > 8 * residue.unexplained;
		residue_clear(&residue);
	}
	printf("%d of %d ticks found\n", found, RUNS);
	assert_in_range(found, RUNS * 95 / 100, RUNS);
}

TEST(short_ones_are_never_periodic_and_nothing_is_lost)
{
	static struct residue_item items[1000];
	struct residue residue = {};
	int64_t total = 0;

	for (int i = 0; i < 1000; i++) {
		items[i] = (struct residue_item){i * INT64_C(1000000), i % 2 ? 500 : 9000, i % 10 > 0};
		total += items[i].length_ns;
	}
	assert_int_equal(residue_add(&residue, items, 1000), 0);
	assert_int_equal(residue.periodic + residue.unexplained, 900); /* the others are parts of gaps */
	assert_int_equal(residue.periodic_ns + residue.unexplained_ns, total);
	assert_int_equal(residue.period_ns, 2000000);
	assert_int_equal(residue.periodic_ns, 500 * 9000);
	residue_clear(&residue);
}

TEST(what_is_shorter_than_a_bound_is_counted_apart_if_it_is_a_whole_gap)
{
	const struct residue_item items[] = {
		{1000000, 150, true}, {2000000, 1200, true}, {3000000, 1200, false}, {4000000, 9000, true}};
	struct residue residue = {};
	int64_t count, ns;

	assert_int_equal(residue_add(&residue, items, 4), 0);
	residue_shorter(&residue, 4000, &count, &ns);
	assert_int_equal(count, 2);
	assert_int_equal(ns, 1350);
	residue_shorter(&residue, 1000, &count, &ns);
	assert_int_equal(count, 1);
	residue_shorter(&residue, 0, &count, &ns); /* no bound is known */
	assert_int_equal(count + ns, 0);
	residue_clear(&residue);
}
