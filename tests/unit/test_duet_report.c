/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the screen of a duet shows and warns of; and how often the verdicts of duets are wrong, by
 * made-up samples of programs that pay for sharing a CPU. */
#include "tests/unit/drawn.h"

#include "lib/duet/duet_report.h"

#include <math.h>

/* Two programs of 200 ms in slices of 10 ms. */
static struct duet_cost costs[2];
static struct duet_row rows[] = {
	{1, .slice_ns = 10 * NS_PER_MS, .run = 1}, {1, .slice_ns = 10 * NS_PER_MS, .run = 2}};
static struct duet_report report = {.rows = rows, .costs = costs, .n = 2};

static void make(double first, double second)
{
	for (size_t i = 0; i < 2; i++) {
		costs[i] = (struct duet_cost){
			.pt_ns = 200e6, .slice_ns = 10e6, .shared = i == 0 ? first : second};
		rows[i].working_set = isnan(costs[i].shared) ? -1
							     : llround(6400e3 * costs[i].shared);
	}
}

static char *print(void)
{
	static const char *const names[] = {"a", "b"};

	return PRINTED(file, duet_report_print(file, &report, names, NULL));
}

static void assert_warns(const char *warning)
{
	_cleanup_(freep) char *text = print();

	if (!strstr(text, warning))
		fail_msg("not '%s' in: %s", warning, text);
}

TEST(the_working_set_is_shown_and_what_refilling_it_costs_at_most)
{
	_cleanup_(freep) char *text = NULL;

	make(0.004, NAN);
	text = print();
	assert_non_null(strstr(text, "200.0 ms        26 kB  ≤ 0.40 %"));
	assert_non_null(strstr(text, "200.0 ms            -         -"));
	assert_null(strstr(text, "Warning"));
}

static void assert_width(double log_half, const char *width)
{
	static const char *const names[] = {"a", "b"};
	struct comparison comparisons[2] = {[1] = {.design = DESIGN_DUET,
						    .a.n = 10,
						    .alpha = 0.05,
						    .ratio_low = exp(-log_half),
						    .ratio_high = exp(log_half),
						    .log_ratio = {.n = 10,
							    .se = 0.01,
							    .sd = 0.03,
							    .df = 1e6,
							    .neighbours_sd = 0.03}}};
	_cleanup_(freep) char *text = NULL;

	make(0, 0);
	text = PRINTED(file, duet_report_print(file, &report, names, comparisons));
	if (!strstr(text, width))
		fail_msg("not '%s' in: %s", width, text);
}

TEST(the_width_of_the_interval_is_compared_with_that_in_turn)
{
	assert_width(0.0196, "Interval of the ratio: as wide as with --order interleave");
	assert_width(0.0392, "Interval of the ratio: 2.0 times wider than with --order interleave");
	assert_width(0.0098, "Interval of the ratio: 2.0 times narrower than with --order");
}

TEST(time_without_the_other_and_long_slices_are_said)
{
	make(0, 0);
	costs[1].last = 0.3;
	assert_warns("Warning: the last program to end ran alone for 30 % of its time; "
		     "try --repeat");
	costs[1].last = 0;
	costs[0].slice_ns = costs[1].slice_ns = 30e6;
	assert_warns("Warning: the slices are longer than requested; try --slices-by freezer");
}

enum { MOST = 20, MOST_ALONE = 4, TRIES = 500 };

/* A duet of n samples on a machine whose speed varies by 5 % from sample to sample, and the
 * programs' ratio by 1 %. b takes exp(alone) times as long as a, and in the duet it takes a share
 * of `price` more, of which it is known that it is at most `bound` (NAN: not known). Of the runs
 * alone, each varies by 5 %. */
struct world {
	double alone, price, bound;
	size_t n, n_alone;
};

static struct comparison draw_duet(const struct world *w)
{
	static struct sample samples[2][MOST];
	static struct duet_alone alone[2][MOST_ALONE];
	static bool out[MOST];
	static struct run_result results[2];
	const struct run_result *judged[2] = {&results[0], &results[1]};
	struct duet_program programs[2];
	struct duet_cost of[2] = {{.shared = w->bound}, {.shared = w->bound}};
	struct duet_report d = {
		.rows = rows, .costs = of, .programs = programs, .results = judged, .n = 2};
	int64_t now_ns = NS_PER_S;
	struct comparison c;

