/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads in the book, and compared. */
#include "tests/unit/scratch.h"

#include "lib/base/text.h"
#include "lib/book/book.h"
#include "lib/load/load_export.h"

#include <errno.h>

enum { RUNS = 5, FIRST_S = 1700000000 };

static struct load_row row = {LOAD_CONSTANT, (char *)"0-1",
	(char *)"[edit]\nslaves = 1\ncommand = true\n", (char *)"needs root"};

static struct run_program workers[] = {{1, (char *)"edit", NULL}, {2, (char *)"cut", NULL}};

/* Beginning at that second, in an environment of its own or in the one of all: a run in which each
 * slave does about so many repetitions a second. */
static int64_t store(struct scratch *s, int second, int per_s, bool unknown_environment)
{
	struct run run = {
		.program = (char *)"office.ini", .kind = RUN_LOAD, .resolution_ns = 1, .cpu = -1};

	if (!unknown_environment)
		assert_done(s, book_put_environment(s->book, "d1", "box", "{\"identity\": {}}",
				       &run.environment, &s->err));
	assert_done(s, book_begin_run(s->book, &run, &s->err));
	assert_done(s, book_add_rows(s->book, run.id, &load_table, &row, 1, &s->err));
	assert_done(s, book_add_rows(s->book, run.id, &run_program_table, workers,
			       ELEMENTS(workers), &s->err));
	for (uint32_t n = 1; n <= RUNS; n++) {
		int64_t start_ns = (FIRST_S + second + n) * NS_PER_S, et_ns = NS_PER_S + 1000 * n;
		const struct sample sample = {.n = n,
			.start_ns = start_ns,
			.et_ns = et_ns,
			.pt_ns = 7,
			.exit_status = -1,
			.wait_ns = -1};
		const struct sample_program parts[] = {
			{.sample = n,
				.program = workers[0].n,
				.start_ns = start_ns + 40,
				.et_ns = et_ns,
				.pt_ns = 3,
				.repetitions = per_s,
				.finished_ns = 500,
				.wait_ns = -1},
			{.sample = n,
				.program = workers[1].n,
				.start_ns = start_ns + 100 * n,
				.et_ns = et_ns,
				.pt_ns = 4,
				.repetitions = 2 * per_s,
				.finished_ns = 600,
				.wait_ns = -1},
		};
		const struct load_sample start = {n, 10 * n, 1000 - n, et_ns / 2, 4};

		assert_done(s, book_add_sample(s->book, run.id, &sample, NULL, 0, &s->err));
		assert_done(s, book_add_rows(s->book, run.id, &sample_program_table, parts,
				       ELEMENTS(parts), &s->err));
		assert_done(
			s, book_add_rows(s->book, run.id, &load_sample_table, &start, 1, &s->err));
	}
	return run.id;
}

static struct load_report report_of(struct scratch *s, int64_t run)
{
	struct load_report report = {};

	assert_done(s, load_report_read(s->book, run, &report, &s->err));
	return report;
}

TEST_IN_BOOK(all_that_a_load_shows_comes_back)
{
	_cleanup_(load_report_clear) struct load_report p = report_of(s, store(s, 0, 1000, false));

	assert_int_equal(p.load.coordination, LOAD_CONSTANT);
	assert_string_equal(p.load.cpus, "0-1");
	assert_string_equal(p.load.file, row.file);
	assert_string_equal(p.load.no_page_waits, "needs root");
	assert_int_equal(p.work.n_programs, 2);
	assert_int_equal(p.work.n_parts, 2 * RUNS);
	assert_int_equal(p.n_kept, RUNS);
	assert_true(p.idle > 0.1249 && p.idle < 0.1251);
	assert_int_equal(p.release_ns, 10 * RUNS);
	assert_int_equal(p.driver_ns, 999);
	assert_int_equal(p.last_start_ns, 100 * RUNS);
	assert_int_equal(p.rates.n, 3);
	assert_int_equal(p.rates.sum.summary.mean_ns / 1e9, 2999);
	/* one share is one repetition */
	assert_int_equal(p.rates.items[0].summary.mean_ns / 1e9, 1414);
	assert_string_equal(load_rates_find(&p.rates, "cut")->script, "cut");
	assert_null(load_rates_find(&p.rates, "copy"));
}

TEST_IN_BOOK(what_is_no_load_is_said)
{
	_cleanup_(run_clear) struct run run = scratch_run("xz");
	struct load_report report = {};

	assert_done(s, book_begin_run(s->book, &run, &s->err));
	assert_int_equal(load_report_read(s->book, run.id, &report, &s->err), -EINVAL);
	assert_says(s, "is not a load: 'emp-analyze show 1' shows it");
	run.kind = RUN_LOAD;
	memset(run.uid, 0, sizeof(run.uid));
	assert_done(s, book_begin_run(s->book, &run, &s->err));
	assert_int_equal(load_report_read(s->book, run.id, &report, &s->err), -EINVAL);
	assert_says(s, "imported without its slaves");
	assert_done(s, book_add_rows(s->book, run.id, &load_table, &row, 1, &s->err));
	assert_int_equal(load_report_read(s->book, run.id, &report, &s->err), -ENODATA);
	assert_says(s, "ended before its first run");
}

