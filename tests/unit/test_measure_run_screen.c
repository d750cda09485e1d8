/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run's result puts on the first screen. */
#include "tests/unit/check.h"

#include "lib/record/profile.h"
#include "lib/report/run_details.h"
#include "lib/report/run_notes.h"
#include "lib/report/screen.h"

#include <math.h>

enum { N = 12 };

static struct source who[] = {
	{.id = 1, .name = (char *)"cron"},
	{.id = 2, .name = (char *)"kworker/0:1"},
	{.id = 3, .name = (char *)"free"},
};

static struct cutoff cutoffs[] = {
	{.daemon = (char *)"cron", .below_ns = NS_PER_MS, .atleast_ns = NS_PER_MS}};
static struct profile profile = {
	.name = (char *)"lab1", .resolution_ns = 1, .cpu = 1, .cutoffs = cutoffs, .n_cutoffs = 1};

/* PT 100.0 to 101.1 ms, 4 ms of it system time, ET 10 ms longer. */
static struct run_result r;
static struct screen s;

static int make_samples(void **state)
{
	r = (struct run_result){.n_samples = N};
	r.samples = calloc(N, sizeof(*r.samples));
	for (uint32_t i = 0; i < N; i++)
		r.samples[i] = (struct sample){
			.wait_ns = -1,
			.n = i + 1,
			.pt_ns = 100 * NS_PER_MS + i * 7 % N * 100 * NS_PER_US,
			.et_ns = 110 * NS_PER_MS + i * 7 % N * 100 * NS_PER_US,
			.user_ns = 96 * NS_PER_MS,
			.system_ns = 4 * NS_PER_MS,
		};
	s = (struct screen){};
	return 0;
}

static void discard(const struct execution *executions, size_t n)
{
	const struct discard_rules rules = {
		.profile = &profile, .patterns = names_default, .unprofiled_share = 0.05};
	const struct sources sources = {who, ELEMENTS(who)};
	_cleanup_(sample_filter_clear) struct sample_filter d = {
		rules, &sources, r.samples, r.n_samples};
	struct error err = {};

	for (size_t i = 0; i < n; i++) {
		struct execution e = executions[i];

		e.same_cpu_ns = e.same_cpu_ns ?: -1;
		assert_int_equal(sample_filter_add(&d, &e, &err), 0);
	}
	discarding_clear(&r.discarding);
	r.discarding = sample_filter_finish(&d);
	r.discarding.run.id = 3;
	r.discarding.run.cpu = -1;
}

static void fill(const struct profile *p)
{
	screen_clear(&s);
	s = run_screen_fill(&r);
	run_notes_add(&s.notes, &r, p);
}

/* Without executions of daemons. */
static void fill_undisturbed(const struct profile *p)
{
	discard(NULL, 0);
	fill(p);
}

static void assert_note(size_t i, const char *text)
{
	assert_string_equal(s.notes.items[i].text, text);
}

static int clear(void **state)
{
	run_result_clear(&r);
	screen_clear(&s);
	return 0;
}

#define TEST_OF_RUN(name) TEST_WITH(name, make_samples, clear)

TEST_OF_RUN(reasons_are_daemons_by_their_samples_and_the_papers_outliers_are_kept)
{
	static const struct execution executions[] = {
		{.sample = 2, .source = 1, .pt_ns = 2 * NS_PER_MS},
		{.sample = 2, .source = 1, .pt_ns = 3 * NS_PER_MS},
		{.sample = 4, .source = 3, .pt_ns = 9 * NS_PER_MS},
		{.sample = 5, .source = 3, .pt_ns = 9 * NS_PER_MS},
	};

	r.samples[8].pt_ns = 109 * NS_PER_MS;
	r.samples[6].incomplete = true;
	discard(executions, ELEMENTS(executions));
	fill(NULL);
	assert_int_equal(s.n_reasons, 3);
	assert_string_equal(s.reasons[0].name, "free");
	assert_int_equal(s.reasons[0].n, 2);
	assert_string_equal(s.reasons[1].name, "cron");
	assert_int_equal(s.reasons[1].n, 1);
	assert_string_equal(s.reasons[2].name, "lost records");
	assert_int_equal(s.reasons[2].samples[0], 7);
	assert_note(0, "Warning: free discards 2 of 12 samples (emp-analyze daemons 3)");
	assert_int_equal(r.discarding.pt.kept.n, N - 4);
	assert_int_equal(r.discarding.pt.n_by_two_sd, 1);
	assert_int_equal(r.discarding.pt.by_two_sd[0], 9);
	assert_int_equal(r.discarding.pt.papers.n, N - 5);
	assert_true(r.discarding.pt.papers.mean_ns < r.discarding.pt.kept.mean_ns);
}

