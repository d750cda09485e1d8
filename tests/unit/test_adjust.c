/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The neighbour taken out of the times of a run, in its result, comparisons and the book. */
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include "lib/protocol/adjust.h"
#include "lib/protocol/comparison.h"
#include "lib/report/run_result.h"

enum { N = 20 };

static const struct discard_rules adjust = {.patterns = names_default,
	.neighbour = NEIGHBOUR_ADJUST,
	.neighbour_limit_ppm = NEIGHBOUR_LIMIT_PPM,
	.slope = {.k = 0.4, .error = 0.03, .df = 7}};

/* PTs around 100 ms without a neighbour, of whom each sample had the same share; the program loses
 * k of its speed beside him. It waits for 50 ms, which he does not change. */
static void make_samples(struct sample samples[N], double share, double k)
{
	for (uint32_t i = 0; i < N; i++) {
		double work_ns = 1e8 + (i % 5) * 2e5 - 4e5;

		samples[i] = (struct sample){.n = i + 1,
			.start_ns = (i + 1) * NS_PER_S,
			.wait_ns = -1,
			.pt_ns = llround(work_ns / (1 - k * share)),
			.neighbour_ppm = llround(share * PPM)};
		samples[i].et_ns = samples[i].pt_ns + 50 * NS_PER_MS;
	}
}

static struct discarding judge(const struct sample samples[N], const struct discard_rules *rules)
{
	static const struct sources none = {};
	struct sample_filter filter = {*rules, &none, samples, N};
	struct discarding d = sample_filter_finish(&filter);

	sample_filter_clear(&filter);
	return d;
}

TEST(the_mean_is_that_without_the_neighbour_and_the_raw_one_stays)
{
	struct sample samples[N];
	_cleanup_(discarding_clear) struct discarding d = {};

	make_samples(samples, 0.9, 0.4);
	d = judge(samples, &adjust);
	assert_int_equal(d.neighbour, NEIGHBOUR_ADJUST);
	assert_int_equal(d.pt.kept.n, N);
	assert_close(d.pt.kept.mean_ns, 1e8, 10);
	assert_close(d.et.kept.mean_ns, 1.5e8, 10);
	assert_close(d.pt.raw.mean_ns, 1e8 / 0.64, 10);
	assert_close(d.pt.adjusted.before.mean_ns, 1e8 / 0.64, 10);
	assert_close(d.et.adjusted.before.mean_ns, 1e8 / 0.64 + 5e7, 10);
	assert_close(d.pt.adjusted.by.mean_share, 0.9, 1e-9);
	assert_int_equal(clock_time_ns(&d.pt, samples, 7, false), 100000000);
	assert_int_equal(clock_time_ns(&d.et, samples, 7, true), 150000000);

	/* the error of the slope is most of the interval: t of 7 df, 0.03 of the speed */
	assert_close(
		d.pt.interval.high_ns - d.pt.kept.mean_ns, 2.365 * 0.03 * 0.9 / 0.64 * 1e8, 1e5);
	assert_close(d.et.interval.high_ns - d.et.kept.mean_ns,
		d.pt.interval.high_ns - d.pt.kept.mean_ns, 1e4);
}

TEST(a_slope_that_nobody_knows_gives_a_wide_interval)
{
	struct sample samples[N];
	struct discard_rules rules = adjust;
	_cleanup_(discarding_clear) struct discarding known = {}, d = {};

	rules.slope = (struct neighbour_slope){};
	for (double k = 0; k < 0.55; k += 0.1) {
		make_samples(samples, 0.9, k);
		discarding_clear(&d);
		d = judge(samples, &rules);
		assert_close(d.pt.adjusted.by.slope.k, neighbour_slope_unknown.k, 1e-9);
		assert_true(d.pt.interval.low_ns < 1e8 && d.pt.interval.high_ns > 1e8);
	}
}

TEST(samples_that_are_discarded_for_other_reasons_do_not_count)
{
	struct sample samples[N];
	_cleanup_(discarding_clear) struct discarding d = {};

	make_samples(samples, 0.9, 0.4);
	samples[3].incomplete = true;
	samples[3].pt_ns *= 10;
	samples[5].neighbour_ppm = -1; /* taken to be as the others */
	d = judge(samples, &adjust);
	assert_int_equal(d.pt.kept.n, N - 1);
	assert_close(d.pt.kept.mean_ns, 1e8, 1e5);
}

