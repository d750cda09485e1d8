/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile applied to a run. */
#include "tests/unit/check.h"

#include "lib/protocol/discard.h"
#include "lib/record/profile.h"

enum { N = 12 };

static struct source who[] = {
	{1, (char *)"cron", NULL, (char *)"cron.service", SOURCE_PROCESS},
	{2, (char *)"kworker/0:1", NULL, NULL, SOURCE_KERNEL},
	{3, (char *)"free", NULL, NULL, SOURCE_PROCESS},
};

static struct cutoff cutoffs[] = {
	{.daemon = (char *)"cron",
		.below_ns = 10 * NS_PER_MS,
		.atleast_ns = 500 * NS_PER_MS,
		.period_ns = 100 * NS_PER_S,
		.task_time_ns = 5 * NS_PER_S},
	{.daemon = (char *)"kworker", .below_ns = NS_PER_MS, .atleast_ns = NS_PER_MS},
};
static const struct profile profile = {
	.resolution_ns = NS_PER_MS, .cutoffs = cutoffs, .n_cutoffs = 2};

static const struct sources sources = {who, ELEMENTS(who)};

static struct sample samples[N + 1];
static struct sample_filter d;
static struct discarding out;

static void start_with(const struct discard_rules *rules, size_t n_samples)
{
	sample_filter_clear(&d);
	d = (struct sample_filter){*rules, &sources, samples, n_samples};
}

/* PT 1000 to 1011 us, ET ten times that. */
static void start_by(const struct discard_rules *rules, int64_t scale)
{
	for (uint32_t i = 0; i < N; i++)
		samples[i] = (struct sample){.n = i + 1,
			.wait_ns = -1,
			.pt_ns = (1000 + i) * NS_PER_US * scale,
			.et_ns = (10000 + 10 * i) * NS_PER_US * scale,
			.incomplete = i == 4};
	start_with(rules, N);
}

static void start(const struct profile *p, int64_t scale)
{
	start_by(&(struct discard_rules){.profile = p, .patterns = names_default}, scale);
}

static void add(uint32_t sample, uint32_t daemon, int64_t pt_ns)
{
	const struct execution e = {
		.sample = sample, .source = daemon, .pt_ns = pt_ns, .same_cpu_ns = -1};

	assert_int_equal(sample_filter_add(&d, &e, &(struct error){}), 0);
}

static void finish(void)
{
	discarding_clear(&out);
	out = sample_filter_finish(&d);
}

static int clear(void **state)
{
	discarding_clear(&out);
	sample_filter_clear(&d);
	return 0;
}

#define TEST_OF_RUN(name) TEST_WITH(name, NULL, clear)

/* Sample 451 of EMP's Table IX: bash with 1 ms is not over its cutoff of 1 ms. */
TEST_OF_RUN(only_what_is_over_the_cutoff_discards)
{
	start(&profile, 1);
	add(1, 2, NS_PER_MS);
	add(2, 2, NS_PER_MS + 499999); /* rounds to 1 ms */
	add(3, 2, NS_PER_MS + 500000); /* rounds to 2 ms */
	add(6, 1, 11 * NS_PER_MS);
	add(6, 1, 12 * NS_PER_MS);
	add(7, 3, NS_PER_S); /* has no cutoff */
	finish();
	assert_int_equal(out.n_by_cutoff, 2);
	assert_int_equal(out.by_cutoff[0], 3);
	assert_int_equal(out.by_cutoff[1], 6);
	assert_int_equal(out.n_over, 3);
	assert_string_equal(out.over[0].daemon, "kworker");
	assert_int_equal(out.over[0].pt_ns, 2 * NS_PER_MS);
	assert_int_equal(out.over[0].cutoff_ns, NS_PER_MS);
	assert_string_equal(out.over[1].unit, "cron.service");
}

TEST_OF_RUN(the_cutoff_goes_by_the_mean_et_of_the_run)
{
	start(&profile, 1000); /* about 10 s */
	add(6, 1, 11 * NS_PER_MS);
	add(7, 1, 501 * NS_PER_MS);
	finish();
	assert_int_equal(out.n_by_cutoff, 1);
	assert_int_equal(out.over[0].cutoff_ns, 500 * NS_PER_MS);
}

