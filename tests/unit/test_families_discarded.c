/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A daemon whose processes get a new name each time: from a calibration to the samples of a fresh
 * run that are discarded because of it. */
#include "tests/unit/check.h"

#include "lib/protocol/analysis.h"
#include "lib/protocol/discard.h"
#include "lib/record/profile.h"

#include <math.h>

static struct error err;

enum { N = 80, EVERY = 16, CRON = N + 1 };

/* A job with a number of its own for each sample, and cron. */
static struct sources make_sources(int first_job)
{
	struct sources sources = {calloc(CRON, sizeof(*sources.items)), CRON};

	for (int i = 0; i < N; i++)
		sources.items[i] = (struct source){
			.id = i + 1, .name = text_format("memfd:j-%05d", first_job + 7 * i)};
	sources.items[N] = (struct source){.id = CRON, .name = strdup("cron")};
	return sources;
}

static bool is_disturbed(uint32_t n)
{
	return n % EVERY == 5;
}

static struct sample make_sample(uint32_t n)
{
	int64_t et_ns = 100 * NS_PER_MS + n * 37 % 11 * NS_PER_MS / 10 +
			is_disturbed(n) * 30 * NS_PER_MS;

	return (struct sample){.n = n,
		.start_ns = n * NS_PER_S,
		.et_ns = et_ns,
		.pt_ns = 100 * NS_PER_MS,
		.wait_ns = -1};
}

static struct execution execution_of(uint32_t n, uint32_t source, int64_t pt_ns)
{
	return (struct execution){.sample = n,
		.source = source,
		.pid = (pid_t)source,
		.pt_ns = pt_ns,
		.same_cpu_ns = -1};
}

/* Only the first `jobs` of them ran. */
static struct analysis calibrate(uint32_t jobs, const struct analysis *like)
{
	_cleanup_(sources_clear) struct sources sources = make_sources(0);
	_cleanup_(analysis_feed_freep) struct analysis_feed *feed = NULL;
	struct run run = {.id = 1, .program = strdup("INC0.1"), .resolution_ns = 1};
	struct sample *samples = calloc(N, sizeof(*samples));

	for (uint32_t n = 1; n <= N; n++)
		samples[n - 1] = make_sample(n);
	assert_int_equal(analysis_feed_new(&feed, &run, samples, N, &sources,
				 &(struct analysis_options){
					 .patterns = names_default, .family_reference = {like}},
				 &err),
		0);
	for (uint32_t n = 1; n <= N; n++) {
		const struct execution job = execution_of(n, n, 30 * NS_PER_MS),
				       cron = execution_of(n, CRON, NS_PER_MS / 100);

		if (is_disturbed(n) && n < EVERY * jobs)
			assert_int_equal(analysis_feed_add(feed, &job, &err), 0);
		assert_int_equal(analysis_feed_add(feed, &cron, &err), 0);
	}
	return analysis_feed_finish(feed);
}

static struct discarding measure(const struct profile *profile)
{
	const struct discard_rules rules = {.profile = profile, .patterns = names_default};
	_cleanup_(sources_clear) struct sources sources = make_sources(50000);
	struct sample samples[N];
	_cleanup_(sample_filter_clear) struct sample_filter filter = {rules, &sources, samples, N};

	for (uint32_t n = 1; n <= N; n++)
		samples[n - 1] = make_sample(n);
	for (uint32_t n = 1; n <= N; n++) {
		const struct execution job = execution_of(n, n, 30 * NS_PER_MS),
				       cron = execution_of(n, CRON, NS_PER_MS / 100);

		if (is_disturbed(n))
			assert_int_equal(sample_filter_add(&filter, &job, &err), 0);
		assert_int_equal(sample_filter_add(&filter, &cron, &err), 0);
	}
	return sample_filter_finish(&filter);
}

static void assert_others(const struct discarding *discarding)
{
	assert_int_equal(discarding->others.n, 2);
	assert_string_equal(discarding->others.items[0].name, "memfd:j-*");
	assert_int_equal(discarding->others.items[0].names, N / EVERY);
	assert_int_equal(discarding->others.items[0].total_ns, N / EVERY * 30 * NS_PER_MS);
	assert_int_equal(discarding->others.items[1].names, 0);
}

TEST(jobs_with_new_numbers_are_discarded_in_a_fresh_run)
{
	_cleanup_(analysis_clear) struct analysis analysis = calibrate(N / EVERY, NULL);
	_cleanup_(profile_clear) struct profile profile = {};
	_cleanup_(cutoffs_clear) struct cutoffs left_out = {};
	_cleanup_(discarding_clear) struct discarding discarding = {};

	assert_int_equal(analysis.verdict, VERDICT_L);
	assert_int_equal(analysis.n_l_samples, N / EVERY);
	profile = cutoffs_make("x", (struct analysis[]){analysis, analysis}, 0, &left_out);
	assert_int_equal(profile.n_cutoffs, 1);
	assert_string_equal(profile.cutoffs[0].daemon, "memfd:j-*");
	assert_int_equal(profile.cutoffs[0].names, N / EVERY);
	assert_int_equal(profile.cutoffs[0].period_ns,
		llround(analysis_period_ns(&analysis, &analysis.statistics[1])));
	assert_true(profile.cutoffs[0].period_ns > 0);
	discarding = measure(&profile);
	assert_int_equal(discarding.n_by_cutoff, N / EVERY);
	assert_string_equal(discarding.over[0].daemon, "memfd:j-*");
	assert_others(&discarding);
}

TEST(two_jobs_of_a_long_run_are_of_the_family_of_the_short_one)
{
	_cleanup_(analysis_clear) struct analysis many = calibrate(N / EVERY, NULL);
	_cleanup_(analysis_clear) struct analysis two = calibrate(2, NULL),
						  like = calibrate(2, &many),
						  none = calibrate(0, &many);
	_cleanup_(profile_clear) struct profile profile = {};
	_cleanup_(cutoffs_clear) struct cutoffs left_out = {};

	assert_int_equal(two.n_statistics, 3); /* each by itself, and cron */
	assert_int_equal(like.n_statistics, 2);
	assert_int_equal(analysis_daemon(&like, "memfd:j-*")->names, 2);
	assert_int_equal(analysis_daemon(&like, "memfd:j-*")->n_long_executions, 2);
	assert_int_equal(none.n_statistics, 1);
	profile = cutoffs_make("x", (struct analysis[]){many, like}, 0, &left_out);
	assert_int_equal(profile.n_cutoffs, 1);
	assert_int_equal(profile.cutoffs[0].names, N / EVERY);
	assert_true(profile.cutoffs[0].short_ns > 0 && profile.cutoffs[0].long_ns > 0);
}

TEST(without_a_profile_they_are_shown_together)
{
	_cleanup_(discarding_clear) struct discarding discarding = measure(NULL);

	assert_int_equal(discarding.n_by_cutoff, 0);
	assert_others(&discarding);
}
