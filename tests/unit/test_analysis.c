/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the protocol reads in one run, on runs small enough to be checked by hand. */
#include "tests/unit/check.h"

#include "lib/base/text.h"
#include "lib/protocol/analysis.h"

#include <errno.h>
#include <string.h>

enum { N = 30, SPIKE = 12 };

static struct daemon who[] = {
	{1, (char *)"kworker/0:1", NULL, NULL, true},
	{2, (char *)"kworker/1:0", NULL, NULL, true},
	{3, (char *)"backup", NULL, (char *)"backup.service", false},
	{4, (char *)"backup", NULL, (char *)"other.service", false},
	{5, (char *)"unseen", NULL, NULL, false},
};
static const struct daemons daemons = {who, ELEMENTS(who)};

/* 30 samples of about 1 s; the 12th takes 2 s. */
static struct reader *start(const struct reading_options *options)
{
	struct run run = {.id = 3, .program = strdup("INC1"), .resolution_ns = 1};
	struct sample *samples = calloc(N, sizeof(*samples));
	struct reader *reader = NULL;
	struct error err = {};

	for (uint32_t i = 0; i < N; i++)
		samples[i] = (struct sample){
			.n = i + 1,
			.start_ns = i * 2 * NS_PER_S,
			.et_ns = i + 1 == SPIKE ? 2 * NS_PER_S : NS_PER_S + i * 7 % N * NS_PER_US,
		};
	assert_int_equal(reader_new(&reader, &run, samples, N, &daemons, options, &err), 0);
	assert_null(run.program); /* the reader has it now */
	return reader;
}

static void add(struct reader *reader, uint32_t sample, uint32_t daemon, int64_t pt_ns)
{
	const struct execution e = {.sample = sample, .daemon = daemon, .pt_ns = pt_ns};
	struct error err = {};

	assert_int_equal(reader_add(reader, &e, &err), 0);
}

static struct reading finish(struct reader *reader)
{
	struct reading reading = {};
	struct error err = {};

	assert_int_equal(reader_finish(reader, &reading, &err), 0);
	reader_free(reader);
	return reading;
}

static void executions_of_one_group_count_as_one_daemon_and_are_not_added_up(void **state)
{
	struct reader *reader = start(&(struct reading_options){.patterns = names_default});
	_cleanup_(reading_clearp) struct reading reading = {};
	const struct habit *kworker;

	add(reader, 1, 1, 100);
	add(reader, 1, 2, 300);
	add(reader, 2, 1, 200);
	reading = finish(reader);
	kworker = reading_habit(&reading, "kworker");
	assert_non_null(kworker);
	assert_int_equal(kworker->n_central, 3);
	assert_int_equal(kworker->central_max_ns, 300);
	assert_true(kworker->central_sd_ns == 100);
	assert_null(reading_habit(&reading, "unseen"));
}

/* EMP, step 5: over maximum and two sd for a daemon of the central cluster, every one for another. */
static void long_is_over_maximum_and_two_sd_or_not_seen_in_the_centre(void **state)
{
	struct reader *reader = start(&(struct reading_options){.patterns = names_default});
	_cleanup_(reading_clearp) struct reading reading = {};
	const struct habit *kworker, *backup;

	add(reader, 1, 1, 100);
	add(reader, 2, 1, 200);
	add(reader, 3, 1, 300); /* so: maximum 300, sd 100 */
	add(reader, SPIKE, 1, 500);
	add(reader, SPIKE, 1, 501);
	add(reader, SPIKE, 3, 7);
	reading = finish(reader);
	kworker = reading_habit(&reading, "kworker");
	backup = reading_habit(&reading, "backup");
	assert_int_equal(kworker->n_longs, 1);
	assert_int_equal(kworker->long_min_ns, 501);
	assert_int_equal(kworker->n_outside, 2);
	assert_int_equal(kworker->cutoff_ns, 401); /* (300 + 501) / 2, half up */
	assert_int_equal(backup->long_min_ns, 7);
	assert_int_equal(backup->central_max_ns, -1);
	assert_int_equal(backup->cutoff_ns, 4);
	assert_int_equal(reading.shape, SHAPE_L);
	assert_int_equal(reading.n_l_samples, 1);
	assert_int_equal(reading.l_samples[0], SPIKE);
}

