/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the screen of a duet warns of. */
#include "tests/unit/check.h"

#include "lib/duet/duet_report.h"

#include <gsl/gsl_randist.h>

#include <math.h>

/* Two programs of 200 ms in slices of 10 ms. */
static struct duet_cost costs[2];
static struct duet_row rows[] = {
	{1, .slice_ns = 10 * NS_PER_MS, .run = 1}, {1, .slice_ns = 10 * NS_PER_MS, .run = 2}};
static const struct duet_report report = {.rows = rows, .costs = costs, .n = 2};
static const struct duet_estimate unknown = {NAN, NAN};

static void make(struct duet_estimate first, struct duet_estimate second)
{
	for (size_t i = 0; i < 2; i++)
		costs[i] = (struct duet_cost){.alone_ns = 200e6,
			.together_ns = 200e6,
			.slice_ns = 10e6,
			.price = i == 0 ? first : second};
}

static char *print(void)
{
	static const char *const names[] = {"a", "b"};

	return PRINTED(file, duet_report_print(file, &report, names, NULL));
}

static void assert_warns(const char *warning) /* NULL: of nothing */
{
	_cleanup_(freep) char *text = print();
	_cleanup_(freep) char *wanted = text_format("Warning: %s", warning ?: "");

	/* the first warning is the wanted one */
	if (warning ? !strstr(text, wanted) || strstr(text, "Warning: ") != strstr(text, wanted)
		    : strstr(text, "Warning: ") != NULL)
		fail_msg("not '%s' in: %s", warning ?: "no warning", text);
}

TEST(a_price_beyond_doubt_is_a_warning)
{
	static const struct {
		struct duet_estimate first, second;
		const char *warning;
	} cases[] = {
		/* that a longer slice makes small, that none does, and prices that differ beyond
		 * doubt */
		{{0.12, 0.02}, {0.11, 0.02},
			"sharing caches may bias the ratio (PRICE); try --slice 30ms"},
		{{0.48, 0.12}, {0.10, 0.08},
			"sharing caches biases the ratio (BIAS); try --order interleave"},
		{{0.04, 0.005}, {0.02, 0.005},
			"sharing caches biases the ratio (BIAS); try --slice"},
		{{0.04, 0.01}, {0.04, 0.01}, NULL}, {{0.2, 0.16}, {0.1, 0.1}, NULL},
		{{-0.2, 0.1}, {-0.1, 0.1}, NULL}, /* a machine that was slower */
		/* 1.3 half intervals */
		{{NAN, NAN}, {NAN, NAN}, NULL}, {{0.03, 0.01}, {0.012, 0.01}, NULL},
		{{-0.5, 0.1}, {-0.2, 0.06}, NULL}, /* runs alone that were disturbed */
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		make(cases[i].first, cases[i].second);
		assert_warns(cases[i].warning);
	}
	make(cases[0].first, cases[0].second);
	costs[1].together_ns = 60e6; /* too short for slices of 30 ms */
	assert_warns("sharing caches may bias the ratio (PRICE); try --order interleave");
}

TEST(prices_are_shown_with_their_intervals)
{
	_cleanup_(freep) char *text = NULL;

	make((struct duet_estimate){0.04, 0.005}, (struct duet_estimate){0.038, 0.03});
	text = print();
	assert_non_null(strstr(text, "4.1 ± 0.5 %  "));
	assert_non_null(strstr(text, "  4 ± 3 %  0 ± 3 %  ")); /* not -0 */
	free(text);
	make((struct duet_estimate){0.7, 0.77}, unknown);
	text = print();
	assert_non_null(strstr(text, "-7 … 335 %"));
}

TEST(time_without_the_other_and_long_slices_are_said)
{
	make(unknown, unknown);
	costs[1].last = 0.3;
	assert_warns("the longest program ran alone for 30 % of its time; try --repeat");
	costs[1].last = 0;
	costs[0].slice_ns = costs[1].slice_ns = 30e6;
	assert_warns("the slices are longer than requested; try --slices-by freezer");
}