TEST_OF_RUN(a_cutoff_for_longer_programs_only_discards_nothing_of_shorter_ones)
{
	static struct cutoff longer = {.daemon = (char *)"cron",
		.below_ns = -1,
		.atleast_ns = NS_PER_MS,
		.task_time_ns = NS_PER_S};
	const struct profile p = {.resolution_ns = 1, .cutoffs = &longer, .n_cutoffs = 1};

	start(&p, 1);
	add(1, 1, 0);
	add(2, 1, NS_PER_S);
	finish();
	assert_int_equal(out.n_over, 0);
}

TEST_OF_RUN(incomplete_samples_go_with_the_first_check)
{
	start(&profile, 1);
	finish();
	assert_int_equal(out.n_incomplete, 1);
	assert_int_equal(out.incomplete[0], 5);
	assert_int_equal(out.n_by_cutoff, 0);
	assert_int_equal(out.pt.raw.n, N);
	assert_int_equal(out.pt.kept.n, N - 1);
}

TEST_OF_RUN(two_sd_are_checked_once_and_for_each_clock_by_itself)
{
	const struct discard_rules rules = {.patterns = names_default};

	for (uint32_t i = 0; i < N; i++)
		samples[i] = (struct sample){
			.n = i + 1, .wait_ns = -1, .pt_ns = 100 + i % 2, .et_ns = 200 + i % 2};
	samples[3].pt_ns = 1000;
	samples[8].pt_ns = 120; /* far out only once 1000 is gone: stays */
	samples[9].et_ns = 900;
	start_with(&rules, N);
	finish();
	assert_int_equal(out.pt.n_by_two_sd, 1);
	assert_int_equal(out.pt.by_two_sd[0], 4);
	assert_int_equal(out.pt.papers.n, N - 1);
	assert_int_equal(out.pt.papers.max_ns, 120);
	assert_int_equal(out.et.n_by_two_sd, 1);
	assert_int_equal(out.et.by_two_sd[0], 10);
}

TEST_OF_RUN(an_execution_in_a_sample_that_is_missing_is_refused)
{
	const struct discard_rules rules = {.profile = &profile, .patterns = names_default};
	const struct execution e = {.sample = 2, .source = 2, .pt_ns = NS_PER_S};
	struct error err = {};

	samples[0] = (struct sample){.n = 1};
	samples[1] = (struct sample){.n = 3};
	start_with(&rules, 2);
	assert_int_equal(sample_filter_add(&d, &e, &err), -EINVAL);
	assert_string_equal(err.text, "an execution is in sample 2, which does not exist");
}

/* ET is about 10 ms, so 20 % are 2 ms. */
static const struct discard_rules a_fifth = {
	.profile = &profile, .patterns = names_default, .unprofiled_share = 0.2};

TEST_OF_RUN(an_unprofiled_daemon_over_its_share_discards)
{
	start_by(&a_fifth, 1);
	add(3, 3, 1900 * NS_PER_US);
	add(6, 3, 2100 * NS_PER_US);
	add(7, 1, 3 * NS_PER_MS); /* has a cutoff, and is below it */
	add(8, 3, 1100 * NS_PER_US);
	add(8, 3, 1100 * NS_PER_US); /* both together are over */
	finish();
	assert_int_equal(out.n_unprofiled, 2);
	assert_int_equal(out.unprofiled[0].sample, 6);
	assert_string_equal(out.unprofiled[0].daemon, "free");
	assert_int_equal(out.unprofiled[0].pt_ns, 2100 * NS_PER_US);
	assert_int_equal(out.unprofiled[0].cutoff_ns, 2010 * NS_PER_US);
	assert_int_equal(out.unprofiled[1].sample, 8);
	assert_int_equal(out.n_by_cutoff, 0);
	assert_int_equal(out.pt.kept.n, N - 3);
	assert_false(out.pt.in_papers[5]);
	assert_true(out.pt.in_papers[6]);
}

TEST_OF_RUN(an_unprofiled_daemon_discards_without_a_profile_too)
{
	const struct discard_rules rules = {.patterns = names_default, .unprofiled_share = 0.2};

	start_by(&rules, 1);
	add(12, 1, 3 * NS_PER_MS);
	finish();
	assert_int_equal(out.n_unprofiled, 1);
	assert_string_equal(out.unprofiled[0].unit, "cron.service");
}

