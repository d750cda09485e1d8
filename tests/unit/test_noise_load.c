/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mark of a profile that was made of noisy runs, or that was forced. */
#include "tests/unit/scratch.h"

#include "lib/base/text.h"
#include "lib/book/book.h"
#include "lib/record/profile.h"
#include "lib/report/run_result.h"

#include <string.h>

static struct analysis analysis_of(enum verdict verdict, bool noisy, int64_t blind_ns)
{
	return (struct analysis){
		.verdict = verdict, .noise = {.noisy = noisy, .blind_ns = blind_ns}};
}

static struct profile mark(struct scratch *s, struct analysis a, struct analysis b)
{
	struct profile profile = {};

	assert_done(s, noise_mark(s->book, (struct analysis[]){a, b}, &profile, &s->err));
	return profile;
}

TEST_IN_BOOK(of_two_noisy_runs_the_one_that_hides_more_counts)
{
	_cleanup_(profile_clear) struct profile both = mark(s,
		analysis_of(VERDICT_L, true, NS_PER_MS),
		analysis_of(VERDICT_L, true, 40 * NS_PER_MS));
	_cleanup_(profile_clear) struct profile first = mark(s,
		analysis_of(VERDICT_L, true, 3 * NS_PER_MS),
		analysis_of(VERDICT_CLEAN, false, 40 * NS_PER_MS));
	_cleanup_(profile_clear) struct profile none = mark(s,
		analysis_of(VERDICT_L, false, 3 * NS_PER_MS),
		analysis_of(VERDICT_CLEAN, false, 40 * NS_PER_MS));

	assert_int_equal(both.mark.blind_ns, 40 * NS_PER_MS);
	assert_string_equal(both.mark.noise, "speed varies");
	assert_int_equal(first.mark.blind_ns, 3 * NS_PER_MS);
	assert_null(noise_text("none", &none.mark));
}

/* The long run of --reuse-long may be of an older INC, whose time varied more. */
TEST_IN_BOOK(by_et_a_run_of_another_inc_does_not_show_what_is_hidden)
{
	struct analysis now = analysis_of(VERDICT_L, true, NS_PER_MS),
			other = analysis_of(VERDICT_L, true, 40 * NS_PER_MS);
	_cleanup_(profile_clear) struct profile by_et = {}, by_wait = {.by_wait = true};

	now.run.inc_digest = (char *)"i1";
	other.run.inc_digest = (char *)"i0";
	assert_done(s, noise_mark(s->book, (struct analysis[]){now, other}, &by_et, &s->err));
	assert_done(s, noise_mark(s->book, (struct analysis[]){now, other}, &by_wait, &s->err));
	assert_int_equal(by_et.mark.blind_ns, NS_PER_MS);
	assert_int_equal(by_wait.mark.blind_ns, 40 * NS_PER_MS);
}

TEST_IN_BOOK(a_forced_profile_has_the_verdicts_of_its_runs)
{
	struct analysis by_hand = analysis_of(VERDICT_BUSY, false, 0);
	_cleanup_(profile_clear) struct profile one = mark(
		s, analysis_of(VERDICT_CLEAN, false, 0), analysis_of(VERDICT_BUSY, false, 0));
	_cleanup_(profile_clear) struct profile two = mark(
		s, analysis_of(VERDICT_BUSY, true, NS_PER_MS), analysis_of(VERDICT_STEP, false, 0));
	_cleanup_(profile_clear) struct profile same = mark(s,
		analysis_of(VERDICT_BUSY, false, NS_PER_MS), analysis_of(VERDICT_BUSY, false, 0));

	assert_int_equal(one.mark.blind_ns, 0);
	assert_string_equal(one.mark.noise, "busy, forced");
	assert_int_equal(two.mark.blind_ns, NS_PER_MS);
	assert_string_equal(two.mark.noise, "busy, step, forced; speed varies");
	assert_string_equal(same.mark.noise, "busy, forced");
	by_hand.central.by_hand = true;
	one.mark.noise = (free(one.mark.noise), NULL);
	assert_done(s, noise_mark(s->book, (struct analysis[]){by_hand, by_hand}, &one, &s->err));
	assert_null(one.mark.noise);
}

TEST_IN_BOOK(a_share_of_the_runs_time_is_at_most_all_of_it)
{
	_cleanup_(run_clear) struct run run = scratch_run("INC0.1");
	struct sample samples[] = {scratch_sample(1)};
	struct analysis analysis = {.samples = samples, .n_samples = 1, .noise.noisy = true};
	_cleanup_(profile_clear) struct profile profile = {};
	struct counters changes = COUNTERS_NONE;

	samples[0].et_ns = 100 * NS_PER_MS;
	changes.sample = 1;
	changes.value[COUNTER_CPU_PRESSURE] = 103 * NS_PER_MS;
	assert_done(s, book_add_run(s->book, &run, &s->err));
	analysis.run.id = run.id;
	assert_done(s, book_add_sample(s->book, analysis.run.id, &samples[0], NULL, 0, &s->err));
	assert_done(
		s, book_add_rows(s->book, analysis.run.id, &counters_table, &changes, 1, &s->err));
	profile = mark(s, analysis, analysis);
	assert_string_equal(profile.mark.noise, "PSI 100 %");
}

static void assert_text(const char *profile, int64_t blind_ns, const char *noise, const char *want)
{
	const struct profile_mark mark = {blind_ns, (char *)(uintptr_t)noise};
	_cleanup_(freep) char *text = noise_text(profile, &mark);

	assert_string_equal(text, want);
}

TEST(the_sentence_is_shorter_where_that_makes_it_fit_a_line)
{
	assert_text("lab", 16400000, NULL, "Profile 'lab' is noisy: blind to daemons below 16 ms");
	assert_text("lab", 999857, "speed varies",
		"Profile 'lab' is noisy: blind to daemons below 1.0 ms (speed varies)");
	assert_text("last-week", NS_PER_MS, "PSI 41 %, interrupts 8.1 %",
		"Profile 'last-week' is noisy: blind below 1.0 ms (PSI 41 %, interrupts 8.1 %)");
	assert_text("lab", 0, "busy, forced", "Profile 'lab' is unreliable (busy, forced)");
}