TEST_OF_RUN(others_count_up_to_what_the_program_lacked)
{
	static const struct execution executions[] = {
		{.sample = 1, .source = 2, .pt_ns = 60 * NS_PER_MS}, /* it lacked 10 ms */
		{.sample = 2, .source = 1, .pt_ns = NS_PER_MS},
		{.sample = 3, .source = 3, .pt_ns = NS_PER_US}, /* not material */
	};

	discard(executions, ELEMENTS(executions));
	fill(NULL);
	assert_int_equal(s.n_others, 1);
	assert_string_equal(r.discarding.others.items[0].name, "kworker");
	assert_int_equal(r.discarding.others.items[0].disturbed_ns, 10 * NS_PER_MS);
	assert_true(fabs(s.explained - 11.001 / 120) < 1e-6);
}

/* 10 ms were missing in each sample; others took 6 ms of them. */
TEST_OF_RUN(what_others_took_is_the_waiting_time_where_it_is_known)
{
	static const struct execution executions[] = {
		{.sample = 1, .source = 2, .pt_ns = 60 * NS_PER_MS, .same_cpu_ns = 6 * NS_PER_MS},
		{.sample = 2, .source = 1, .pt_ns = 90 * NS_PER_MS, .same_cpu_ns = 3 * NS_PER_MS},
	};

	for (size_t i = 0; i < r.n_samples; i++)
		r.samples[i].wait_ns = 6 * NS_PER_MS;
	discard(executions, ELEMENTS(executions));
	fill(NULL);
	assert_int_equal(s.n_others, 2);
	assert_int_equal(r.discarding.others.items[0].disturbed_ns, 6 * NS_PER_MS);
	assert_int_equal(r.discarding.others.items[1].disturbed_ns, 3 * NS_PER_MS);
	assert_true(fabs(s.taken - 72.0 / (1320 + 6.6)) < 1e-6);
	assert_true(fabs(s.explained - 9.0 / 72) < 1e-6);
}

TEST_OF_RUN(user_and_system_are_those_of_the_samples_kept)
{
	r.samples[3].incomplete = true;
	r.samples[3].user_ns = NS_PER_S;
	fill_undisturbed(NULL);
	assert_int_equal(llround(s.user_ns), 96 * NS_PER_MS);
	r.samples[4].system_ns = -1; /* not known */
	screen_clear(&s);
	fill(NULL);
	assert_true(isnan(s.system_ns));
	assert_true(isnan(s.explained));
}

TEST_OF_RUN(what_changes_the_reading_is_noted)
{
	struct counters counters[N] = {};

	for (uint32_t i = 0; i < N; i++) {
		r.samples[i].incomplete = i > 3;
		r.samples[i].exit_status = i == 1;
		counters[i] = COUNTERS_NONE;
		counters[i].sample = i + 1;
		counters[i].value[COUNTER_THROTTLES] = i == 2;
		counters[i].value[COUNTER_MAJOR_FAULTS] = 5; /* only with -v */
		counters[i].value[COUNTER_INTERRUPTS] = i < 2 ? 2 * NS_PER_MS
							      /* 1 ms is less than 1 % of ET */
							      : NS_PER_MS;
	}
	discard(NULL, 0);
	r.disturbances = disturbances_find(counters, N, 110 * NS_PER_MS);
	fill(&profile);
	assert_int_equal(s.notes.n, 5);
	assert_true(r.discarding.pt.interval.assumed);
	assert_note(0, "Warning: profile 'lab1' was made on CPU 1, this run is not pinned");
	assert_note(1, "Warning: the program failed in 1 of 12 samples");
	assert_note(2, "Warning: few samples kept; take more (-r), or try 'emp-setup apply'");
	assert_non_null(strstr(s.notes.items[3].text, "in 1 of 12 samples (3)"));
	assert_note(4, "Warning: interrupts took 2.0 ms a sample, in 2 of 12 samples (1, 2)");
}