	for (uint32_t i = 0; i < w->n; i++) {
		double machine = gsl_ran_gaussian(rng, 0.05);

		for (int k = 0; k < 2; k++) {
			double log_ns = machine + gsl_ran_gaussian(rng, 0.01 / sqrt(2)) +
					k * (w->alone + log1p(w->price));
			int64_t ns = llround(200e6 * exp(log_ns));

			samples[k][i] = (struct sample){.n = i + 1,
				.start_ns = now_ns + k,
				.et_ns = 2 * ns,
				.pt_ns = ns,
				.wait_ns = 0};
		}
		now_ns += NS_PER_S;
	}
	for (uint32_t i = 0; i < w->n_alone; i++)
		for (int k = 0; k < 2; k++, now_ns += NS_PER_S)
			alone[k][i] = (struct duet_alone){.n = i + 1,
				.start_ns = now_ns,
				.et_ns = 200e6,
				.pt_ns = llround(
					200e6 * exp(gsl_ran_gaussian(rng, 0.05) + k * w->alone))};
	for (int k = 0; k < 2; k++) {
		results[k].discarding = (struct discarding){
			.run = {.kind = RUN_DUET, .cpu = 1, .resolution_ns = 1}, .out = out};
		results[k].discarding.pt.kept.mean_ns = 200e6;
		programs[k] = (struct duet_program){.samples = samples[k],
			.out = out,
			.n_samples = w->n,
			.alone = alone[k],
			.n_alone = w->n_alone,
			.row = &rows[k]};
	}
	assert_int_equal(duet_report_compare(&d, 0, 1, COMPARISON_PT, &c, NULL), 1);
	assert_int_equal(c.of_runs_alone, isnan(w->bound) && w->n_alone > 1);
	return c;
}

/* How often the verdict is that b is slower or faster. */
static double share_different(const struct world *w)
{
	size_t n = 0;

	for (int i = 0; i < TRIES; i++) {
		struct comparison c = draw_duet(w);
		enum comparison_verdict verdict = comparison_verdict(&c);

		n += verdict == COMPARISON_SLOWER || verdict == COMPARISON_FASTER;
	}
	return (double)n / TRIES;
}

/* The nominal 5 %, and 3 standard errors of 500 tries. */
#define RARELY 0.08

TEST_DRAWN(equal_programs_with_any_price_within_the_bound_rarely_differ, 1)
{
	static const double bounds[] = {0, 0.002, 0.01, 0.05, 0.2}, parts[] = {-1, 0, 0.5, 1};

	for (size_t i = 0; i < ELEMENTS(bounds); i++)
		for (size_t k = 0; k < ELEMENTS(parts); k++) {
			const struct world w = {.bound = bounds[i],
				.price = (parts[k] < 0 ? -1 : 1) *
					 (1 / (1 - fabs(parts[k]) * bounds[i]) - 1),
				.n = 10};
			/* a price of a is as if b took less */
			const struct world of_a = {
				.bound = bounds[i], .price = 1 / (1 + fabs(w.price)) - 1, .n = 10};

			assert_true(share_different(parts[k] < 0 ? &of_a : &w) <= RARELY);
		}
}

TEST_DRAWN(two_percent_are_found_in_nine_of_ten_after_20_rounds_within_a_cheap_bound, 2)
{
	const struct world w = {.alone = log(1.02), .bound = DUET_CHEAP, .price = 0, .n = 20};
	const struct world against = {
		.alone = log(1.02), .bound = DUET_CHEAP, .price = -DUET_CHEAP, .n = 20};

	assert_true(share_different(&w) >= 0.9);
	assert_true(share_different(&against) >= 0.9);
}

TEST_DRAWN(without_a_bound_the_runs_alone_decide_whatever_the_price, 3)
{
	static const double prices[] = {0, 0.01, 0.02, 0.05, 0.1, 0.2};

	for (size_t i = 0; i < ELEMENTS(prices); i++) {
		const struct world w = {.price = prices[i], .bound = NAN, .n = 8, .n_alone = 4};

		assert_true(share_different(&w) <= RARELY);
	}
}

TEST_DRAWN(without_either_a_duet_is_unmeasurable, 4)
{
	const struct world w = {.bound = NAN, .n = 8};
	struct comparison c = draw_duet(&w);

	assert_int_equal(comparison_verdict(&c), COMPARISON_UNMEASURABLE);
	assert_int_equal(c.unmeasurable, UNMEASURABLE_SHARED);
	assert_true(isnan(c.ratio_low) && isnan(c.ratio_high) && isnan(c.p));
}

TEST_DRAWN(a_difference_that_sharing_explains_is_shown_by_no_more_samples, 5)
{
	const struct world faster = {.alone = log(0.58), .bound = 0.64, .n = 8};
	const struct world slower = {.alone = log(1 / 0.58), .bound = 0.64, .n = 8};
	struct comparison c = draw_duet(&faster);

	assert_int_equal(comparison_verdict(&c), COMPARISON_CANNOT_TELL);
	assert_true(isinf(comparison_samples_missing(&c)));
	c = draw_duet(&slower);
	assert_int_equal(comparison_verdict(&c), COMPARISON_CANNOT_TELL);
	assert_true(isinf(comparison_samples_missing(&c)));
}
