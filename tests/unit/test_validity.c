/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a profile still holds, on made-up runs of then and now. */
#include "tests/unit/check.h"

#include "lib/protocol/validity.h"
#include "lib/record/profile.h"

enum { THEN = 399, NOW = 99 };

static struct sample then_samples[THEN], now_samples[NOW];
static struct cutoff cutoff = {.daemon = (char *)"cron", .short_ns = 100, .long_ns = -1};
static const struct profile profile = {.name = (char *)"lab1", .cutoffs = &cutoff, .n_cutoffs = 1};

/* All central, 100 ms and more_ns, with a spread of 0.1 ms on either side. */
static struct analysis made_up(struct sample *samples, size_t n, int64_t more_ns, int64_t spread_ns)
{
	struct analysis analysis = {.run = {.program = (char *)"INC0.1"},
		.samples = samples,
		.n_samples = n,
		.verdict = VERDICT_L};

	for (size_t i = 0; i < n; i++)
		samples[i].pt_ns = samples[i].et_ns = 100000000 + more_ns +
						      ((int64_t)(i % 3) - 1) * spread_ns;
	analysis.central.low_ns = 0;
	analysis.central.high_ns = INT64_MAX;
	return analysis;
}

/* As it was and is where nothing has changed. */
static struct analysis then, now;
static struct judgement j;

static int make(void **state)
{
	then = made_up(then_samples, THEN, 0, 100000);
	now = made_up(now_samples, NOW, 0, 100000);
	return 0;
}

static int clear(void **state)
{
	judgement_clear(&j);
	return 0;
}

#define TEST_OF_PROFILE(name) TEST_WITH(name, make, clear)

/* With these differences of the machine; NULL: none are known. */
static void assert_judged(const struct differences *differences, enum validity verdict)
{
	judgement_clear(&j);
	j = validity_judge(&(struct evidence){&profile, differences, &then, NULL, &now});
	assert_int_equal(j.verdict, verdict);
}

static bool says(const char *words)
{
	for (size_t i = 0; i < j.n; i++)
		if (strstr(j.findings[i].text, words))
			return true;
	return false;
}

TEST_OF_PROFILE(the_same_machine_and_times_stand)
{
	struct difference changes[] = {
		{true, (char *)"kernel.release", (char *)"'6.1'", (char *)"'6.2'"},
		{false, (char *)"memory.overcommit", (char *)"'0'", (char *)"'1'"}};

	now = made_up(now_samples, NOW, 10000, 100000);
	assert_judged(&(struct differences){changes, 2}, VALIDITY_HOLDS);
	assert_true(says("INC0.1 takes 100.0 ms of CPU time now and took 100.0 ms then, +0.01 %"));
}

TEST_OF_PROFILE(other_times_need_a_calibration_unless_they_are_chance)
{
	static const struct {
		int64_t spread_ns, now_more_ns, now_spread_ns;
		enum validity verdict;
		const char *words;
	} cases[] = {
		{100000, 2000000, 100000, VALIDITY_REPEAT_ALL,
			"+2.00 % (means of the central samples): the machine's speed has changed"},
		{40000000, 2000000, 40000000, VALIDITY_HOLDS, ""},
		{100000, 0, 3000000, VALIDITY_REPEAT_SHORT, "less even"},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		then = made_up(then_samples, THEN, 0, cases[i].spread_ns);
		now = made_up(now_samples, NOW, cases[i].now_more_ns, cases[i].now_spread_ns);
		assert_judged(NULL, cases[i].verdict);
		assert_true(says(cases[i].words));
	}
}

/* A machine whose speed changes by 2 % every 40 samples: a run of 99 is as likely to be faster. */
TEST_OF_PROFILE(a_shift_by_as_much_as_the_speed_wandered_before_is_none)
{
	for (size_t i = 0; i < THEN; i++)
		then_samples[i].pt_ns += i / 40 % 2 ? 1000000 : -1000000;
	now = made_up(now_samples, NOW, 2500000, 100000);
	assert_judged(NULL, VALIDITY_HOLDS);
	assert_true(says("+2.50 % (means of the central samples); more than "));
	now = made_up(now_samples, NOW, 20000000, 100000);
	assert_judged(NULL, VALIDITY_REPEAT_ALL);
}

TEST_OF_PROFILE(a_shift_by_as_much_as_separate_runs_vary_is_none)
{
	now = made_up(now_samples, NOW, 2500000, 100000);
	j = validity_judge(
		&(struct evidence){&profile, NULL, &then, NULL, &now, {0.01, 4, 5}, false});
	assert_int_equal(j.verdict, VALIDITY_HOLDS);
}

/* Its times say nothing of the machine's speed then; the daemons are judged. */
TEST_OF_PROFILE(times_of_another_inc_are_not_compared)
{
	now = made_up(now_samples, NOW, 50000000, 100000);
	j = validity_judge(&(struct evidence){&profile, NULL, &then, NULL, &now, {}, true});
	assert_int_equal(j.verdict, VALIDITY_HOLDS);
	assert_true(says("the profile's runs were made with another INC, "
			 "so INC's times cannot be compared"));
}

static struct difference other_cpu = {true, (char *)"cpu.name", (char *)"'A'", (char *)"'B'"};
static const struct differences of_cpu = {&other_cpu, 1};

TEST_OF_PROFILE(another_machine_needs_a_new_calibration)
{
	assert_judged(&of_cpu, VALIDITY_REPEAT_ALL);
	assert_true(says("this is another machine: cpu.name was 'A', is 'B'"));
}

