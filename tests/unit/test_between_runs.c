/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interval of a run that contains what differs between runs: how often it contains the mean of
 * many, and which runs of the book show it. tests/bench/comparisons.c prints more. */
#include "tests/unit/drawn.h"
#include "tests/unit/made_runs.h"
#include "tests/unit/scratch.h"

#include "lib/report/run_result.h"

/* In 100 of such cases. */
static double share_that_contains(const struct made_runs *of)
{
	enum { CASES = 2000 };
	int contains = 0;

	for (int i = 0; i < CASES; i++)
		contains += made_interval_of(rng, of).between;
	return 100. * contains / CASES;
}

TEST_DRAWN(ninety_five_of_a_hundred_intervals_contain_the_mean_of_many_runs, 1)
{
	static const struct made_runs cases[] = {{0.04, 0.01, 0, 3, 10, 10},
		{0.02, 0.02, 0, 5, 10, 10}, {0.01, 0.01, 0.4, 12, 5, 40},
		{0.01, 0.005, 0.4, 20, 40, 5}, {0.01, 0.05, 0, 12, 20, 10},
		{0.005, 0.01, 0, 5, 5, 5}};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		double share = share_that_contains(&cases[i]);

		if (share < 93 || share > 98)
			fail_msg("case %zu: %.1f %%", i, share);
	}
}

TEST(the_interval_between_runs_contains_that_of_the_run)
{
	const struct interval within = {.low_ns = 90, .high_ns = 120};
	const struct run_variation little = {.sd = 0.001, .df = 2, .n_runs = 3, .n_samples = 10};
	struct run_interval i = interval_between_runs(&within, 100, 10, &little);

	assert_close(i.low_ns, 90, 0);
	assert_close(i.high_ns, 120, 0);
}

TEST(few_runs_make_it_wide_and_fewer_samples_than_theirs_make_it_wider)
{
	const struct interval within = {.low_ns = 0.999e6, .high_ns = 1.001e6};
	const struct run_variation v = {.sd = 0.001, .df = 2, .n_runs = 3, .n_samples = 10};
	const double t = 4.30265;

	assert_close(interval_between_runs(&within, 1e6, 10, &v).high_ns, 1e6 * exp(t / 1e3), 1);
	assert_close(interval_between_runs(&within, 1e6, 30, &v).high_ns, 1e6 * exp(t / 1e3), 1);
	assert_close(interval_between_runs(&within, 1e6, 4, &v).low_ns,
		1e6 * exp(-hypot(t, sqrt(0.6)) / 1e3), 1);
}

static int64_t add_run(struct scratch *s, struct run like, int64_t pt_ns)
{
	like.program = strdup("solver");
	like.command = strdup("[\"solver\"]");
	like.kind = like.kind ?: RUN_MEASURE;
	return scratch_add_run(s, like, pt_ns);
}

static struct run_interval between_of(struct scratch *s, int64_t run, bool all_others)
{
	_cleanup_(run_result_clear) struct run_result result = {};

	assert_done(
		s, run_result_read(s->book, run, &(struct discard_rules){}, 0, &result, &s->err));
	assert_done(s, run_result_add_between(s->book, &result, all_others, &s->err));
	return result.discarding.pt.between;
}

TEST_IN_BOOK(earlier_runs_that_were_measured_alike_show_how_runs_differ)
{
	struct run pinned = {.cpu = 1, .resolution_ns = 1},
		   anywhere = {.cpu = -1, .resolution_ns = 1},
		   without = {.cpu = 1, .resolution_ns = 1, .neighbour_rule = NEIGHBOUR_AUTO},
		   duet = {.cpu = 1, .resolution_ns = 1, .kind = RUN_DUET};
	int64_t first, last;

	assert_done(s, book_put_environment(s->book, "d1", NULL, "{\"identity\": {}}",
			       &pinned.environment, &s->err));
	anywhere.environment = without.environment = duet.environment = pinned.environment;
	first = add_run(s, pinned, 99000);
	add_run(s, pinned, 100000);
	last = add_run(s, pinned, 101000);
	assert_true(
		between_of(s, last, false).variation.df == 0); /* two earlier ones are too few */
	add_run(s, anywhere, 150000);
	add_run(s, without, 70000);
	add_run(s, duet, 200000);
	last = add_run(s, pinned, 100000);
	assert_int_equal(between_of(s, last, false).variation.n_runs, 3);
	assert_close(between_of(s, last, false).variation.sd, 0.01, 1e-5);
	assert_close(between_of(s, last, false).high_ns, 100003 * exp(4.30265 * 0.01), 10);

	assert_true(between_of(s, first, false).variation.df == 0);
	assert_int_equal(between_of(s, first, true).variation.n_runs, 3); /* later ones */
}

TEST_IN_BOOK(the_last_twenty_runs_count)
{
	struct run pinned = {.cpu = 1, .resolution_ns = 1};
	int64_t last = 0;

	assert_done(s, book_put_environment(s->book, "d1", NULL, "{\"identity\": {}}",
			       &pinned.environment, &s->err));
	for (int i = 0; i < 25; i++)
		last = add_run(s, pinned, i < 4 ? 500000 : 100000);
	assert_int_equal(between_of(s, last, false).variation.n_runs, 20);
	assert_true(between_of(s, last, false).variation.sd == 0);
}