TEST_OF_RUN(an_unprofiled_daemon_on_another_cpu_does_not_discard)
{
	const struct discard_rules rules = {.patterns = names_default, .unprofiled_share = 0.2};

	samples[0] = (struct sample){.n = 1, .wait_ns = -1, .pt_ns = 99, .et_ns = 100};
	/* threads */
	samples[1] = (struct sample){.n = 2, .wait_ns = -1, .pt_ns = 180, .et_ns = 100};
	start_with(&rules, 2);
	add(1, 3, 90);
	add(2, 3, 90);
	finish();
	assert_int_equal(out.n_unprofiled, 1);
	assert_int_equal(out.unprofiled[0].sample, 2);
}

/* Three ran for 20, 20 and 30 ms, but the program waited for 18.3 ms only: each has its part of
 * that. In the second sample they ran for less than was taken. */
TEST_OF_RUN(the_parts_of_what_was_taken_add_up)
{
	const struct discard_rules rules = {.patterns = names_default};
	const int64_t taken_ns = 18300001;
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < 2; i++)
		samples[i] = (struct sample){.n = i + 1,
			.wait_ns = taken_ns,
			.pt_ns = 50 * NS_PER_MS,
			.et_ns = 100 * NS_PER_MS};
	start_with(&rules, 2);
	for (uint32_t daemon = 1; daemon <= 3; daemon++)
		add(1, daemon, (daemon == 3 ? 30 : 20) * NS_PER_MS);
	add(2, 1, 2 * NS_PER_MS);
	finish();
	for (size_t i = 0; i < out.others.n; i++)
		sum_ns += out.others.items[i].disturbed_ns;
	assert_int_equal(sum_ns, taken_ns + 2 * NS_PER_MS);
	assert_int_equal(out.disturbed_ns, sum_ns);
	assert_int_equal(out.others.items[0].disturbed_ns / NS_PER_US, 7842); /* 30 of 70 parts */
	assert_int_equal(out.others.items[1].disturbed_ns / NS_PER_US, 5228 + 2000);
	assert_int_equal(out.others.items[2].disturbed_ns / NS_PER_US, 5228);
}

/* It ran for 80 ms while a quota held the program back, which could have run for 10 ms more. */
TEST_OF_RUN(who_runs_while_a_quota_holds_the_program_back_takes_nothing_from_it)
{
	const struct discard_rules rules = {.patterns = names_default};

	for (int known = 0; known < 2; known++) {
		samples[0] = (struct sample){.n = 1,
			.wait_ns = known ? 10 : -1,
			.pt_ns = 10,
			.et_ns = 100,
			.held_back_ns = 80};
		start_with(&rules, 1);
		add(1, 3, 80);
		finish();
		assert_int_equal(out.disturbed_ns, 10);
		assert_int_equal(out.others.items[0].disturbed_ns, 10);
	}
}

/* The daemon ran for 600 ms, all of it on another CPU, or 20 ms of it on the program's. */
TEST_OF_RUN(what_a_daemon_used_on_other_cpus_discards_only_on_request)
{
	static const size_t discarded[] = {1, 2};

	for (int other_cpus = 0; other_cpus < 2; other_cpus++) {
		const struct discard_rules rules = {
			.profile = &profile, .patterns = names_default, .other_cpus = other_cpus};
		const struct execution elsewhere = {.sample = 2,
					       .source = 1,
					       .pt_ns = 600 * NS_PER_MS},
				       partly = {.sample = 3,
					       .source = 1,
					       .pt_ns = 600 * NS_PER_MS,
					       .same_cpu_ns = 20 * NS_PER_MS};
		struct error err = {};

		start_by(&rules, 1);
		assert_int_equal(sample_filter_add(&d, &elsewhere, &err), 0);
		assert_int_equal(sample_filter_add(&d, &partly, &err), 0);
		finish();
		assert_int_equal(out.n_by_cutoff, discarded[other_cpus]);
		assert_int_equal(out.by_cutoff[out.n_by_cutoff - 1], 3);
		assert_int_equal(out.over[0].pt_ns, (other_cpus ? 600 : 20) * NS_PER_MS);
		assert_int_equal(out.others.items[0].total_ns, 1200 * NS_PER_MS);
	}
}

