/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibrations in the book, the seams of their runs, and two fingerprints side by side. */
#include "tests/unit/documents.h"
#include "tests/unit/scratch.h"

#include "lib/book/book.h"
#include "lib/protocol/environment_diff.h"

#include <errno.h>

static struct calibration_plan made_up(void)
{
	return (struct calibration_plan){
		.profile = strdup("lab1"),
		.owner = strdup("me"),
		.backend = strdup("auto"),
		.phases = {{100000000, 150, 0, 0}, {1000000000, 6, 1200000000, 0}},
		.cpu = 1,
		.force = true,
	};
}

static int64_t begin_run(struct scratch *s)
{
	_cleanup_(run_clear) struct run run = scratch_begin(s, "INC0.1");

	return run.id;
}

TEST_IN_BOOK(all_of_a_calibration_comes_back)
{
	_cleanup_(calibration_plan_clear) struct calibration_plan c = made_up(), back = {};

	c.phases[SHORT_PHASE].run = begin_run(s);
	assert_done(s, book_put_calibration(s->book, &c, &s->err));
	c.phases[LONG_PHASE].run = begin_run(s);
	free(c.owner);
	c.owner = NULL;
	assert_done(s, book_put_calibration(s->book, &c, &s->err));
	assert_int_equal(book_find_calibration(s->book, 0, "lab1", false, &back, &s->err), 1);
	assert_int_equal(back.id, c.id);
	assert_string_equal(back.profile, "lab1");
	assert_int_equal(back.state, CALIBRATION_OPEN);
	assert_null(back.owner);
	assert_int_equal(back.phases[SHORT_PHASE].samples, 150);
	assert_int_equal(back.phases[SHORT_PHASE].central_max_ns, 0);
	assert_int_equal(back.phases[SHORT_PHASE].run, c.phases[SHORT_PHASE].run);
	assert_int_equal(back.phases[LONG_PHASE].length_ns, 1000000000);
	assert_int_equal(back.phases[LONG_PHASE].central_max_ns, 1200000000);
	assert_int_equal(back.phases[LONG_PHASE].run, c.phases[LONG_PHASE].run);
	assert_int_equal(back.cpu, 1);
	assert_true(back.force);
	assert_false(back.anyway);
	assert_false(back.replace);
}

/* Which one is found; 0: none. */
static int64_t found(struct scratch *s, int64_t run, const char *profile, bool any)
{
	_cleanup_(calibration_plan_clear) struct calibration_plan back = {};

	assert_in_range(book_find_calibration(s->book, run, profile, any, &back, &s->err), 0, 1);
	return back.id;
}

TEST_IN_BOOK(a_calibration_is_found_by_its_run_or_its_profile_or_as_the_latest)
{
	_cleanup_(calibration_plan_clear) struct calibration_plan a = made_up(), b = made_up();

	a.phases[SHORT_PHASE].run = begin_run(s);
	b.phases[SHORT_PHASE].run = begin_run(s);
	assert_int_equal(found(s, 0, NULL, true), 0);
	assert_done(s, book_put_calibration(s->book, &a, &s->err));
	assert_done(s, book_put_calibration(s->book, &b, &s->err));
	assert_int_equal(found(s, 0, NULL, false), b.id);
	b.state = CALIBRATION_DONE;
	assert_done(s, book_put_calibration(s->book, &b, &s->err));
	assert_int_equal(found(s, 0, NULL, true), a.id); /* it can be resumed */
	assert_int_equal(found(s, 0, "lab1", false), a.id);
	assert_int_equal(found(s, 0, "lab2", true), 0);
	a.state = CALIBRATION_REFUSED;
	a.phases[LONG_PHASE].run = begin_run(s);
	assert_done(s, book_put_calibration(s->book, &a, &s->err));
	assert_int_equal(found(s, 0, "lab1", false), 0);
	assert_int_equal(found(s, 0, NULL, true), b.id);
	assert_int_equal(found(s, a.phases[SHORT_PHASE].run, NULL, false), a.id);
	assert_int_equal(found(s, a.phases[LONG_PHASE].run, NULL, false), a.id);
	assert_int_equal(found(s, 77, NULL, true), 0);
}

TEST_IN_BOOK(without_its_short_run_a_calibration_is_gone)
{
	_cleanup_(calibration_plan_clear) struct calibration_plan c = made_up();

	c.phases[SHORT_PHASE].run = begin_run(s);
	assert_done(s, book_put_calibration(s->book, &c, &s->err));
	assert_done(s, book_remove_run(s->book, c.phases[SHORT_PHASE].run, true, &s->err));
	assert_int_equal(book_put_calibration(s->book, &c, &s->err), -ENOENT);
	assert_says(s, "its short run was removed");
}

