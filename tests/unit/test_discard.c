/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile applied to a run. */
#include "tests/unit/check.h"

#include "lib/base/text.h"
#include "lib/protocol/discard.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { N = 12 };

static struct daemon who[] = {
	{1, (char *)"cron", NULL, (char *)"cron.service", false},
	{2, (char *)"kworker/0:1", NULL, NULL, true},
	{3, (char *)"free", NULL, NULL, false},
};
static const struct daemons daemons = {who, ELEMENTS(who)};

static struct cutoff cutoffs[] = {
	{.daemon = (char *)"cron",
		.below_ns = 10 * NS_PER_MS,
		.atleast_ns = 500 * NS_PER_MS,
		.period_ns = 100 * NS_PER_S,
		.task_time_ns = 5 * NS_PER_S},
	{.daemon = (char *)"kworker", .below_ns = NS_PER_MS, .atleast_ns = NS_PER_MS},
};
static const struct profile profile = {.resolution_ns = NS_PER_MS, .cutoffs = cutoffs, .n_cutoffs = 2};

/* PT 1000 to 1011 us, ET ten times that. */
static struct discarder *start(const struct profile *p, int64_t scale)
{
	struct sample *samples = calloc(N, sizeof(*samples));
	struct run run = {.id = 8, .program = strdup("xz")};
	struct discarder *d = NULL;
	struct error err = {};

	for (uint32_t i = 0; i < N; i++)
		samples[i] = (struct sample){.n = i + 1,
			.pt_ns = (1000 + i) * NS_PER_US * scale,
			.et_ns = (10000 + 10 * i) * NS_PER_US * scale};
	samples[4].incomplete = true;
	assert_int_equal(discarder_new(&d, &run, samples, N, &daemons, p, names_default, &err), 0);
	return d;
}

static void add(struct discarder *d, uint32_t sample, uint32_t daemon, int64_t pt_ns)
{
	const struct execution e = {.sample = sample, .daemon = daemon, .pt_ns = pt_ns};
	struct error err = {};

	assert_int_equal(discarder_add(d, &e, &err), 0);
}

static struct discarding finish(struct discarder *d)
{
	struct discarding out = {};
	struct error err = {};

	assert_int_equal(discarder_finish(d, &out, &err), 0);
	discarder_free(d);
	return out;
}

/* Sample 451 of EMP's Table IX: bash with 1 ms is not over its cutoff of 1 ms. */
static void only_what_is_over_the_cutoff_discards(void **state)
{
	struct discarder *d = start(&profile, 1);
	_cleanup_(discarding_clearp) struct discarding out = {};

	add(d, 1, 2, NS_PER_MS);
	add(d, 2, 2, NS_PER_MS + 499999); /* rounds to 1 ms */
	add(d, 3, 2, NS_PER_MS + 500000); /* rounds to 2 ms */
	add(d, 6, 1, 11 * NS_PER_MS);
	add(d, 6, 1, 12 * NS_PER_MS);
	add(d, 7, 3, NS_PER_S); /* has no cutoff */
	out = finish(d);
	assert_int_equal(out.n_by_cutoff, 2);
	assert_int_equal(out.by_cutoff[0], 3);
	assert_int_equal(out.by_cutoff[1], 6);
	assert_int_equal(out.n_over, 3);
	assert_string_equal(out.over[0].daemon, "kworker");
	assert_int_equal(out.over[0].pt_ns, 2 * NS_PER_MS);
	assert_int_equal(out.over[0].cutoff_ns, NS_PER_MS);
	assert_string_equal(out.over[1].unit, "cron.service");
}

static void the_cutoff_goes_by_the_mean_et_of_the_run(void **state)
{
	struct discarder *d = start(&profile, 1000); /* about 10 s */
	_cleanup_(discarding_clearp) struct discarding out = {};

	add(d, 6, 1, 11 * NS_PER_MS);
	add(d, 7, 1, 501 * NS_PER_MS);
	out = finish(d);
	assert_int_equal(out.n_by_cutoff, 1);
	assert_int_equal(out.over[0].cutoff_ns, 500 * NS_PER_MS);
}

static void incomplete_samples_go_with_the_first_check(void **state)
{
	struct discarder *d = start(&profile, 1);
	_cleanup_(discarding_clearp) struct discarding out = {};

	out = finish(d);
	assert_int_equal(out.n_incomplete, 1);
	assert_int_equal(out.incomplete[0], 5);
	assert_int_equal(out.n_by_cutoff, 0);
	assert_int_equal(out.pt.raw.n, N);
	assert_int_equal(out.pt.by_cutoff.n, N - 1);
}

static void two_sd_are_checked_once_and_for_each_clock_by_itself(void **state)
{
	struct sample *samples = calloc(N, sizeof(*samples));
	struct run run = {.id = 8};
	struct discarder *d = NULL;
	_cleanup_(discarding_clearp) struct discarding out = {};
	struct error err = {};

	for (uint32_t i = 0; i < N; i++)
		samples[i] = (struct sample){.n = i + 1, .pt_ns = 100 + i % 2, .et_ns = 200 + i % 2};
	samples[3].pt_ns = 1000;
	samples[8].pt_ns = 120; /* far out only once 1000 is gone: stays */
	samples[9].et_ns = 900;
	assert_int_equal(discarder_new(&d, &run, samples, N, &daemons, NULL, names_default, &err), 0);
	out = finish(d);
	assert_int_equal(out.pt.n_by_two_sd, 1);
	assert_int_equal(out.pt.by_two_sd[0], 4);
	assert_int_equal(out.pt.clean.n, N - 1);
	assert_int_equal(out.pt.clean.max_ns, 120);
	assert_int_equal(out.et.n_by_two_sd, 1);
	assert_int_equal(out.et.by_two_sd[0], 10);
}

static void an_execution_in_a_sample_that_is_missing_is_refused(void **state)
{
	struct sample *samples = calloc(2, sizeof(*samples));
	struct run run = {.id = 8};
	const struct execution e = {.sample = 2, .daemon = 2, .pt_ns = NS_PER_S};
	struct discarder *d = NULL;
	struct error err = {};

	samples[0].n = 1;
	samples[1].n = 3;
	assert_int_equal(discarder_new(&d, &run, samples, 2, &daemons, &profile, names_default, &err), 0);
	assert_int_equal(discarder_add(d, &e, &err), -EINVAL);
	assert_string_equal(err.text, "run 8 has an execution in sample 2, which it has not");
	discarder_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_over_the_cutoff_discards),
		cmocka_unit_test(the_cutoff_goes_by_the_mean_et_of_the_run),
		cmocka_unit_test(incomplete_samples_go_with_the_first_check),
		cmocka_unit_test(two_sd_are_checked_once_and_for_each_clock_by_itself),
		cmocka_unit_test(an_execution_in_a_sample_that_is_missing_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