TEST_OF_RUN(others_are_summed_by_group_the_greatest_first)
{
	start(&profile, 1);
	add(1, 1, NS_PER_MS);
	add(2, 2, 3 * NS_PER_MS);
	add(4, 2, 4 * NS_PER_MS);
	add(4, 3, 9 * NS_PER_US);
	finish();
	assert_int_equal(out.others.n, 3);
	/* ET − PT is 9 ms and more */
	assert_int_equal(out.disturbed_ns, 8 * NS_PER_MS + 9 * NS_PER_US);
	assert_string_equal(out.others.items[0].name, "kworker");
	assert_int_equal(out.others.items[0].total_ns, 7 * NS_PER_MS);
	assert_int_equal(out.others.items[0].max_ns, 4 * NS_PER_MS);
	assert_int_equal(out.others.items[0].max_sample, 4);
	assert_true(out.others.items[0].profiled);
	assert_true(out.others.items[0].long_once);
	assert_string_equal(out.others.items[1].unit, "cron.service");
	assert_false(out.others.items[2].profiled);
	assert_false(out.others.items[2].long_once);
}

/* As --retain does it: the mean ET, and with it the cutoff that holds, changes as samples come
 * in. */
TEST_OF_RUN(a_run_that_goes_on_is_judged_as_if_it_ended_here)
{
	_cleanup_(discarding_clear) struct discarding before = {};

	start(&profile, 1);
	add(6, 1, 11 * NS_PER_MS);
	before = sample_filter_judge(&d);
	assert_int_equal(before.n_by_cutoff, 1);
	samples[N] = (struct sample){
		.n = N + 1, .wait_ns = -1, .pt_ns = 1005 * NS_PER_US, .et_ns = 1000 * NS_PER_S};
	d.n_samples++;
	add(N + 1, 1, 600 * NS_PER_MS);
	finish();
	assert_int_equal(out.n_by_cutoff, 1);
	assert_int_equal(out.by_cutoff[0], N + 1);
	assert_int_equal(out.pt.raw.n, N + 1);
}

/* Another program of the duet, with a sample that none of the other's reasons applies to. */
static struct sample others[N];
static struct sample_filter e;

static void start_duet(const struct discard_rules *rules, size_t n_others)
{
	static struct sample_filter *const both[] = {&d, &e};

	start_by(rules, 1);
	for (uint32_t i = 0; i < N; i++) {
		samples[i].incomplete = false;
		others[i] = samples[i];
	}
	sample_filter_clear(&e);
	e = (struct sample_filter){*rules, &sources, others, n_others, .duet = both, .n_duet = 2};
	d.duet = both;
	d.n_duet = 2;
}

/* Both have kept the same samples, after the first check and after both. */
static void check_same(size_t n_kept, size_t n_papers)
{
	struct discarding of_e = sample_filter_finish(&e);

	finish();
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(out.out[i], of_e.out[i]);
		assert_int_equal(out.pt.in_papers[i], of_e.pt.in_papers[i]);
		assert_int_equal(out.et.in_papers[i], of_e.et.in_papers[i]);
	}
	assert_int_equal(out.pt.kept.n, n_kept);
	assert_int_equal(of_e.pt.kept.n, n_kept);
	assert_int_equal(of_e.et.kept.n, n_kept);
	assert_int_equal(out.pt.papers.n, n_papers);
	assert_int_equal(of_e.pt.papers.n, n_papers);
	discarding_clear(&of_e);
	sample_filter_clear(&e);
}

TEST_OF_RUN(a_sample_of_a_duet_is_discarded_for_all_programs_or_for_none)
{
	static const struct discard_rules fifth = {
		.patterns = names_default, .unprofiled_share = 0.2};

	start_duet(&fifth, N);
	for (size_t i = 0; i < N; i++)
		others[i].et_ns *= 10; /* so that the same daemon takes a smaller share of it */
	for (struct sample_filter *f = &d; f; f = f == &d ? &e : NULL) {
		const struct execution free3 = {.sample = 3,
			.source = 3,
			.pt_ns = 3 * NS_PER_MS,
			.same_cpu_ns = 3 * NS_PER_MS};

		assert_int_equal(sample_filter_add(f, &free3, &(struct error){}), 0);
	}
	others[6].incomplete = true;
	check_same(N - 2, N - 2);
	assert_int_equal(out.n_unprofiled, 1);
	assert_int_equal(out.n_by_duet, 1);
	assert_int_equal(out.by_duet[0], 7);
}

