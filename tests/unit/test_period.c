/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a daemon comes round. */
#include "tests/unit/check.h"

#include "lib/protocol/analysis.h"

#include <math.h>

#define FIND(n, ...)                                 \
	period_find((const uint32_t[]){__VA_ARGS__}, \
		sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), NULL, n)

/* rhn_check of EMP, Table IX. */
TEST(equal_gaps_within_their_slack_are_a_firm_period)
{
	struct period p = FIND(800, 75, 186, 298, 410, 522, 634, 746);

	assert_true(p.samples == 112);
	assert_true(p.firm);
	assert_int_equal(p.occurrences, 7);
}

/* flush-9:0 (75, 634) has one, bash (366, 451) has none: it would have come before 366 and after
 * 451. */
TEST(two_occurrences_are_tentative_and_none_may_be_missing)
{
	struct period flush = FIND(800, 75, 634), bash = FIND(800, 366, 451);

	assert_true(flush.samples == 559 && !flush.firm);
	assert_true(bash.samples == 0);
}

/* The chances are those of 200000 draws by another program. */
TEST(a_period_that_chance_often_makes_is_not_firm)
{
	struct period two = FIND(800, 75, 634), three = FIND(800, 100, 370, 640),
		      few = FIND(20, 4, 10, 16), many = FIND(800, 75, 186, 298, 410, 522, 634, 746);
	const struct analysis run = {.spacing_ns = 1e9};

	assert_true(two.chance > 0.30 && two.chance < 0.40);
	assert_true(three.chance < 0.05 && three.firm);
	assert_true(few.samples == 6 && few.chance > 0.05 && !few.firm);
	assert_true(many.chance == 0);
	assert_string_equal(analysis_period_text(&run, &(struct daemon_statistics){.period = many}),
		"every 112 samples = 1 min 52 s, firm (7 times; by chance in under 0.1 %)");
	assert_non_null(
		strstr(analysis_period_text(&run, &(struct daemon_statistics){.period = two}),
			", tentative (2 times; by chance in 3"));
}

TEST(gaps_in_the_series_or_single_occurrences_are_no_period)
{
	/* one is missing before */
	assert_true(FIND(100, 40, 50, 60, 70, 80, 90, 100).samples == 0);
	assert_true(FIND(100, 5, 15, 25, 35).samples == 0); /* or behind */
	assert_true(FIND(100, 9, 19, 29, 39, 49, 59, 69, 79, 89, 99).samples == 10);
	assert_true(FIND(100, 10, 20, 45, 90).samples == 0); /* irregular */
	assert_true(FIND(100, 50).samples == 0);
	assert_true(period_find(NULL, 0, NULL, 100).samples == 0);
}

enum { N = 400 };

static double draw(uint64_t *random, double from, double to)
{
	return from + (to - from) * random_unit(random);
}

/* Samples of about 0.1 s on a machine whose speed wanders by a third either way, with up to 30 ms
 * between them. */
static void make_spans(struct sample_span spans[N], uint64_t *random)
{
	double now = 1.7e18, speed = draw(random, 0.7, 1.4);

	for (size_t i = 0; i < N; i++) {
		double et = 1e8 / speed * draw(random, 0.99, 1.01);

		spans[i] = (struct sample_span){(int64_t)now, (int64_t)(now + et)};
		now += et + draw(random, 1e6, 3e7);
		speed = fmin(fmax(speed * draw(random, 0.95, 1.05), 0.7), 1.4);
	}
}

/* Where a daemon ran, from `first` on: into `at`. One that began between two samples, and takes 10
 * ms, is in the next if that begins within these; each may be late by up to `late`. */
static size_t run_daemon(uint32_t *at, const struct sample_span *spans, double first, double period,
	double late, uint64_t *random)
{
	size_t n = 0, sample = 0;

	for (double now = first; now < (double)spans[N - 1].to_ns; now += period) {
		double began = now + draw(random, 0, 1) * late;

		while (sample < N && (double)spans[sample].to_ns < began)
			sample++;
		if (sample < N && (double)spans[sample].from_ns < began + 1e7 &&
			(n == 0 || at[n - 1] != sample))
			at[n++] = (uint32_t)sample;
	}
	return n;
}

TEST(periods_are_found_in_time_where_the_speed_of_the_machine_changes)
{
	static const double periods[] = {1.9e9, 2.53e9, 3e9, 5e9, 8e9};
	enum { SEEDS = 200 };
	uint64_t random = 7;
	size_t found = 0, in_numbers = 0, all = 0;

	for (int seed = 0; seed < SEEDS; seed++) {
		struct sample_span spans[N];

		make_spans(spans, &random);
		for (size_t i = 0; i < ELEMENTS(periods); i++) {
			double late = draw(&random, 0, 0.02) * periods[i];
			uint32_t at[N];
			size_t n = run_daemon(at, spans, 1.7e18 + draw(&random, 0, 1) * periods[i],
				periods[i], late, &random);
			struct period p = period_find(at, n, spans, N);

			all++;
			found += p.firm && fabs(p.ns / periods[i] - 1) < 0.02;
			in_numbers += period_find(at, n, NULL, N).firm;
		}
	}
	print_message("found %zu of %zu, by sample numbers %zu\n", found, all, in_numbers);
	assert_true((double)found > 0.97 * (double)all);
	assert_true(in_numbers < found / 2);
}

TEST(random_occurrences_have_no_firm_period_in_time)
{
	enum { SEEDS = 600 };
	uint64_t random = 3;
	size_t firm = 0;

	for (int seed = 0; seed < SEEDS; seed++) {
		struct sample_span spans[N];
		uint32_t at[N];
		size_t n = 0;

		make_spans(spans, &random);
		for (uint32_t i = 0; i < N; i++)
			if (draw(&random, 0, 1) < 0.02)
				at[n++] = i;
		firm += period_find(at, n, spans, N).firm;
	}
	print_message("%zu of %d are firm\n", firm, SEEDS);
	assert_true(firm < SEEDS / 20);
}

/* Every fifth sample of 1 s, each with a pause in which one of seven occurrences was. */
TEST(an_occurrence_between_samples_is_not_missing_but_one_within_is)
{
	struct sample_span spans[100];
	static const uint32_t missing[] = {
		2, 7, 12, 22, 27, 32, 37, 42, 47, 52, 57, 62, 67, 72, 77, 82, 87, 92, 97};

	for (size_t i = 0; i < ELEMENTS(spans); i++)
		spans[i] = (struct sample_span){
			(int64_t)i * NS_PER_S, (int64_t)i * NS_PER_S + 900 * NS_PER_MS};
	assert_true(period_find(missing, ELEMENTS(missing), spans, 100).firm);
	for (size_t i = 0; i < ELEMENTS(spans); i++)
		spans[i].to_ns = spans[i].from_ns + NS_PER_S;
	assert_false(period_find(missing, ELEMENTS(missing), spans, 100).ns > 0);
}

/* It began in one sample and ended in the next. */
TEST(what_runs_across_the_border_of_two_samples_ran_once)
{
	struct period p = FIND(100, 20, 21, 40, 60, 61, 80);

	assert_true(p.samples == 20);
	assert_int_equal(p.occurrences, 4);
	assert_true(p.firm);
}
