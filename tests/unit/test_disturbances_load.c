/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the environment of a run says of its disturbances. */
#include "tests/unit/scratch.h"

#include "lib/report/run_result.h"

/* Of a run in that environment; 0: none. */
static enum interrupts_in_pt interrupts_in(struct scratch *s, int64_t environment)
{
	_cleanup_(run_clear) struct run run = scratch_run("INC0.1");
	_cleanup_(run_result_clear) struct run_result result = {};

	run.environment = environment;
	assert_done(s, book_add_run(s->book, &run, &s->err));
	assert_done(s, run_result_read(s->book, run.id, &(struct discard_rules){}, RESULT_COUNTERS,
			       &result, &s->err));
	return result.disturbances.interrupts;
}

static enum interrupts_in_pt interrupts_by(
	struct scratch *s, const char *digest, const char *document)
{
	int64_t environment;

	assert_done(
		s, book_put_environment(s->book, digest, NULL, document, &environment, &s->err));
	return interrupts_in(s, environment);
}

TEST_IN_BOOK(the_configuration_of_the_kernel_says_whether_pt_contains_interrupts)
{
	assert_int_equal(INTERRUPTS_IN_PT,
		interrupts_by(s, "a",
			"{\"settings\": {\"kernel_options\": {\"IRQ_TIME_ACCOUNTING\": \"n\"}}}"));
	assert_int_equal(INTERRUPTS_NOT_IN_PT,
		interrupts_by(s, "b",
			"{\"settings\": {\"kernel_options\": {\"IRQ_TIME_ACCOUNTING\": \"y\"}}}"));
	assert_int_equal(INTERRUPTS_NOT_KNOWN,
		interrupts_by(s, "c", "{\"settings\": {\"kernel_options\": null}}"));
	assert_int_equal(INTERRUPTS_NOT_KNOWN,
		interrupts_by(s, "d", "{\"settings\": {\"kernel_options\": {}}}"));
	assert_int_equal(INTERRUPTS_NOT_KNOWN, interrupts_in(s, 0));
}
