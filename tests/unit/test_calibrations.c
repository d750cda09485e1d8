/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibrations in the book, the seams of their runs, and two fingerprints side by side. */
#include "tests/unit/documents.h"
#include "tests/unit/scratch.h"

#include "lib/record/book/book_calibrations.h"
#include "lib/protocol/environment_diff.h"

#include <errno.h>

static struct calibration made_up(void)
{
	return (struct calibration){
		.profile = strdup("lab1"),
		.owner = strdup("me"),
		.backend = strdup("auto"),
		.parts = {{100000000, 150, 0, 0}, {1000000000, 6, 1200000000, 0}},
		.cpu = 1,
		.force = true,
	};
}

static int64_t begin_run(struct scratch *s)
{
	_cleanup_(run_clearp) struct run run = scratch_run("INC0.1");

	assert_done(s, book_begin_run(s->book, &run, &s->err));
	return run.id;
}

static void all_of_a_calibration_comes_back(void **state)
{
	struct scratch *s = *state;
	_cleanup_(calibration_clearp) struct calibration c = made_up();
	struct calibration *back;
	size_t n;

	c.parts[SHORT_PART].run = begin_run(s);
	assert_done(s, book_begin_calibration(s->book, &c, &s->err));
	c.parts[LONG_PART].run = begin_run(s);
	free(c.owner);
	c.owner = NULL;
	assert_done(s, book_update_calibration(s->book, &c, &s->err));
	assert_done(s, book_calibrations(s->book, &back, &n, &s->err));
	assert_int_equal(n, 1);
	assert_int_equal(back->id, c.id);
	assert_string_equal(back->profile, "lab1");
	assert_string_equal(back->state, "open");
	assert_null(back->owner);
	assert_int_equal(back->parts[SHORT_PART].samples, 150);
	assert_int_equal(back->parts[SHORT_PART].central_max_ns, 0);
	assert_int_equal(back->parts[SHORT_PART].run, c.parts[SHORT_PART].run);
	assert_int_equal(back->parts[LONG_PART].length_ns, 1000000000);
	assert_int_equal(back->parts[LONG_PART].central_max_ns, 1200000000);
	assert_int_equal(back->parts[LONG_PART].run, c.parts[LONG_PART].run);
	assert_int_equal(back->cpu, 1);
	assert_true(back->force);
	assert_false(back->anyway);
	assert_false(back->replace);
	calibration_clear(back);
	free(back);
}

static void without_its_short_run_a_calibration_is_gone(void **state)
{
	struct scratch *s = *state;
	_cleanup_(calibration_clearp) struct calibration c = made_up();

	c.parts[SHORT_PART].run = begin_run(s);
	assert_done(s, book_begin_calibration(s->book, &c, &s->err));
	assert_done(s, book_remove_run(s->book, c.parts[SHORT_PART].run, &s->err));
	assert_int_equal(book_update_calibration(s->book, &c, &s->err), -ENOENT);
	assert_says(s, "its short run was removed");
}

static void a_run_that_is_opened_again_has_a_seam_behind_its_samples(void **state)
{
	struct scratch *s = *state;
	_cleanup_(run_clearp) struct run back = {};
	struct sample sample = scratch_sample(1);
	struct seam *seams;
	size_t n;
	int64_t run = begin_run(s);

	assert_done(s, book_reopen_run(s->book, run, 0, &s->err)); /* no sample yet: no seam */
	assert_done(s, book_add_sample(s->book, run, &sample, NULL, 0, &s->err));
	assert_done(s, book_reopen_run(s->book, run, 0, &s->err));
	sample.n = 2;
	assert_done(s, book_add_sample(s->book, run, &sample, NULL, 0, &s->err));
	assert_done(s, book_end_run(s->book, run, "interrupted", NULL, &s->err));
	assert_done(s, book_reopen_run(s->book, run, 0, &s->err));
	assert_done(s, book_reopen_run(s->book, run, 0, &s->err)); /* again at the same place */
	assert_done(s, book_get_run(s->book, run, &back, &s->err));
	assert_string_equal(back.state, "open");
	assert_int_equal(back.ended_ns, 0);
	assert_done(s, book_seams(s->book, run, &seams, &n, &s->err));
	assert_int_equal(n, 2);
	assert_int_equal(seams[0].n, 2);
	assert_string_equal(seams[0].why, "cut off");
	assert_int_equal(seams[1].n, 3);
	assert_true(seams[1].at_ns > 1700000000000000000);
	seams_free(seams, n);
	assert_int_equal(book_reopen_run(s->book, 77, 0, &s->err), -ENOENT);
}

static void what_differs_between_two_fingerprints_is_named(void **state)
{
	_cleanup_(json_decrefp) json_t *before = parse(
		"{'identity': {'kernel': {'release': '6.1'}, 'numa': 1}, 'settings': {'memory': {'thp': "
		"'always', 'ksm': '0'}, 'old': 1, 'gone': null}, 'volatile': {'load': 1}}");
	_cleanup_(json_decrefp) json_t *now = parse(
		"{'identity': {'kernel': {'release': '6.2'}, 'numa': 1}, 'settings': {'memory': {'thp': "
		"'never', 'ksm': '0'}, 'units': ['a']}, 'volatile': {'load': 2}}");
	_cleanup_(differences_clear) struct differences d = {}, same = {};
	_cleanup_(freep) char *words = NULL;
	struct error err = {};

	assert_int_equal(environment_diff(before, now, &d, &err), 0);
	assert_int_equal(d.n, 4);
	assert_int_equal(d.n_identity, 1);
	assert_true(d.items[0].identity);
	assert_int_equal(differences_words(&d, 3, &words, &err), 0);
	assert_string_equal(words,
		"kernel.release was '6.1', is '6.2'; memory.thp was 'always', is 'never'; old was 1, is "
		"nothing; and 1 more");
	assert_int_equal(environment_diff(now, now, &same, &err), 0);
	assert_int_equal(same.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_book(all_of_a_calibration_comes_back),
		in_book(without_its_short_run_a_calibration_is_gone),
		in_book(a_run_that_is_opened_again_has_a_seam_behind_its_samples),
		cmocka_unit_test(what_differs_between_two_fingerprints_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