TEST_OF_RUN(a_noisy_profile_is_noted_with_what_it_cannot_see)
{
	profile.mark.blind_ns = 16400000;
	profile.mark.noise = (char *)"steal 3.2 %";
	fill_undisturbed(&profile);
	profile.mark.blind_ns = 0;
	profile.mark.noise = NULL;
	assert_note(1, "Profile 'lab1' is noisy: blind to daemons below 16 ms (steal 3.2 %)");
	assert_int_equal(r.discarding.mark.blind_ns, 16400000);
	assert_string_equal(r.discarding.mark.noise, "steal 3.2 %");
}

TEST_OF_RUN(correlated_samples_are_noted_once_for_all_programs)
{
	_cleanup_(run_result_clear) struct run_result other = {};
	_cleanup_(notes_clear) struct notes notes = {};
	const struct clock_discarding *programs[] = {
		&other.discarding.pt, &r.discarding.pt, &r.discarding.pt};

	discard(NULL, 0);
	other = r;
	make_samples(NULL);
	for (uint32_t i = 0; i < N; i++)
		r.samples[i].pt_ns = (100 + i / 4) * NS_PER_MS;
	discard(NULL, 0);
	run_notes_add_correlation(&notes, programs, 1);
	assert_int_equal(notes.n, 0);
	run_notes_add_correlation(&notes, programs + 1, 1);
	assert_string_equal(notes.items[0].text,
		"Neighbouring samples seem alike (correlation 0.95): 12 count as 3 in the CI");
	run_notes_add_correlation(&notes, programs, 3);
	assert_int_equal(notes.n, 2);
	assert_string_equal(notes.items[1].text,
		"Neighbouring samples seem alike (correlation ≤ 0.95): 12 count as 3 in CIs");
}

TEST_OF_RUN(more_cpu_time_than_elapsed_time_on_one_cpu_is_explained)
{
	for (uint32_t i = 0; i < N; i++) {
		r.samples[i].et_ns = 10 * NS_PER_MS;
		r.samples[i].pt_ns = 10 * NS_PER_MS + 230 * NS_PER_US;
	}
	fill_undisturbed(NULL);
	assert_int_equal(s.notes.n, 1);
	assert_note(0, "PT is 230 us more than ET: it includes the work to start the program");
}

TEST_OF_RUN(an_impossible_pt_is_named_and_kept)
{
	r.samples[4].pt_ns = 40 * NS_PER_MS;
	r.counters = calloc(N, sizeof(*r.counters));
	r.n_counters = N;
	for (uint32_t i = 0; i < N; i++) {
		r.counters[i] = COUNTERS_NONE;
		r.counters[i].sample = i + 1;
		r.counters[i].value[COUNTER_STEAL] = i == 4 ? 70 * NS_PER_MS : 0;
	}
	fill_undisturbed(NULL);
	assert_int_equal(r.discarding.pt.kept.n, N);
	assert_note(
		0, "Warning: impossible PT in 1 of 12 samples (5: 40.00 ms, others ≥ 100.0 ms)");
}

TEST_OF_RUN(the_time_of_processes_left_behind_is_not_compared_with_et)
{
	for (uint32_t i = 0; i < N; i++) {
		r.samples[i].left_behind = 2;
		r.samples[i].et_ns = 10 * NS_PER_MS;
		r.samples[i].wait_ns = 0; /* as version 0.2 stored it */
	}
	discard(NULL, 0);
	r.discarding.run.cpu = 1;
	r.discarding.run.wait_source = (char *)"bpf";
	fill(NULL);
	r.discarding.run.wait_source = NULL;
	assert_true(isnan(s.on_cpu));
	assert_true(isnan(s.taken));
	assert_int_equal(s.notes.n, 1);
	assert_note(0, "24 processes left behind in 12 of 12 samples: in PT, not in ET");
	r.samples[0].left_behind = 0;
	fill(NULL);
	assert_close(s.on_cpu, 10, 0.01);
}