TEST(a_duet_is_in_doubt_by_its_bias_and_by_the_runs_alone)
{
	static const struct {
		struct duet_estimate price_of_b;
		double log_ratio, together_ns;
		enum duet_doubt doubt;
	} cases[] = {
		/* a bias beyond doubt leaves no verdict to the duet */
		{{0.05, 0.06}, 0.1, 200e6, DUET_SOUND},
		{{0.07, 0.06}, 0.1, 200e6, DUET_BIASED},
		{{-0.07, 0.06}, 0.1, 200e6, DUET_BIASED},
		{{NAN, NAN}, 0.1, 200e6, DUET_SOUND}, /* --alone 0 */
		/* programs that compare otherwise alone contradict their duet */
		{{0.025, 0.1}, 0.04, 200e6, DUET_CONTRADICTED},
		{{0.015, 0.1}, 0.04, 200e6, DUET_SOUND},
		{{0.05, 0.1}, 0.04, 200e6, DUET_CONTRADICTED},
		{{-0.05, 0.1}, -0.04, 200e6, DUET_CONTRADICTED},
		{{-0.05, 0.1}, 0.04, 200e6, DUET_SOUND},
		{{0.05, 0.1}, 0.02, 200e6, DUET_SOUND}, /* no difference */
		/* a program of less than four slices is too short */
		{{0, 0.1}, 0, 41e6, DUET_SOUND},
		{{0, 0.1}, 0, 39e6, DUET_TOO_SHORT},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		const struct duet_cost a = {.together_ns = 200e6, .price = {0, 0.01}},
				       b = {.together_ns = cases[i].together_ns,
					       .price = cases[i].price_of_b};
		const struct log_ratio ratio = {
			.n = 12, .mean = cases[i].log_ratio, .se = 0.01, .df = 11}; /* ± 0.022 */

		assert_int_equal(duet_doubt_of(&a, &b, 10 * NS_PER_MS, &ratio), cases[i].doubt);
	}
	assert_int_equal(duet_slice_for(99 * NS_PER_MS), 3 * NS_PER_MS);
	assert_int_equal(duet_slice_for(100 * NS_PER_MS), 10 * NS_PER_MS);
}

/* A made-up duet of 10 samples and as many runs alone as by default, on a machine whose speed
 * varies by 5 % from sample to sample. Alone, b takes exp(alone) times as long as a; in the duet,
 * its price is `price`. */
struct tried {
	double reversed,
		/* shares of the tries: verdicts of the duet that have the wrong sign; those in
		 * doubt */
		doubted;
};

static struct tried try_duets(double alone, double price, uint64_t seed)
{
	enum { N = 10, N_ALONE = 4, TRIES = 1000 };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct tried tried = {};

	gsl_rng_set(rng, check_seed(seed));
	for (int t = 0; t < TRIES; t++) {
		struct sample samples[2][N] = {};
		struct duet_alone alone_runs[2][N_ALONE] = {};
		bool out[N] = {};
		int64_t times[2][N];
		struct duet_cost prices[2];
		struct log_ratio ratio;
		enum duet_doubt doubt;

		for (uint32_t i = 0; i < N; i++) {
			double machine = gsl_ran_gaussian(rng, 0.05);

			for (int k = 0; k < 2; k++) {
				double log_ns = machine + gsl_ran_gaussian(rng, 0.01) +
						k * (alone + price);

				times[k][i] = llround(200e6 * exp(log_ns));
				samples[k][i] = (struct sample){
					.n = i + 1, .et_ns = 2 * times[k][i], .pt_ns = times[k][i]};
			}
		}
		for (uint32_t i = 0; i < N_ALONE; i++)
			for (int k = 0; k < 2; k++)
				alone_runs[k][i] = (struct duet_alone){.n = i + 1,
					.after = i * N / N_ALONE,
					.pt_ns = llround(200e6 * exp(gsl_ran_gaussian(rng, 0.05) +
									 k * alone))};
		for (int k = 0; k < 2; k++)
			prices[k] = duet_cost_of(&(struct duet_program){
				samples[k], out, N, NULL, 0, alone_runs[k], N_ALONE, -1});
		ratio = log_ratio_of(times[0], times[1], NULL, N);
		doubt = duet_doubt_of(&prices[0], &prices[1], 10 * NS_PER_MS, &ratio);
		tried.doubted += (doubt != DUET_SOUND) / (double)TRIES;
		tried.reversed += (doubt == DUET_SOUND && ratio.mean * alone < 0 &&
					  fabs(ratio.mean) > log_ratio_half(&ratio, 0.05)) /
				  (double)TRIES;
	}
	gsl_rng_free(rng);
	return tried;
}

TEST(a_duet_reverses_a_sign_in_one_case_of_a_hundred)
{
	static const double alone[] = {0.15, 0.3, -0.2, 0.5, 0.15, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05,
		0.05},
			    price[] = {-0.3, -0.6, 0.4, -0.55, -0.18, -0.12, -0.15, -0.2, -0.3,
				    -0.06, -0.1, -0.15},
			    most[] = {0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.04,
				    0.04, 0.04};

	for (size_t i = 0; i < ELEMENTS(alone); i++) {
		struct tried tried = try_duets(alone[i], price[i], 10 + i);

		printf("alone %.2f, price %.2f: %.3f reversed, %.3f in doubt\n", alone[i], price[i],
			tried.reversed, tried.doubted);
		assert_true(tried.reversed <= most[i]);
	}
}

/* Small differences are lost more often: four runs alone say little about them on such a
 * machine. */
TEST(programs_without_a_price_are_rarely_taken_in_turn)
{
	static const double alone[] = {0, 0.02, 0.05, 0.2}, most[] = {0.07, 0.55, 0.25, 0.05};

	for (size_t i = 0; i < ELEMENTS(alone); i++) {
		struct tried tried = try_duets(alone[i], 0, 20 + i);

		printf("alone %.2f: %.3f in doubt\n", alone[i], tried.doubted);
		assert_true(tried.doubted <= most[i]);
	}
}