TEST(without_probes_nothing_is_adjusted)
{
	struct sample samples[N];
	_cleanup_(discarding_clear) struct discarding d = {};

	make_samples(samples, 0.9, 0.4);
	for (size_t i = 0; i < N; i++)
		samples[i].neighbour_ppm = -1;
	samples[3].neighbour_ppm = PPM; /* the only one that was probed is discarded */
	samples[3].incomplete = true;
	d = judge(samples, &adjust);
	assert_int_equal(d.neighbour, NEIGHBOUR_OFF);
	assert_null(d.pt.adjusted.times_ns);
	assert_close(d.pt.kept.mean_ns, 1e8 / 0.64, 1e5);
}

static struct comparison compare_judged(const struct discarding *of_a, const struct sample *a,
	const struct discarding *of_b, const struct sample *b)
{
	struct comparison_side side_a = comparison_side_make(of_a, a, N, COMPARISON_PT),
			       side_b = comparison_side_make(of_b, b, N, COMPARISON_PT);
	const struct run_variation variation = {.sd = 0.001, .df = 10, .n_runs = 11};
	struct error err = {};
	struct comparison c;

	side_a.shared = side_b.shared = 0; /* matters to a duet */
	if (comparison_make(&side_a, &side_b, &variation, &c, &err) < 0)
		fail_msg("%s", err.text);
	comparison_side_clear(&side_a);
	comparison_side_clear(&side_b);
	return c;
}

/* Of the same program, without a neighbour and beside one. */
TEST(comparisons_are_of_times_without_the_neighbour_and_know_the_error_of_that)
{
	struct sample alone[N], beside[N];
	struct discard_rules off = adjust;
	_cleanup_(discarding_clear) struct discarding a = {}, b = {}, raw = {};
	struct comparison c;
	double se;

	off.neighbour = NEIGHBOUR_OFF;
	make_samples(alone, 0, 0.4);
	make_samples(beside, 0.9, 0.42);
	a = judge(alone, &off);
	b = judge(beside, &adjust);
	raw = judge(beside, &off);
	c = compare_judged(&a, alone, &raw, beside);
	assert_int_equal(comparison_verdict(&c), COMPARISON_SLOWER);

	c = compare_judged(&a, alone, &b, beside);
	se = sqrt(b.pt.adjusted.by.variance) / 1e8;
	assert_close(c.ratio, 0.64 / (1 - 0.9 * 0.42), 1e-6);
	assert_true(c.ratio_low < c.ratio - 2 * se && c.ratio_high > c.ratio + 2 * se);
	assert_int_equal(comparison_verdict(&c), COMPARISON_CANNOT_TELL);
	assert_true(c.smallest_difference > 2.5 * se);
	assert_true(c.df < 12);
	/* more samples do not make the slope known */
	assert_true(isinf(comparison_samples_missing(&c)));
}

TEST(a_duet_knows_the_errors_of_the_slopes_of_both)
{
	struct sample a[N], b[N];
	struct discard_rules off = adjust;
	_cleanup_(discarding_clear) struct discarding of_a = {}, of_b = {}, raw = {};
	struct comparison c, without;
	double errors = 0;

	off.neighbour = NEIGHBOUR_OFF;
	make_samples(a, 0.9, 0.4);
	make_samples(b, 0.9, 0.4);
	for (size_t i = 0; i < N; i++)
		b[i].start_ns += i % 2 ? 1 : -1;
	of_a = judge(a, &adjust);
	of_b = judge(b, &adjust);
	raw = judge(b, &off);
	of_a.run.kind = of_b.run.kind = raw.run.kind = RUN_DUET;
	of_a.run.owner = xstrdup("one call");
	of_b.run.owner = xstrdup("one call");
	raw.run.owner = xstrdup("one call");

	without = compare_judged(&raw, a, &raw, b); /* both have the same times */
	c = compare_judged(&of_a, a, &of_b, b);
	assert_int_equal(c.design, DESIGN_DUET);
	assert_close(c.ratio, 1, 1e-6);
	errors = 2 * of_a.pt.adjusted.by.variance / 1e16;
	assert_close(c.log_ratio.se, sqrt(errors), 1e-6);
	assert_close(c.df, 14, 0.1); /* of two slopes of 7 each */
	assert_true(c.ratio_low < 1 - 2 * sqrt(errors) && c.ratio_high > 1 + 2 * sqrt(errors));
	assert_true(without.ratio_high < 1 + sqrt(errors) / 10);
}

