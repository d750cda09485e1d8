/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which growth with size explains times. */
#include "made_growth.h"

#include "check.h"

static gsl_rng *draws;

int check_begin(void)
{
	draws = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(draws, check_seed(1));
	return 0;
}

static struct complexity complexity_must(const struct sized_time *times, size_t n)
{
	struct error err = {};
	struct complexity c;

	if (complexity_of(times, n, &c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

static struct complexity complexity_made(const struct made_growth *of)
{
	struct sized_time times[MADE_MOST_SIZES];

	made_sized_times(draws, of, times);
	return complexity_must(times, of->n_sizes);
}

TEST(each_growth_is_found_with_its_constant_and_its_factor)
{
	for (enum growth growth = 0; growth < N_GROWTHS; growth++) {
		struct made_growth of = {.growth = growth,
			.smallest = 1000,
			.span = 64,
			.n_sizes = 7,
			.n_samples = 20,
			.constant = 0.5,
			.deviation = 0.001,
			.noise = 0.001};
		struct complexity c = complexity_made(&of);

		assert_int_equal(c.verdict, COMPLEXITY_KNOWN);
		assert_int_equal(c.best, growth);
		for (enum growth other = 0; other < N_GROWTHS; other++)
			assert_int_equal(c.possible[other], other == growth);
		assert_close(c.curves[growth].constant, 0.5, 0.05);
		assert_close(growth_curve_at(&c.curves[growth], growth, 64000),
			0.5 + made_shape(&of, 64), 0.01 * made_shape(&of, 64));
		assert_close(c.curves[growth].residual_sd, 0.001, 0.0015);
	}
}

TEST(the_interval_of_the_exponent_contains_it)
{
	static const double exponents[] = {1, 2, 3};
	int contained = 0;

	for (int round = 0; round < 30; round++) {
		struct made_growth of = {
			.growth = (enum growth[]){GROWTH_N, GROWTH_N2, GROWTH_N3}[round % 3],
			.smallest = 100,
			.span = 16,
			.n_sizes = 6,
			.n_samples = 10,
			.constant = 0.1,
			.deviation = 0.01,
			.noise = 0.02};
		struct complexity c = complexity_made(&of);

		assert_true(c.exponent_low <= c.exponent && c.exponent <= c.exponent_high);
		assert_true(c.exponent_high - c.exponent_low < 0.5);
		contained += c.exponent_low <= exponents[round % 3] &&
			     exponents[round % 3] <= c.exponent_high;
	}
	assert_true(contained >= 24);
}

/* Sizes from 10 to a million, 4 to 8 of them, over a factor of 4 to 64; half with a constant of up
 * to 10 times the work at the smallest size. */
TEST(the_conclusion_is_right_or_that_it_cannot_tell)
{
	enum { ROUNDS = 50 };

	for (enum growth growth = 0; growth < N_GROWTHS; growth++) {
		int wrong = 0, wide = 0, right = 0;

		for (int round = 0; round < ROUNDS; round++) {
			struct made_growth of = made_growth_draw(draws, growth);
			struct complexity c = complexity_made(&of);
			bool known = c.verdict == COMPLEXITY_KNOWN;

			wrong += c.verdict == COMPLEXITY_OTHER || !c.possible[growth];
			if (of.span >= 8) {
				wide++;
				right += known && c.best == growth;
			}
		}
		printf("%s: %d of %d wrong; %d of %d known where the span is 8 and more\n",
			growth_names[growth], wrong, ROUNDS, right, wide);
		assert_true(wrong <= 3); /* expected: at most 1 of 100 */
		assert_true(2 * right > wide || growth == GROWTH_N || growth == GROWTH_N_LOG_N);
	}
}

TEST(two_sizes_say_nothing)
{
	const struct sized_time times[] = {{10, 100, 1}, {10, 101, 1}, {20, 400, 2}};
	struct complexity c = complexity_must(times, ELEMENTS(times));

	assert_int_equal(c.verdict, COMPLEXITY_CANNOT_TELL);
	assert_true(isnan(c.exponent));
	for (enum growth growth = 0; growth < N_GROWTHS; growth++) {
		assert_true(c.possible[growth]);
		assert_true(isnan(c.curves[growth].residual_sd));
	}
}

TEST(a_time_that_does_not_grow_is_none_of_them)
{
	const struct sized_time times[] = {
		{10, 100, 1}, {20, 101, 1}, {40, 99, 1}, {80, 100, 1}, {160, 100, 1}};
	struct complexity c = complexity_must(times, ELEMENTS(times));

	assert_int_not_equal(c.verdict, COMPLEXITY_KNOWN);
}

TEST(a_time_that_doubles_with_each_step_is_none_of_them)
{
	struct sized_time times[8];
	struct complexity c;

	for (size_t i = 0; i < ELEMENTS(times); i++)
		times[i] = (struct sized_time){10 * ((double)i + 1), pow(8, (double)i), 0.01};
	c = complexity_must(times, ELEMENTS(times));
	assert_int_equal(c.verdict, COMPLEXITY_OTHER);
}

TEST(what_is_no_size_and_no_time_is_refused)
{
	static const struct {
		struct sized_time time;
		const char *why;
	} bad[] = {{{1, 100, 1}, "size 1 is below 2"}, {{NAN, 100, 1}, "size nan is below 2"},
		{{10, 0, 1}, "the time for size 10 is not above 0"},
		{{10, INFINITY, 1}, "the time for size 10 is not above 0"}};
	struct error err = {};
	struct complexity c;

	for (size_t i = 0; i < ELEMENTS(bad); i++) {
		assert_int_equal(complexity_of(&bad[i].time, 1, &c, &err), -EINVAL);
		assert_string_equal(err.text, bad[i].why);
	}
	assert_int_equal(complexity_of(NULL, 0, &c, &err), -EINVAL);
	assert_string_equal(err.text, "there are no times");
}