TEST_IN_BOOK(slaves_must_be_numbered_from_1)
{
	struct load_report report = {};
	int64_t run;

	workers[1].n = 7;
	run = store(s, 0, 1000, false);
	workers[1].n = 2;
	assert_int_equal(load_report_read(s->book, run, &report, &s->err), -EBADMSG);
	assert_says(s, "not numbered from 1");
}

static struct load_comparison compare_runs(
	struct scratch *s, struct load_report *a, struct load_report *b, double between)
{
	struct load_comparison c = {};

	assert_done(s, load_comparison_make(&c, s->book, a, b, between, &s->err));
	return c;
}

TEST_IN_BOOK(a_verdict_needs_to_know_how_separate_loads_vary)
{
	_cleanup_(load_report_clear) struct load_report a = report_of(s, store(s, 0, 1000, false));
	_cleanup_(load_report_clear) struct load_report b = report_of(
		s, store(s, 100, 1100, false));
	struct load_comparison c = compare_runs(s, &a, &b, -1);
	const struct comparison *times;

	assert_int_equal(c.n, 3);
	assert_true(c.same_scripts);
	assert_int_equal(c.items[0].comparison.design, DESIGN_SEPARATE);
	assert_int_equal(comparison_verdict(&c.items[0].comparison), COMPARISON_CANNOT_TELL);
	load_comparison_clear(&c);
	/* three more, at 990, 1000 and 1010 a second: 1 % */
	for (int i = 0; i < 3; i++)
		store(s, 200 + 100 * i, 990 + 10 * i, false);
	c = compare_runs(s, &a, &b, -1);
	assert_int_equal(c.items[0].comparison.design, DESIGN_BETWEEN);
	assert_int_equal(c.items[0].variation.n_runs, 3);
	assert_true(c.items[0].variation.sd > 0.0099 && c.items[0].variation.sd < 0.0101);
	assert_true(c.items[0].comparison.ratio > 1.09 && c.items[0].comparison.ratio < 1.11);
	times = &c.items[0].times;
	assert_int_equal(comparison_verdict(times), COMPARISON_FASTER); /* a higher rate */
	assert_true(times->ratio_low < times->ratio && times->ratio < times->ratio_high);
	load_comparison_clear(&c);
	c = compare_runs(s, &a, &b, 0.5); /* if they vary by half */
	assert_int_equal(comparison_verdict(&c.items[0].comparison), COMPARISON_CANNOT_TELL);
	load_comparison_clear(&c);
}

TEST_IN_BOOK(a_load_that_a_quota_holds_back_is_unmeasurable)
{
	_cleanup_(load_report_clear) struct load_report a = report_of(s, store(s, 0, 1000, false));
	_cleanup_(load_report_clear) struct load_report b = report_of(
		s, store(s, 100, 1100, false));
	struct load_comparison c;

	for (size_t i = 0; i < b.result.n_samples; i++)
		b.result.samples[i].held_back_ns = NS_PER_S / 20; /* of 1 s: 5 % */
	c = compare_runs(s, &a, &b, 0.01);
	assert_int_equal(comparison_verdict(&c.items[0].times), COMPARISON_FASTER);
	load_comparison_clear(&c);
	for (size_t i = 0; i < b.result.n_samples; i++)
		b.result.samples[i].held_back_ns = NS_PER_S / 5;
	for (int swapped = 0; swapped < 2; swapped++) {
		c = swapped ? compare_runs(s, &b, &a, 0.01) : compare_runs(s, &a, &b, 0.01);
		for (size_t i = 0; i < c.n; i++) {
			assert_int_equal(
				comparison_verdict(&c.items[i].times), COMPARISON_UNMEASURABLE);
			assert_int_equal(c.items[i].times.unmeasurable, UNMEASURABLE_HELD_BACK);
		}
		assert_true(c.items[0].times.ratio > 0.9 && c.items[0].times.ratio < 1.11);
		load_comparison_clear(&c);
	}
}

TEST_IN_BOOK(a_load_of_which_all_runs_are_discarded_is_unmeasurable)
{
	_cleanup_(load_report_clear) struct load_report a = report_of(s, store(s, 0, 1000, false));
	_cleanup_(load_report_clear) struct load_report b = report_of(
		s, store(s, 100, 1100, false));
	_cleanup_(load_comparison_clear) struct load_comparison c = {};
	_cleanup_(json_decrefp) json_t *document = NULL;
	_cleanup_(freep) char *screen = NULL;

	for (size_t i = 0; i < b.result.n_samples; i++)
		b.result.discarding.out[i] = true;
	b.n_kept = 0;
	notes_add(&b.notes, NOTE_PROFILE, "the cutoffs may not hold");
	screen = PRINTED(file, load_report_print(file, &b, 0));
	assert_non_null(strstr(screen, "the cutoffs may not hold"));
	c = compare_runs(s, &a, &b, 0.01);
	assert_int_equal(comparison_verdict(&c.items[0].times), COMPARISON_UNMEASURABLE);
	assert_int_equal(c.items[0].times.unmeasurable, UNMEASURABLE_DISTURBED);
	document = load_comparison_as_json(&c);
	assert_true(
		json_is_null(json_object_get(json_object_get(document, "comparison"), "ratio")));
	load_comparison_print(stdout, &c);
}