TEST_OF_RUN(the_cutoff_of_one_program_discards_the_sample_of_the_longer_one_too)
{
	start_duet(&(struct discard_rules){.profile = &profile, .patterns = names_default}, N);
	for (size_t i = 0; i < N; i++)
		others[i].et_ns *= 1000;
	add(6, 1, 11 * NS_PER_MS); /* over the cutoff of shorter programs */
	assert_int_equal(sample_filter_add(&e,
				 &(struct execution){.sample = 6,
					 .source = 1,
					 .same_cpu_ns = -1,
					 .pt_ns = 11 * NS_PER_MS},
				 &(struct error){}),
		0);
	check_same(N - 1, N - 1);
	assert_int_equal(out.n_by_duet, 0);
}

TEST_OF_RUN(the_second_check_discards_the_sample_of_the_other_program_too)
{
	start_duet(&(struct discard_rules){.patterns = names_default}, N);
	samples[2].pt_ns *= 2;
	others[8].pt_ns *= 2;
	check_same(N, N - 2);
	assert_int_equal(out.pt.n_by_two_sd, 2);
}

TEST_OF_RUN(a_sample_that_the_other_program_does_not_have_is_discarded)
{
	start_duet(&(struct discard_rules){.patterns = names_default}, N - 1);
	finish();
	assert_int_equal(out.pt.kept.n, N - 1);
	assert_int_equal(out.n_by_duet, 1);
	assert_int_equal(out.by_duet[0], N);
	sample_filter_clear(&e);
}

static const struct discard_rules beside = {.patterns = names_default,
	.profile = &profile,
	.neighbour = NEIGHBOUR_DISCARD,
	.neighbour_limit_ppm = NEIGHBOUR_LIMIT_PPM};

/* Samples 2, 3 and 6 had a neighbour, of which sample 2 had one for no more than the limit; of
 * sample 4 it is not known. */
static void start_beside(enum neighbour_rule rule)
{
	struct discard_rules rules = beside;

	rules.neighbour = rule;
	start_by(&rules, 1);
	samples[4].incomplete = false;
	samples[1].neighbour_ppm = NEIGHBOUR_LIMIT_PPM;
	samples[2].neighbour_ppm = NEIGHBOUR_LIMIT_PPM + 1;
	samples[3].neighbour_ppm = -1;
	samples[5].neighbour_ppm = PPM;
}

TEST_OF_RUN(samples_with_more_of_a_neighbour_than_the_limit_are_discarded)
{
	start_beside(NEIGHBOUR_DISCARD);
	add(6, 1, 11 * NS_PER_MS);
	finish();
	assert_int_equal(out.neighbour, NEIGHBOUR_DISCARD);
	assert_int_equal(out.n_by_neighbour, 2);
	assert_int_equal(out.by_neighbour[0], 3);
	assert_int_equal(out.by_neighbour[1], 6); /* and by its cutoff */
	assert_int_equal(out.n_by_cutoff, 1);
	assert_int_equal(out.n_by_duet, 0);
	assert_int_equal(out.pt.kept.n, N - 2);
	assert_int_equal(out.et.kept.n, N - 2);
	assert_int_equal(out.pt.raw.n, N);
	assert_true(out.out[2]);
	assert_false(out.pt.in_papers[2]);
}

TEST_OF_RUN(other_rules_keep_samples_that_had_a_neighbour)
{
	for (enum neighbour_rule rule = 0; rule < N_NEIGHBOUR_RULES; rule++) {
		bool discards = rule == NEIGHBOUR_DISCARD || rule == NEIGHBOUR_AUTO;

		start_beside(rule);
		finish();
		assert_int_equal(out.n_by_neighbour, discards ? 2 : 0);
		assert_int_equal(out.pt.kept.n, discards ? N - 2 : N);
		assert_int_equal(out.neighbour, discards ? NEIGHBOUR_DISCARD : rule);
	}
}

