/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the environment of a run says of its disturbances. */
#include "tests/unit/scratch.h"

#include "lib/report/run_result.h"

static enum interrupts_in_pt interrupts_by(struct scratch *s, const char *digest, const char *document)
{
	enum interrupts_in_pt interrupts = INTERRUPTS_NOT_KNOWN;
	int64_t environment;

	assert_done(s, book_put_environment(s->book, digest, NULL, document, &environment, &s->err));
	assert_done(s, interrupts_in_pt_load(s->book, environment, &interrupts, &s->err));
	return interrupts;
}

TEST_IN_BOOK(the_configuration_of_the_kernel_says_whether_pt_contains_interrupts)
{
	enum interrupts_in_pt none = INTERRUPTS_IN_PT;

	assert_int_equal(INTERRUPTS_IN_PT,
		interrupts_by(
			s, "a", "{\"settings\": {\"kernel_options\": {\"IRQ_TIME_ACCOUNTING\": \"n\"}}}"));
	assert_int_equal(INTERRUPTS_NOT_IN_PT,
		interrupts_by(
			s, "b", "{\"settings\": {\"kernel_options\": {\"IRQ_TIME_ACCOUNTING\": \"y\"}}}"));
	assert_int_equal(
		INTERRUPTS_NOT_KNOWN, interrupts_by(s, "c", "{\"settings\": {\"kernel_options\": null}}"));
	assert_int_equal(
		INTERRUPTS_NOT_KNOWN, interrupts_by(s, "d", "{\"settings\": {\"kernel_options\": {}}}"));
	assert_done(s, interrupts_in_pt_load(s->book, 0, &none, &s->err));
	assert_int_equal(INTERRUPTS_NOT_KNOWN, none);
}