/* By two calls, one of which began in the other's pauses. */
TEST_IN_BOOK(loads_of_two_machines_are_not_in_turn)
{
	_cleanup_(load_report_clear) struct load_report a = report_of(s, store(s, 0, 1000, false));
	_cleanup_(load_report_clear) struct load_report b = report_of(s, store(s, 0, 1100, false));

	free(b.result.discarding.run.owner);
	b.result.discarding.run.owner = xstrdup("another call");
	for (size_t i = 0; i < RUNS; i++) {
		a.kept[i].start_ns = (FIRST_S + 4 * (int64_t)i) * NS_PER_S;
		b.kept[i].start_ns = a.kept[i].start_ns + 2 * NS_PER_S;
	}
	for (int other = 0; other < 2; other++) {
		_cleanup_(load_comparison_clear) struct load_comparison c = {};

		c = compare_runs(s, &a, &b, 0.01);
		assert_int_equal(
			c.items[0].comparison.design, other ? DESIGN_BETWEEN : DESIGN_PAIRS);
		free(b.machine);
		b.machine = xstrdup("d2");
	}
}

TEST_IN_BOOK(loads_of_other_files_do_not_tell_how_this_one_varies)
{
	_cleanup_(load_report_clear) struct load_report a = report_of(s, store(s, 0, 1000, false));
	_cleanup_(load_report_clear) struct load_report b = report_of(
		s, store(s, 100, 1100, false));
	_cleanup_(load_comparison_clear) struct load_comparison c = {};
	char *file = row.file;

	row.file = (char *)"[edit]\nslaves = 1\ncommand = false\n";
	for (int i = 0; i < 3; i++)
		store(s, 200 + 100 * i, 990 + 10 * i, false);
	row.file = file;
	c = compare_runs(s, &a, &b, -1);
	assert_int_equal(c.items[0].comparison.design, DESIGN_SEPARATE);
}

TEST_IN_BOOK(loads_of_an_unknown_environment_have_no_verdict)
{
	_cleanup_(load_report_clear) struct load_report a = report_of(s, store(s, 0, 1000, true));
	_cleanup_(load_report_clear) struct load_report b = report_of(s, store(s, 100, 1100, true));
	_cleanup_(load_comparison_clear) struct load_comparison c = {};

	for (int i = 0; i < 3; i++)
		store(s, 200 + 100 * i, 990 + 10 * i, true);
	c = compare_runs(s, &a, &b, -1);
	assert_int_equal(c.items[0].comparison.design, DESIGN_SEPARATE);
	assert_null(c.environment_changes);
}

TEST_IN_BOOK(only_common_scripts_are_compared)
{
	_cleanup_(load_report_clear) struct load_report a = report_of(s, store(s, 0, 1000, false)),
							b = {}, other = {};
	_cleanup_(load_comparison_clear) struct load_comparison c = {};
	struct load_comparison none;

	workers[1].name = (char *)"paste";
	b = report_of(s, store(s, 100, 1100, false));
	workers[0].name = (char *)"join";
	other = report_of(s, store(s, 200, 1100, false));
	workers[0].name = (char *)"edit";
	workers[1].name = (char *)"cut";
	c = compare_runs(s, &a, &b, -1);
	assert_false(c.same_scripts);
	assert_int_equal(c.n, 1);
	assert_string_equal(c.items[0].a->script, "edit");
	assert_int_equal(load_comparison_make(&none, s->book, &a, &other, -1, &s->err), -EINVAL);
	assert_says(s, "have no script in common");
}

static void changes_are(
	const struct load_row *before, const struct load_row *now, const char *words)
{
	_cleanup_(freep) char *changes = load_changes(before, now);

	if (words)
		assert_string_equal(changes, words);
	else
		assert_null(changes);
}

TEST(changes_of_a_load_are_in_words)
{
	const struct load_row a = {.file = (char *)"x = 1\ny = 2\n"};
	const struct load_row pinned = {LOAD_BEFORE, (char *)"1", a.file, NULL};
	const struct load_row line = {.file = (char *)"x = 1\ny = 3\n"};
	const struct load_row all = {.file = (char *)"x = 10\ny = 3\n"};
	const struct load_row shorter = {.file = (char *)"x = 1\n"};

	changes_are(&a, &a, NULL);
	changes_are(&a, &pinned, "coordination was constant-load, is before; cpus was all, is 1");
	changes_are(&a, &line, "line 2 of the file was 'y = 2', is 'y = 3'");
	changes_are(
		&a, &all, "line 1 of the file was 'x = 1', is 'x = 10'; lines after it differ too");
	changes_are(&a, &shorter, "line 2 of the file was 'y = 2', is nothing");
	changes_are(&shorter, &a, "line 2 of the file was nothing, is 'y = 2'");
}