TEST(more_samples_do_not_reduce_the_error_of_the_slope)
{
	struct sample samples[N];
	struct discard_rules off = adjust;
	_cleanup_(discarding_clear) struct discarding d = {}, raw = {};
	struct sample_sizes sizes;
	struct error err = {};

	off.neighbour = NEIGHBOUR_OFF;
	make_samples(samples, 0.9, 0.4);
	d = judge(samples, &adjust);
	raw = judge(samples, &off);
	assert_int_equal(sample_sizes_find(&sizes, &raw, samples, N, false, &err), 0);
	assert_true(sizes.needed[1] < 10);
	assert_int_equal(sample_sizes_find(&sizes, &d, samples, N, false, &err), 0);
	assert_close(sizes.rows[0].mean_ns, 1e8, 10);
	assert_true(isnan(sizes.needed[0]));
	assert_close(sizes.step_ns, 0, 0);
}

static int64_t add_run(
	struct scratch *s, const char *command, int64_t environment, double level, double k)
{
	_cleanup_(run_clear) struct run run = scratch_run("solver");

	run.command = strdup(command);
	run.environment = environment;
	assert_done(s, book_begin_run(s->book, &run, &s->err));
	for (uint32_t n = 1; n <= N; n++) {
		struct sample sample = scratch_sample(n);
		double share = (n % 4) / 4.0;

		sample.pt_ns = llround(level * (1 + 0.002 * (n % 3)) / (1 - k * share));
		sample.neighbour_ppm = llround(share * PPM);
		sample.neighbour_error_ppm = 5000;
		assert_done(s, book_add_sample(s->book, run.id, &sample, NULL, 0, &s->err));
	}
	return run.id;
}

TEST_IN_BOOK(earlier_runs_of_the_same_command_on_the_machine_say_what_a_neighbour_does)
{
	_cleanup_(run_clear) struct run run = scratch_run("solver");
	int64_t here, other;

	assert_done(s, book_put_environment(s->book, "d1", NULL, "{\"identity\": {\"cpu\": \"a\"}}",
			       &here, &s->err));
	assert_done(s, book_put_environment(s->book, "d2", NULL, "{\"identity\": {\"cpu\": \"b\"}}",
			       &other, &s->err));
	run.command = strdup("[\"solver\"]");
	run.environment = here;
	add_run(s, "[\"solver\"]", other, 1e8, 0.1);
	add_run(s, "[\"solver\", \"-x\"]", here, 1e8, 0.1);
	assert_done(s, neighbour_slope_load(s->book, &run, &s->err));
	assert_int_equal(run.neighbour_slope_error_ppm, 0);

	for (int i = 0; i < 3; i++)
		add_run(s, "[\"solver\"]", here, 1e8 + 1e7 * i, 0.4);
	assert_done(s, neighbour_slope_load(s->book, &run, &s->err));
	assert_close((double)run.neighbour_slope_ppm / PPM, 0.4, 0.01);
	assert_true(run.neighbour_slope_error_ppm > PPM / 100);
	assert_true(run.neighbour_slope_error_ppm < PPM / 12);
	assert_close(run_neighbour_slope(&run).k, 0.4, 0.01);
}

/* The slope is that which was known when the run began, however many runs follow. */
TEST_IN_BOOK(a_stored_run_keeps_its_slope)
{
	_cleanup_(run_clear) struct run run = scratch_run("solver");
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	_cleanup_(run_result_clear) struct run_result result = {};
	struct sample samples[N];

	run.neighbour_rule = NEIGHBOUR_ADJUST;
	run.neighbour_slope_ppm = 4 * PPM / 10;
	run.neighbour_slope_error_ppm = 3 * PPM / 100;
	assert_done(s, book_begin_run(s->book, &run, &s->err));
	make_samples(samples, 0.9, 0.4);
	for (size_t i = 0; i < N; i++)
		assert_done(s, book_add_sample(s->book, run.id, &samples[i], NULL, 0, &s->err));
	assert_done(s, run_rules_load(s->book, &run, NULL, false, &rules, &s->err));
	assert_done(s, run_result_read(s->book, run.id, &rules.rules, 0, &result, &s->err));
	assert_close(result.discarding.pt.kept.mean_ns, 1e8, 10);
	assert_close(result.discarding.pt.adjusted.by.slope.k, 0.4, 1e-9);
}