TEST_IN_BOOK(a_run_that_is_opened_again_has_a_resume_point_behind_its_samples)
{
	_cleanup_(run_clear) struct run back = {};
	struct resume_point *resume_points;
	size_t n;
	int64_t run = begin_run(s);

	assert_done(s, book_reopen_run(s->book, run, 0, &s->err)); /* no sample yet: no seam */
	scratch_add(s, run, 1, NULL, 0);
	assert_done(s, book_reopen_run(s->book, run, 0, &s->err));
	scratch_add(s, run, 2, NULL, 0);
	assert_done(s, book_end_run(s->book, run, RUN_INTERRUPTED, NULL, &s->err));
	assert_done(s, book_reopen_run(s->book, run, 0, &s->err));
	assert_done(s, book_reopen_run(s->book, run, 0, &s->err)); /* again at the same place */
	assert_done(s, book_get_run(s->book, run, &back, &s->err));
	assert_int_equal(back.state, RUN_OPEN);
	assert_int_equal(back.ended_ns, 0);
	assert_done(s, book_rows(s->book, run, &resume_point_table, &resume_points, &n, &s->err));
	assert_int_equal(n, 2);
	assert_int_equal(resume_points[0].n, 2);
	assert_string_equal(resume_points[0].why, "cut off");
	assert_int_equal(resume_points[1].n, 3);
	assert_true(resume_points[1].at_ns > 1700000000000000000);
	fields_free(&resume_point_table, resume_points, n);
	assert_int_equal(book_reopen_run(s->book, 77, 0, &s->err), -ENOENT);
}

TEST(what_differs_between_two_fingerprints_is_named)
{
	_cleanup_(json_decrefp) json_t *before = parse(
		"{'identity': {'kernel': {'release': '6.1'}, 'numa': 1}, 'settings': "
		"{'memory': {'thp': 'always', 'ksm': '0'}, 'zone': '1', 'dropped': 1, 'none': "
		"null}, 'volatile': {'load': 1}}");
	_cleanup_(json_decrefp) json_t *now = parse(
		"{'identity': {'kernel': {'release': '6.2'}, 'numa': 1}, 'settings': "
		"{'memory': {'thp': 'never', 'ksm': '0'}, 'zone': null, 'units': ['a'], "
		"'none': null}, 'volatile': {'load': 2}}");
	_cleanup_(differences_clear) struct differences d = {}, same = {};
	_cleanup_(freep) char *words = NULL;

	d = environment_diff(before, now);
	assert_int_equal(d.n, 3); /* not what only one of them records */
	assert_true(d.items[0].identity);
	assert_false(d.items[1].identity);
	words = differences_description(&d, 2, false);
	assert_string_equal(words,
		"kernel.release was '6.1', is '6.2'; memory.thp was 'always', is 'never'; "
		"and 1 more");
	/* huge pages */
	assert_int_equal(difference_rule(&d.items[1])->demand, VALIDITY_REPEAT_SHORT);
	same = environment_diff(now, now);
	assert_int_equal(same.n, 0);
}

/* All differences of two settings, one in a line. */
static void assert_differences(const char *before, const char *now, const char *lines)
{
	_cleanup_(json_decrefp) json_t *old = json_pack("{s:o}", "settings", parse(before)),
				       *fresh = json_pack("{s:o}", "settings", parse(now));
	_cleanup_(differences_clear) struct differences d = {};
	_cleanup_(freep) char *words = NULL;

	d = environment_diff(old, fresh);
	words = differences_description(&d, 100, false);
	assert_string_equal(words, lines);
}

TEST(which_daemon_differs_is_named)
{
	assert_differences("{'units': ['cron.service', 'a.service']}",
		"{'units': ['a.service', 'x\\\\x2dy.service']}",
		"units.cron.service was present, is gone; units.x\\x2dy.service was absent, "
		"is present");
	assert_differences("{'units': ['b', 'a']}", "{'units': ['a', 'b']}", "");
	assert_differences(
		"{'units': null}", "{'units': ['a', 'b']}", "units was nothing, is a, b");
}

TEST(which_policy_differs_is_named)
{
	assert_differences("{'p': [{'first': 0, 'last': 7, 'g': 'x', 'khz': 5}]}",
		"{'p': [{'first': 0, 'last': 3, 'g': 'x', 'khz': 5}, {'first': 4, 'last': 7, "
		"'g': 'y', 'khz': 5}]}",
		"p.4-7.g was 'x', is 'y'");
	assert_differences("{'p': [{'size': 1}, {'size': 2}]}", "{'p': [{'size': 1}]}",
		"p.1 was {\"size\":2}, is nothing");
	assert_differences("{'v': null}", "{'v': {'meltdown': 'PTI', 'x': null}}",
		"v.meltdown was nothing, is 'PTI'");
}