TEST_OF_RUN(nothing_is_done_about_neighbours_if_no_sample_was_probed)
{
	for (enum neighbour_rule rule = 0; rule < N_NEIGHBOUR_RULES; rule++) {
		start_beside(rule);
		for (size_t i = 0; i < N; i++)
			samples[i].neighbour_ppm = -1;
		finish();
		assert_int_equal(out.neighbour, NEIGHBOUR_OFF);
		assert_int_equal(out.pt.kept.n, N);
	}
}

/* Of 12 samples one is over its cutoff. 5 of the other 11 must be clean. */
TEST_OF_RUN(auto_discards_while_enough_samples_are_clean)
{
	for (size_t clean = 0; clean <= N; clean++) {
		bool discards = clean >= 4; /* that one among them */

		start_beside(NEIGHBOUR_AUTO);
		add(1, 1, 11 * NS_PER_MS);
		for (size_t i = 0; i < N; i++)
			samples[i].neighbour_ppm = i < clean ? 0 : PPM;
		finish();
		assert_int_equal(out.n_by_neighbour, discards ? N - clean : 0);
		assert_int_equal(out.neighbour, discards ? NEIGHBOUR_DISCARD : NEIGHBOUR_ADJUST);
	}
}

TEST(auto_demands_three_clean_samples_or_half_of_few)
{
	static const struct {
		size_t n, least;
	} rows[] = {{0, 0}, {1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {10, 3}, {200, 3}};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		size_t n = rows[i].n, least = rows[i].least;

		assert_int_equal(neighbour_rule_for(NEIGHBOUR_AUTO, least, n), NEIGHBOUR_DISCARD);
		if (least > 0)
			assert_int_equal(
				neighbour_rule_for(NEIGHBOUR_AUTO, least - 1, n), NEIGHBOUR_ADJUST);
		assert_int_equal(neighbour_rule_for(NEIGHBOUR_DISCARD, 0, n), NEIGHBOUR_DISCARD);
		assert_int_equal(neighbour_rule_for(NEIGHBOUR_ADJUST, n, n), NEIGHBOUR_ADJUST);
		assert_int_equal(neighbour_rule_for(NEIGHBOUR_OFF, 0, n), NEIGHBOUR_OFF);
	}
}

TEST_OF_RUN(a_neighbour_of_one_program_of_a_duet_discards_the_sample_of_all)
{
	start_duet(&beside, N);
	samples[2].neighbour_ppm = others[2].neighbour_ppm = PPM;
	others[6].neighbour_ppm = PPM;
	check_same(N - 2, N - 2);
	assert_int_equal(out.n_by_neighbour, 1);
	assert_int_equal(out.by_neighbour[0], 3);
	assert_int_equal(out.n_by_duet, 1);
	assert_int_equal(out.by_duet[0], 7);
}

TEST_OF_RUN(a_program_of_a_duet_that_was_not_probed_loses_the_samples_of_the_other)
{
	start_duet(&beside, N);
	for (size_t i = 0; i < N; i++)
		samples[i].neighbour_ppm = -1;
	others[6].neighbour_ppm = PPM;
	check_same(N - 1, N - 1);
	assert_int_equal(out.neighbour, NEIGHBOUR_DISCARD);
	assert_int_equal(out.n_by_duet, 1);
}

/* Each has 6 clean samples, which would do, but not in the same rounds. */
TEST_OF_RUN(auto_counts_the_rounds_of_a_duet_that_are_clean_in_all_programs)
{
	struct discard_rules rules = beside;

	rules.neighbour = NEIGHBOUR_AUTO;
	start_duet(&rules, N);
	for (size_t i = 0; i < 6; i++)
		samples[i].neighbour_ppm = others[i + 4].neighbour_ppm = PPM;
	check_same(N, N);
	assert_int_equal(out.neighbour, NEIGHBOUR_ADJUST);
	assert_int_equal(out.n_by_neighbour, 0);

	start_duet(&rules, N);
	for (size_t i = 0; i < 6; i++)
		samples[i].neighbour_ppm = others[i + 1].neighbour_ppm = PPM;
	check_same(N - 7, N - 7);
	assert_int_equal(out.neighbour, NEIGHBOUR_DISCARD);
}
