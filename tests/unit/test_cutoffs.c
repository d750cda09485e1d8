/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the readings of a short and a long run to cutoffs, rule by rule. */
#include "tests/unit/check.h"

#include "lib/protocol/discard.h"
#include "lib/record/profile.h"

#include <math.h>

static struct daemon_statistics statistics_of(
	const char *name, int64_t central_ns, double sd_ns, int64_t cutoff_ns)
{
	return (struct daemon_statistics){
		.name = (char *)name,
		.n_central = central_ns >= 0,
		.central_max_ns = central_ns,
		.central_sd_ns = sd_ns,
		.cutoff_ns = cutoff_ns,
		.share = NAN,
	};
}

/* least_share_ppm: also turns on the floor, half the detection limit of 20 ns. */
static struct profile make_from(struct daemon_statistics *a, size_t n_a,
	struct daemon_statistics *b, size_t n_b, enum run_kind kind, int64_t least_share_ppm,
	struct cutoffs *left_out)
{
	const struct analysis runs[] = {{.run = {.kind = kind},
						.resolution_ns = 1,
						.spacing_ns = 1e9,
						.central.median_ns = NS_PER_S,
						.noise.blind_ns = 20,
						.statistics = a,
						.n_statistics = n_a},
		{.run = {.kind = kind},
			.resolution_ns = 1,
			.spacing_ns = 1e11,
			.central.median_ns = 100 * NS_PER_S,
			.noise.blind_ns = 20,
			.statistics = b,
			.n_statistics = n_b}};

	return cutoffs_make("x", runs, least_share_ppm, left_out);
}

static struct profile make(
	struct daemon_statistics *a, size_t n_a, struct daemon_statistics *b, size_t n_b)
{
	_cleanup_(cutoffs_clear) struct cutoffs left_out = {};
	struct profile profile = make_from(a, n_a, b, n_b, RUN_SHORT, 0, &left_out);

	assert_int_equal(left_out.n, 0);
	return profile;
}

TEST(with_a_period_short_programs_get_the_cutoff_of_the_short_run)
{
	struct daemon_statistics a[] = {statistics_of("cron", -1, 0, 50)},
				 b[] = {statistics_of("cron", 10, 1, 900)};
	_cleanup_(profile_clear) struct profile profile = {};
	const struct cutoff *c;

	a[0].period = (struct period){.samples = 100, .firm = true, .occurrences = 3};
	profile = make(a, 1, b, 1);
	c = &profile.cutoffs[0];
	assert_int_equal(profile.n_cutoffs, 1);
	assert_int_equal(c->period_ns, 100 * NS_PER_S);
	assert_int_equal(c->task_time_ns, 5 * NS_PER_S);
	assert_int_equal(cutoff_for(c, 5 * NS_PER_S - 1), 50);
	assert_int_equal(cutoff_for(c, 5 * NS_PER_S), 900);
	assert_true(c->firm);
}

/* The long run has 20 samples of 100 s; the period of the short one is given in seconds. */
static int64_t period_kept(
	double period_s, const uint32_t *long_at, size_t n_long, size_t n_present)
{
	enum { SAMPLES = 20 };
	struct sample samples[SAMPLES] = {};
	struct long_execution executions[SAMPLES];
	struct daemon_statistics a = statistics_of("cron", -1, 0, 50),
				 b = statistics_of("cron", -1, 0, 900);
	_cleanup_(cutoffs_clear) struct cutoffs left_out = {};
	_cleanup_(profile_clear) struct profile profile = {};
	struct analysis runs[] = {
		{.resolution_ns = 1, .spacing_ns = 1e9, .statistics = &a, .n_statistics = 1},
		{.resolution_ns = 1,
			.spacing_ns = 1e11,
			.samples = samples,
			.n_samples = SAMPLES,
			.statistics = &b,
			.n_statistics = 1}};

	for (uint32_t i = 0; i < SAMPLES; i++)
		samples[i] = (struct sample){
			.n = i + 1, .start_ns = (i + 1) * 100 * NS_PER_S, .et_ns = 99 * NS_PER_S};
	for (size_t i = 0; i < n_long; i++)
		executions[i] = (struct long_execution){long_at[i] + 1, long_at[i], 1000};
	a.period = (struct period){.ns = period_s * 1e9, .occurrences = 3};
	b.long_executions = executions;
	b.n_long_executions = n_long;
	b.n_present = n_present;
	profile = cutoffs_make("x", runs, 0, &left_out);
	return profile.cutoffs[0].period_ns / NS_PER_S;
}