static struct long_execution execution = {.sample = 7, .pt_ns = 30000000};

TEST_OF_PROFILE(a_new_daemon_matters_if_it_made_samples_long)
{
	struct daemon_statistics statistics[] = {
		{.name = (char *)"backup",
			.unit = (char *)"backup.service",
			.central_max_ns = -1,
			.long_executions = &execution,
			.n_long_executions = 1},
		{.name = (char *)"cron", .central_max_ns = 5},
		{.name = (char *)"sshd", .central_max_ns = 2000, .n_central = 3},
		/* only in samples that are neither central nor L */
		{.name = (char *)"wc", .central_max_ns = -1},
	};

	now.statistics = statistics;
	now.n_statistics = 4;
	assert_judged(NULL, VALIDITY_REPEAT_SHORT);
	assert_true(says(
		"backup (backup.service) is new, and made 1 sample long, by up to 30.00 ms: the "
		"profile has no cutoff for it"));
	assert_true(says("sshd is new, up to 2.000 us, and made no sample long"));
	assert_true(says("wc is new, and made no sample long"));
	for (size_t i = 0; i < j.n; i++) /* there may be many of these */
		assert_int_equal(j.findings[i].harmless,
			strstr(j.findings[i].text, "and made no sample") != NULL);
	assert_false(says("cron"));
	now.statistics++;
	now.n_statistics--;
	assert_judged(NULL, VALIDITY_HOLDS);
}

TEST_OF_PROFILE(a_known_daemon_that_comes_more_often_needs_the_short_run)
{
	struct long_execution executions[10] = {};
	struct daemon_statistics before = {.name = (char *)"cron",
					 .long_executions = executions,
					 .n_long_executions = 4},
				 after = {.name = (char *)"cron",
					 .long_executions = executions,
					 .n_long_executions = 10};

	then.statistics = &before;
	now.statistics = &after;
	then.n_statistics = now.n_statistics = 1;
	assert_judged(NULL, VALIDITY_REPEAT_SHORT);
	assert_true(says("cron ran long 10 times in 99 samples, and 4 times in 399 before"));
	after.n_long_executions = 3;
	assert_judged(NULL, VALIDITY_HOLDS);
}

/* A calibration beside the same load would give no profile either. */
TEST_OF_PROFILE(a_run_on_a_machine_that_is_not_quiet_says_nothing)
{
	static const enum verdict verdicts[] = {VERDICT_BUSY, VERDICT_DRIFT, VERDICT_STEP};
	struct daemon_statistics statistics = {.name = (char *)"backup",
		.central_max_ns = -1,
		.long_executions = &execution,
		.n_long_executions = 1};

	for (size_t i = 0; i < ELEMENTS(verdicts); i++) {
		then.verdict = VERDICT_L;
		now = made_up(now_samples, NOW, 3000000, 900000);
		now.verdict = verdicts[i];
		now.statistics = &statistics;
		now.n_statistics = 1;
		now.why = (char *)"such and such";
		assert_judged(NULL, VALIDITY_REPEAT_CHECK);
		assert_int_equal(j.n, 2);
		assert_true(says("the run shows such and such; so it does not show whether the "
				 "profile holds"));
		assert_true(says("INC0.1 takes 103.0 ms of CPU time now and took 100.0 ms then"));
		assert_false(says("speed has changed"));
		assert_judged(&of_cpu, VALIDITY_REPEAT_ALL);
		then.verdict = verdicts[i];
		assert_judged(NULL, VALIDITY_REPEAT_ALL);
		assert_true(says("speed has changed"));
	}
}

TEST_OF_PROFILE(frequent_daemons_need_a_new_calibration)
{
	now.verdict = VERDICT_FREQUENT;
	now.why = (char *)"frequent daemons";
	assert_judged(NULL, VALIDITY_REPEAT_ALL);
	assert_true(says("the run shows frequent daemons"));
}

TEST(a_fingerprint_alone_asks_for_what_its_heaviest_difference_asks)
{
	struct difference changes[] = {{true, (char *)"cpu.name", (char *)"'A'", (char *)"'B'"},
		{true, (char *)"kernel.release", (char *)"'6.1'", (char *)"'6.2'"},
		{true, (char *)"system.name", (char *)"'A'", (char *)"'B'"},
		{false, (char *)"memory.overcommit", (char *)"'0'", (char *)"'1'"}};

	assert_int_equal(
		differences_validity(&(struct differences){changes, 4}), VALIDITY_REPEAT_ALL);
	assert_int_equal(
		differences_validity(&(struct differences){changes + 1, 3}), VALIDITY_REPEAT_SHORT);
	assert_int_equal(
		differences_validity(&(struct differences){changes + 2, 2}), VALIDITY_HOLDS);
	assert_int_equal(differences_validity(&(struct differences){}), VALIDITY_HOLDS);
}

TEST_OF_PROFILE(a_run_decides_on_every_difference_but_another_machine)
{
	struct difference frequency = {false, (char *)"frequency.governor", (char *)"'a'",
				  (char *)"'b'"},
			  name = {true, (char *)"system.name", (char *)"'a'", (char *)"'b'"},
			  memory = {true, (char *)"memory.bytes", (char *)"1", (char *)"2"};

	assert_judged(&(struct differences){&frequency, 1}, VALIDITY_HOLDS);
	assert_judged(&(struct differences){&name, 1}, VALIDITY_HOLDS);
	assert_judged(&(struct differences){&memory, 1}, VALIDITY_REPEAT_ALL);
}