TEST_OF_RUN(an_end_that_was_seen_late_is_no_waiting)
{
	r.samples[3].et_ns = 220 * NS_PER_MS;
	r.samples[3].et_late_ns = 110 * NS_PER_MS;
	r.samples[4].et_late_ns = 100 * NS_PER_US; /* hardly */
	fill_undisturbed(NULL);
	assert_close(s.on_cpu, 100.5 / 110.5, 0.001);
	assert_note(0, "ET is up to 110.0 ms too long in 1 of 12 samples: the end was seen late");
}

/* The first `n` samples had a neighbour for half of their time, and took so much longer. */
static void discard_beside(enum neighbour_rule rule, uint32_t n)
{
	const struct discard_rules rules = {.patterns = names_default,
		.neighbour = rule,
		.neighbour_limit_ppm = NEIGHBOUR_LIMIT_PPM};
	const struct sources sources = {who, ELEMENTS(who)};
	_cleanup_(sample_filter_clear) struct sample_filter d = {
		rules, &sources, r.samples, r.n_samples};

	for (uint32_t i = 0; i < N; i++) {
		r.samples[i].neighbour_ppm = i < n ? PPM / 2 : 0;
		r.samples[i].pt_ns += i < n ? 9 * NS_PER_MS : 0;
		r.samples[i].probe_ns = 2 * NS_PER_MS;
	}
	discarding_clear(&r.discarding);
	r.discarding = sample_filter_finish(&d);
	r.discarding.run.id = 3;
	r.discarding.run.cpu = 1;
	r.discarding.run.neighbour_rule = rule;
	fill(NULL);
	s.name = "sort";
}

TEST_OF_RUN(a_neighbour_is_a_reason_and_a_share_of_the_time)
{
	_cleanup_(freep) char *text = NULL, *details = NULL;

	discard_beside(NEIGHBOUR_AUTO, 3);
	assert_int_equal(s.n_reasons, 1);
	assert_string_equal(s.reasons[0].name, "neighbour");
	assert_int_equal(s.reasons[0].n, 3);
	assert_int_equal(s.notes.n, 0);
	text = PRINTED(file, screen_print(file, &s));
	assert_non_null(strstr(text, "  Kept 9 of 12    discarded: neighbour #1 #2 #3; "
				     "mean of all 12: 102.8 ms\n"));
	assert_non_null(strstr(text, "  Neighbour on the core's other thread in 12 % of the time "
				     "(3 of 12 samples)\n"));
	details = PRINTED(file, run_details_print(file, &r, NULL, false));
	assert_non_null(
		strstr(details, "  sample 2: a neighbour in 50 % of its time; allowed 5.0 %\n"));
	assert_non_null(strstr(
		details, "  Probes for a neighbour: 2.000 ms of CPU time per sample, not in PT\n"));
}

TEST_OF_RUN(most_samples_beside_a_neighbour_are_worth_a_warning)
{
	discard_beside(NEIGHBOUR_AUTO, 6);
	assert_int_equal(s.notes.n, 0);
	clear(NULL);
	make_samples(NULL);
	discard_beside(NEIGHBOUR_AUTO, 10);
	assert_int_equal(s.n_reasons, 0);
	assert_int_equal(r.discarding.neighbour, NEIGHBOUR_ADJUST);
	assert_non_null(strstr(s.notes.items[0].text, "PT is adjusted for a neighbour: "));
	assert_note(1, "Warning: neighbour in 10 of 12 samples: try another --cpu, or another hour");
	clear(NULL);
	make_samples(NULL);
	discard_beside(NEIGHBOUR_DISCARD, 10);
	assert_int_equal(s.notes.n, 1); /* and not that more samples should be taken */
	assert_note(
		0, "Warning: neighbour in 10 of 12 samples: try another --cpu, --neighbour adjust");
	clear(NULL);
	make_samples(NULL);
	discard_beside(NEIGHBOUR_OFF, 9);
	for (size_t i = 0; i < s.notes.n; i++)
		assert_null(strstr(s.notes.items[i].text, "neighbour"));
}