TEST(a_period_is_kept_if_the_long_run_agrees_with_it)
{
	static const uint32_t each_fourth[] = {1, 5, 9, 13, 17}, late[] = {1, 14},
			      over_a_border[] = {1, 2, 9, 10}, near[] = {1, 5, 7, 13};

	assert_int_equal(period_kept(400, each_fourth, 5, 0), 400);
	/* the other executions are in the central cluster */
	assert_int_equal(period_kept(400, late, 2, 3), 400);
	assert_int_equal(period_kept(800, over_a_border, 4, 0), 800);
	/* more often */
	assert_int_equal(period_kept(400, near, 4, 16), 0);
	/* 25 times in 2,000 s, of which 20 samples could have shown 20 */
	assert_int_equal(period_kept(80, late, 2, 10), 80);
	assert_int_equal(period_kept(80, late, 2, 5), 0);
	/* fewer than four are expected */
	assert_int_equal(period_kept(600, late, 1, 0), 600);
}

/* Of the papers' runs, which were imported, the larger holds (Table XVI). */
TEST(without_a_period_that_of_the_run_nearest_in_length_holds)
{
	struct daemon_statistics a[] = {statistics_of("grep", -1, 0, 50)},
				 b[] = {statistics_of("grep", 10, 1, 300)};
	_cleanup_(cutoffs_clear) struct cutoffs left_out = {};
	_cleanup_(profile_clear) struct profile profile = make(a, 1, b, 1), papers = {};

	assert_int_equal(profile.cutoffs[0].period_ns, 0);
	assert_int_equal(profile.cutoffs[0].task_time_ns, 10 * NS_PER_S);
	assert_int_equal(cutoff_for(&profile.cutoffs[0], 48 * NS_PER_MS), 50);
	assert_int_equal(cutoff_for(&profile.cutoffs[0], 10 * NS_PER_S), 300);
	papers = make_from(a, 1, b, 1, RUN_IMPORT, 0, &left_out);
	assert_int_equal(papers.cutoffs[0].below_ns, 300);
	assert_int_equal(papers.cutoffs[0].atleast_ns, 300);
	assert_int_equal(papers.cutoffs[0].task_time_ns, 0);
}

TEST(each_run_gives_its_cutoff_by_its_own_rule)
{
	struct {
		struct daemon_statistics a, b; /* b without a name: it is not in the long run */
		int64_t short_ns, long_ns, below_ns, atleast_ns;
	} cases[] = {
		/* where the long run has it in the centre only, maximum and two sd hold */
		{statistics_of("sshd", -1, 0, 2), statistics_of("sshd", 14, 4.7, -1), 2, 23, 2, 23},
		/* the short run has no such rule */
		{statistics_of("x", 14, 4.7, -1), statistics_of("x", -1, 0, 9), -1, 9, 9, 9},
		/* one cutoff holds for both, even with a period */
		{statistics_of("bash", -1, 0, 5), {}, 5, -1, 5, 5},
	};

	cases[2].a.period = (struct period){.samples = 10, .occurrences = 2};
	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		_cleanup_(profile_clear) struct profile profile = make(
			&cases[i].a, 1, &cases[i].b, cases[i].b.name != NULL);
		const struct cutoff *c = &profile.cutoffs[0];

		assert_int_equal(c->short_ns, cases[i].short_ns);
		assert_int_equal(c->long_ns, cases[i].long_ns);
		assert_int_equal(c->below_ns, cases[i].below_ns);
		assert_int_equal(c->atleast_ns, cases[i].atleast_ns);
		assert_false(c->firm);
	}
}