static void a_long_sample_without_a_daemon_that_ran_long_is_no_l_sample(void **state)
{
	struct reader *reader = start(&(struct reading_options){.patterns = names_default});
	_cleanup_(reading_clearp) struct reading reading = {};

	for (uint32_t i = 1; i <= N; i++)
		add(reader, i, 1, 1000);
	reading = finish(reader);
	assert_int_equal(reading.shape, SHAPE_CLEAN);
	assert_int_equal(reading.n_l_samples, 0);
	assert_int_equal(reading.n_unexplained, 1);
	assert_int_equal(reading.unexplained[0], SPIKE);
	assert_non_null(strstr(reading.why, "1 beyond it is long without a daemon that ran long"));
}

static void times_are_rounded_half_up_to_the_resolution(void **state)
{
	struct reader *reader = start(
		&(struct reading_options){.resolution_ns = NS_PER_MS, .patterns = names_default});
	_cleanup_(reading_clearp) struct reading reading = {};

	add(reader, 1, 1, 1499999);
	add(reader, 1, 3, 499999); /* did not run, as far as this resolution sees */
	add(reader, SPIKE, 1, 2500000);
	reading = finish(reader);
	assert_int_equal(reading.resolution_ns, NS_PER_MS);
	assert_int_equal(reading_habit(&reading, "kworker")->central_max_ns, NS_PER_MS);
	assert_int_equal(reading_habit(&reading, "kworker")->long_min_ns, 3 * NS_PER_MS);
	assert_int_equal(reading_habit(&reading, "kworker")->cutoff_ns, 2 * NS_PER_MS);
	assert_null(reading_habit(&reading, "backup"));
}

static void the_unit_is_that_of_the_longest_execution(void **state)
{
	struct reader *reader = start(&(struct reading_options){.patterns = names_default});
	_cleanup_(reading_clearp) struct reading reading = {};

	add(reader, 1, 3, 10);
	add(reader, 2, 4, 20);
	add(reader, 3, 3, 15);
	reading = finish(reader);
	assert_string_equal(reading_habit(&reading, "backup")->unit, "other.service");
}

static void samples_are_spaced_by_their_time_and_the_usual_pause(void **state)
{
	_cleanup_(reading_clearp) struct reading reading = finish(
		start(&(struct reading_options){.patterns = names_default}));

	assert_true(reading.spacing_ns > 1.9e9 && reading.spacing_ns < 2.1e9);
}

static void executions_behind_the_last_sample_belong_to_a_run_that_goes_on(void **state)
{
	struct reader *reader = start(&(struct reading_options){.patterns = names_default});
	_cleanup_(reading_clearp) struct reading reading = {};

	add(reader, N + 1, 3, 10);
	reading = finish(reader);
	assert_null(reading_habit(&reading, "backup"));
}

static void an_execution_of_nobody_is_refused(void **state)
{
	struct reader *reader = start(&(struct reading_options){.patterns = names_default});
	const struct execution e = {.sample = 1, .daemon = 77, .pt_ns = 1};
	struct error err = {};

	assert_int_equal(reader_add(reader, &e, &err), -EINVAL);
	assert_non_null(strstr(err.text, "run 3 has an execution in sample 1 by process 77"));
	reader_free(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(executions_of_one_group_count_as_one_daemon_and_are_not_added_up),
		cmocka_unit_test(long_is_over_maximum_and_two_sd_or_not_seen_in_the_centre),
		cmocka_unit_test(a_long_sample_without_a_daemon_that_ran_long_is_no_l_sample),
		cmocka_unit_test(times_are_rounded_half_up_to_the_resolution),
		cmocka_unit_test(the_unit_is_that_of_the_longest_execution),
		cmocka_unit_test(samples_are_spaced_by_their_time_and_the_usual_pause),
		cmocka_unit_test(executions_behind_the_last_sample_belong_to_a_run_that_goes_on),
		cmocka_unit_test(an_execution_of_nobody_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