TEST_OF_RUN(that_no_neighbour_was_seen_is_a_detail)
{
	_cleanup_(freep) char *text = NULL, *verbose = NULL, *unknown = NULL;

	discard_beside(NEIGHBOUR_AUTO, 0);
	text = PRINTED(file, screen_print(file, &s));
	assert_null(strcasestr(text, "neighbour"));
	s.verbose = true;
	verbose = PRINTED(file, screen_print(file, &s));
	assert_non_null(
		strstr(verbose, "  No neighbour seen on the core's other thread (12 samples)\n"));
	for (size_t i = 0; i < N; i++)
		r.samples[i].neighbour_ppm = -1;
	fill(NULL);
	s.verbose = true;
	s.name = "sort";
	unknown = PRINTED(file, screen_print(file, &s));
	assert_null(strcasestr(unknown, "neighbour"));
}

TEST_OF_RUN(a_neighbour_is_not_the_daemon_that_discards_many_samples)
{
	static const struct execution executions[] = {
		{.sample = 4, .source = 3, .pt_ns = 9 * NS_PER_MS},
		{.sample = 5, .source = 3, .pt_ns = 9 * NS_PER_MS},
	};

	discard(executions, ELEMENTS(executions));
	for (uint32_t i = 0; i < 3; i++)
		r.discarding.by_neighbour[r.discarding.n_by_neighbour++] = i + 1;
	fill(NULL);
	assert_string_equal(s.reasons[0].name, "neighbour");
	assert_note(0, "Warning: free discards 2 of 12 samples (emp-analyze daemons 3)");
}

TEST_OF_RUN(no_samples_are_not_correlated)
{
	for (uint32_t i = 0; i < N; i++)
		r.samples[i].incomplete = true;
	fill_undisturbed(NULL);
	assert_int_equal(s.notes.n, 1);
	assert_note(0, "Warning: few samples kept; take more (-r), or try 'emp-setup apply'");
}

TEST_OF_RUN(a_profile_of_the_same_cpu_or_of_none_is_not_noted)
{
	const struct profile unpinned = {.name = (char *)"lab2", .cpu = -1};
	discard(NULL, 0);
	r.discarding.run.cpu = 1;
	fill(&profile);
	assert_int_equal(s.notes.n, 0);
	fill(&unpinned);
	assert_int_equal(s.notes.n, 0);
	r.discarding.run.cpu = 0;
	fill(&profile);
	assert_note(0, "Warning: profile 'lab1' was made on CPU 1, this run is on CPU 0");
}

TEST_OF_RUN(the_time_of_an_outlier_has_the_digits_that_set_it_apart)
{
	_cleanup_(freep) char *text = NULL;

	for (size_t i = 0; i < N; i++)
		r.samples[i].pt_ns = r.samples[i].et_ns = 128250 * NS_PER_MS;
	r.samples[6].pt_ns = 128493 * NS_PER_MS;
	discard(NULL, 0);
	text = PRINTED(file, run_details_print(file, &r, NULL, false));
	assert_non_null(strstr(text, "sample 7: PT 128.493 s is more than 2 sd from the mean"));
}

/* 30 samples: two of three because of backupd, and sample 1 twice. */
static void discard_many(void)
{
	discard(NULL, 0);
	for (uint32_t i = 0; i < 31; i++) {
		struct over_cutoff *over = array_add(r.discarding.over, r.discarding.n_over);

		*over = (struct over_cutoff){
			.sample = i > 0 ? i : 1,
			.daemon = xstrdup(i % 3 ? "backupd" : "cron"),
			.unit = xstrdup("a.service"),
			.pt_ns = 5 * NS_PER_MS,
			.cutoff_ns = NS_PER_MS,
		};
	}
}

TEST_OF_RUN(of_many_discarded_samples_the_first_are_shown_and_how_many_each_daemon_has)
{
	_cleanup_(freep) char *text = NULL, *all = NULL;

	discard_many();
	text = PRINTED(file, run_details_print(file, &r, NULL, false));
	assert_non_null(strstr(text, "  sample 9: cron (a.service) used 5.000 ms, cutoff 1.000 ms\n"
				     "  and 21 more (-v lists them)\n"
				     "  In all: backupd in 20 samples, cron in 11\n"));
	assert_null(strstr(text, "sample 10:"));
	all = PRINTED(file, run_details_print(file, &r, NULL, true));
	assert_non_null(
		strstr(all, "  sample 30: cron (a.service) used 5.000 ms, cutoff 1.000 ms\n"));
	assert_null(strstr(all, "more (-v"));
	assert_null(strstr(all, "In all"));
}