TEST(daemons_that_are_nowhere_infrequent_get_none)
{
	struct daemon_statistics a[] = {statistics_of("a", 3, 1, -1), statistics_of("c", -1, 0, 4)},
				 b[] = {statistics_of("a", 3, 1, -1), statistics_of("b", -1, 0, 8)};
	_cleanup_(profile_clear) struct profile profile = make(a, 2, b, 2);

	assert_int_equal(profile.n_cutoffs, 2);
	assert_string_equal(profile.cutoffs[0].daemon, "b");
	assert_string_equal(profile.cutoffs[1].daemon, "c");
	assert_null(profile_cutoff(&profile, "a"));
	assert_ptr_equal(profile_cutoff(&profile, "c"), &profile.cutoffs[1]);
}

TEST(two_clean_runs_make_an_empty_profile)
{
	_cleanup_(profile_clear) struct profile profile = make(NULL, 0, NULL, 0);

	assert_int_equal(profile.n_cutoffs, 0);
	assert_string_equal(profile.name, "x");
}

/* Of these PTs: executions in L-samples. */
#define RAN_LONG(daemon, ...)                                                   \
	do {                                                                    \
		static struct long_execution long_executions[] = {__VA_ARGS__}; \
		(daemon).long_executions = long_executions;                     \
		(daemon).n_long_executions = ELEMENTS(long_executions);         \
	} while (0)

TEST(executions_below_the_floor_give_no_cutoff)
{
	struct daemon_statistics a[] = {statistics_of("bash", -1, 0, 2),
		statistics_of("cron", -1, 0, 2)},
				 b[] = {statistics_of("bash", 5, 0, -1),
					 statistics_of("cron", 6, 0, 20)};
	_cleanup_(cutoffs_clear) struct cutoffs left_out = {}, none = {};
	_cleanup_(profile_clear) struct profile profile = {}, papers = {};

	RAN_LONG(a[0], {.sample = 1, .pt_ns = 4}, {.sample = 7, .pt_ns = 9});
	RAN_LONG(a[1], {.sample = 1, .pt_ns = 40}, {.sample = 7, .pt_ns = 3},
		{.sample = 9, .pt_ns = 30});
	RAN_LONG(b[1], {.sample = 2, .pt_ns = 34});
	a[0].share = a[1].share = b[1].share = 0.5;
	profile = make_from(a, 2, b, 2, RUN_SHORT, 1, &left_out);
	assert_int_equal(profile.n_cutoffs, 1);
	assert_string_equal(profile.cutoffs[0].daemon, "cron");
	assert_int_equal(profile.cutoffs[0].short_ns, 15); /* from the one of 30 */
	assert_int_equal(profile.cutoffs[0].long_ns, 20);
	assert_int_equal(profile.short_run.floor_ns, 10);
	assert_int_equal(left_out.n, 1);
	assert_string_equal(left_out.items[0].daemon, "bash");
	papers = make_from(a, 2, b, 2, RUN_IMPORT, 1, &none);
	assert_int_equal(papers.n_cutoffs, 2);
	assert_int_equal(papers.cutoffs[1].short_ns, 2);
	assert_int_equal(papers.short_run.floor_ns, 0);
}

TEST(what_explains_little_in_both_runs_is_left_out_on_request)
{
	struct daemon_statistics a[] = {statistics_of("backup", -1, 0, 50),
		statistics_of("cron", -1, 0, 50), statistics_of("sshd", -1, 0, 50)},
				 b[] = {statistics_of("cron", -1, 0, 30),
					 statistics_of("old", -1, 0, 30)};
	_cleanup_(cutoffs_clear) struct cutoffs left_out = {};
	_cleanup_(profile_clear) struct profile profile = {}, all = {};

	a[0].share = 0.98;
	a[1].share = 0.02;
	b[0].share = 0.11;
	a[2].share = 0.0999;
	all = make(a, 3, b, 2);
	assert_int_equal(all.cutoffs[0].short_share_ppm, 980000);
	assert_int_equal(all.cutoffs[0].long_share_ppm, -1);
	assert_int_equal(cutoff_share_ppm(&all.cutoffs[1]), 110000);
	profile = make_from(a, 3, b, 2, RUN_IMPORT, 100000, &left_out);
	assert_int_equal(left_out.n, 1);
	assert_string_equal(left_out.items[0].daemon, "sshd");
	assert_int_equal(profile.n_cutoffs, 3); /* of the last it is not known */
	assert_null(profile_cutoff(&profile, "sshd"));
	assert_non_null(profile_cutoff(&profile, "old"));
}
