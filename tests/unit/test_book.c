/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs, samples, executions and daemons, in the book and out of it again. */
#include "tests/unit/frozen_clock.h"
#include "tests/unit/scratch.h"

#include "lib/base/text.h"
#include "lib/book/book.h"
#include "lib/record/profile.h"

#include <errno.h>
#include <sys/syscall.h>

static int n_syncs;

/* SQLite's come by here. */
int fdatasync(int fd)
{
	n_syncs++;
	return (int)syscall(SYS_fdatasync, fd);
}

/* A member of eight bytes, as most are; a smaller one may lie where others leave a gap. */
TEST(each_member_of_a_sample_has_its_row)
{
	const struct field_table *tables[] = {
		&sample_table, &execution_table, &sample_program_table, &cutoff_table};

	for (size_t i = 0; i < ELEMENTS(tables); i++) {
		const struct field_table *table = tables[i];
		_cleanup_(freep) char *bytes = xcalloc(table->size, 1);

		for (size_t k = 0; k < table->n; k++)
			memset(bytes + table->fields[k].offset, 1, table->fields[k].size);
		for (size_t at = 0; at + sizeof(int64_t) <= table->size; at += sizeof(int64_t))
			if (!memchr(bytes + at, 1, sizeof(int64_t)))
				fail_msg("byte %zu of '%s' has no row", at, table->table);
	}
}

TEST_IN_BOOK(a_run_comes_back_as_it_was_stored)
{
	_cleanup_(run_clear) struct run back = {}, run = scratch_run("INC128");
	int64_t environment = 0;

	assert_done(s, book_put_environment(s->book, "d1", "box", "{}", &environment, &s->err));
	run.command = strdup("[\"inc\", \"128\"]");
	run.backend = strdup("bpf");
	run.pt_source = strdup("cgroup");
	run.profile = strdup("quiet");
	run.notes = strdup("audit: not fit, run anyway");
	run.environment = environment;
	run.cpu = 1;
	run.other_cpus = true;
	run.unprofiled_share_ppm = 20000;
	assert_done(s, book_begin_run(s->book, &run, &s->err));
	assert_int_equal(run.state, RUN_OPEN);
	assert_true(run.started_ns > 1700000000000000000);

	assert_done(s, book_get_run(s->book, run.id, &back, &s->err));
	run.owner = strdup(back.owner); /* this process */
	assert_same_fields(&run_table, &back, &run);
	assert_int_equal(strlen(back.uid), 32);
	assert_int_equal(back.ended_ns, 0);
	assert_int_equal(back.n_samples, 0);
}

TEST_IN_BOOK(what_is_not_known_of_a_run_stays_unknown)
{
	_cleanup_(run_clear) struct run back = {}, run = scratch_run("xz");

	run.task_length_ns = 0;
	assert_done(s, book_begin_run(s->book, &run, &s->err));
	assert_done(s, book_get_run(s->book, run.id, &back, &s->err));
	run.owner = strdup(back.owner); /* this process */
	assert_same_fields(&run_table, &back, &run);
	assert_null(back.command);
	assert_int_equal(back.environment, 0);
}

/* The latest that Linux lets a clock be set to. */
TEST_IN_BOOK(a_run_of_a_clock_that_is_two_centuries_fast_can_be_read)
{
	const int64_t at_ns = INT64_C(8277292036) * NS_PER_S;
	_cleanup_(run_clear) struct run run = scratch_run("xz"), back = {};
	struct sample sample = scratch_sample(1);
	_cleanup_(freep) struct sample *samples = NULL;
	size_t n;

	run.started_ns = at_ns;
	sample.start_ns = at_ns;
	sample.et_ns = JSON_TIME_MAX;
	assert_done(s, book_begin_run(s->book, &run, &s->err));
	assert_done(s, book_add_sample(s->book, run.id, &sample, NULL, 0, &s->err));
	assert_done(s, book_end_run(s->book, run.id, RUN_DONE, NULL, &s->err));
	assert_done(s, book_get_run(s->book, run.id, &back, &s->err));
	assert_int_equal(back.started_ns, at_ns);
	assert_done(s, book_rows(s->book, run.id, &sample_table, &samples, &n, &s->err));
	assert_int_equal(samples[0].start_ns, at_ns);
}

TEST_IN_BOOK(the_end_of_a_run_keeps_notes_unless_there_are_new_ones)
{
	_cleanup_(run_clear) struct run back = {}, again = {}, run = scratch_run("xz");

	run.notes = strdup("first");
	assert_done(s, book_begin_run(s->book, &run, &s->err));
	assert_done(s, book_end_run(s->book, run.id, RUN_INTERRUPTED, NULL, &s->err));
	assert_done(s, book_get_run(s->book, run.id, &back, &s->err));
	assert_int_equal(back.state, RUN_INTERRUPTED);
	assert_string_equal(back.notes, "first");
	assert_true(back.ended_ns >= back.started_ns);
	assert_done(s, book_end_run(s->book, run.id, RUN_DONE, "second", &s->err));
	assert_done(s, book_get_run(s->book, run.id, &again, &s->err));
	assert_string_equal(again.notes, "second");
	assert_int_equal(book_end_run(s->book, 77, RUN_DONE, NULL, &s->err), -ENOENT);
	assert_says(s, "run 77 is not in the lab book");
}

TEST_IN_BOOK(samples_and_executions_come_back_in_order)
{
	_cleanup_(run_clear) struct run run = scratch_begin(s, "xz");
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(freep) struct execution *executions = NULL;
	uint32_t cron = scratch_source(s, "cron", SOURCE_PROCESS),
		 kswapd = scratch_source(s, "kswapd0", SOURCE_KERNEL);
	struct sample first = scratch_sample(1), second = scratch_sample(2);
	struct execution e[3] = {{.source = cron, .pid = 10, .pt_ns = 5, .tick_ns = 4000000},
		{.source = kswapd, .pt_ns = 0, .tick_ns = -1},
		{.source = cron, .pid = 11, .pt_ns = 7, .tick_ns = 0}};
	size_t n;

	first.user_ns = 0;
	first.system_ns = 17;
	first.max_rss_bytes = 1 << 20;
	first.observer_ns = 123;
	first.lost = 3;
	first.exit_status = 139;
	first.left_behind = 2;
	first.incomplete = true;
	assert_done(s, book_add_sample(s->book, run.id, &first, e, 3, &s->err));
	assert_done(s, book_add_sample(s->book, run.id, &second, NULL, 0, &s->err));

	assert_done(s, book_rows(s->book, run.id, &sample_table, &samples, &n, &s->err));
	assert_int_equal(n, 2);
	assert_same_fields(&sample_table, &samples[0], &first);
	assert_same_fields(&sample_table, &samples[1], &second);
	assert_done(s, book_executions(s->book, run.id, 1, &executions, &n, &s->err));
	assert_int_equal(n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(executions[i].sample, 1);
		assert_int_equal(executions[i].source, e[i].source);
		assert_same_fields(&execution_table, &executions[i], &e[i]);
	}
	free(TAKE(executions));
	assert_done(s, book_executions(s->book, run.id, 2, &executions, &n, &s->err));
	assert_int_equal(n, 0);
}

TEST_IN_BOOK(a_sample_number_cannot_be_used_twice)
{
	_cleanup_(run_clear) struct run run = scratch_begin(s, "xz"), back = {};
	struct sample sample = scratch_sample(3);

	scratch_add(s, run.id, 3, NULL, 0);
	assert_int_equal(book_add_sample(s->book, run.id, &sample, NULL, 0, &s->err), -EEXIST);
	assert_says(s, "has a sample 3 already");
	scratch_add(s, run.id, 4, NULL, 0);
	assert_done(s, book_get_run(s->book, run.id, &back, &s->err));
	assert_int_equal(back.n_samples, 2);
}

TEST_IN_BOOK(a_sample_whose_executions_are_impossible_is_not_stored_at_all)
{
	_cleanup_(run_clear) struct run back = {}, run = scratch_begin(s, "xz");
	struct sample sample = scratch_sample(1);
	struct execution negative = {.pt_ns = -1, .tick_ns = -1},
			 stranger = {.source = 99, .tick_ns = -1};

	negative.source = scratch_source(s, "cron", SOURCE_PROCESS);
	assert_true(book_add_sample(s->book, run.id, &sample, &negative, 1, &s->err) < 0);
	assert_says(s, "pt_ns >= 0");
	assert_true(book_add_sample(s->book, run.id, &sample, &stranger, 1, &s->err) < 0);
	assert_done(s, book_get_run(s->book, run.id, &back, &s->err));
	assert_int_equal(back.n_samples, 0);
}

TEST_IN_BOOK(a_sample_of_a_run_that_is_gone_is_refused_by_name)
{
	struct sample sample = scratch_sample(1);

	assert_int_equal(book_add_sample(s->book, 5, &sample, NULL, 0, &s->err), -ENOENT);
	assert_says(s, "run 5 is not in the lab book");
}

TEST_IN_BOOK(a_removed_run_takes_its_samples_along_and_its_id_is_not_given_again)
{
	_cleanup_(run_clear) struct run first = scratch_begin(s, "one"),
					second = scratch_begin(s, "two");
	_cleanup_(run_clear) struct run third = {}, back = {};
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(freep) struct execution *executions = NULL;
	struct execution e = {
		.source = scratch_source(s, "cron", SOURCE_PROCESS), .pt_ns = 5, .tick_ns = -1};
	size_t n;

	scratch_add(s, first.id, 1, &e, 1);
	scratch_add(s, second.id, 1, &e, 1);
	assert_done(s, book_remove_run(s->book, second.id, false, &s->err));
	assert_int_equal(book_get_run(s->book, second.id, &back, &s->err), -ENOENT);
	assert_int_equal(book_remove_run(s->book, second.id, false, &s->err), -ENOENT);
	assert_says(s, "'emp-analyze list' shows its runs");
	assert_done(s, book_rows(s->book, second.id, &sample_table, &samples, &n, &s->err));
	assert_int_equal(n, 0);
	assert_done(s, book_executions(s->book, second.id, 1, &executions, &n, &s->err));
	assert_int_equal(n, 0);
	assert_done(s, book_executions(s->book, first.id, 1, &executions, &n, &s->err));
	assert_int_equal(n, 1);
	third = scratch_begin(s, "three");
	assert_int_equal(third.id, second.id + 1);
}

TEST_IN_BOOK(a_run_of_a_profile_or_an_open_calibration_is_removed_only_by_force)
{
	_cleanup_(run_clear) struct run run = scratch_begin(s, "INC1"),
					other = scratch_begin(s, "INC2");
	struct profile profile = {.name = (char *)"lab1", .resolution_ns = 1, .cpu = -1};
	struct calibration_plan plan = {.profile = (char *)"lab2",
		.backend = (char *)"auto",
		.cpu = -1,
		.phases = {{100, 10, 0, 0}, {1000, 5, 0, 0}}};
	_cleanup_(profile_clear) struct profile back = {};

	profile.short_run.program = profile.long_run.program = (char *)"INC1";
	profile.long_run.run = run.id;
	plan.phases[SHORT_PHASE].run = other.id;
	assert_done(s, book_put_profile(s->book, &profile, false, &s->err));
	assert_done(s, book_put_calibration(s->book, &plan, &s->err));
	assert_int_equal(book_remove_run(s->book, run.id, false, &s->err), -EBUSY);
	assert_says(s, "run 1 is the long run of the profile 'lab1'");
	assert_int_equal(book_remove_run(s->book, other.id, false, &s->err), -EBUSY);
	assert_says(s, "run 2 is part of the calibration for 'lab2', which is not complete");
	assert_done(s, book_remove_run(s->book, run.id, true, &s->err));
	assert_done(s, book_get_profile(s->book, 0, "lab1", &back, &s->err));
	assert_int_equal(back.long_run.run, 0);
	assert_done(s, book_remove_run(s->book, other.id, true, &s->err));
	assert_int_equal(book_find_calibration(s->book, 0, NULL, true, &plan, &s->err), 0);
}

TEST_IN_BOOK(a_uid_is_kept_and_a_copy_gets_its_own)
{
	_cleanup_(run_clear) struct run run = scratch_run("xz"), copy = scratch_run("xz");

	strcpy(run.uid, "00112233445566778899aabbccddeeff");
	strcpy(copy.uid, run.uid);
	assert_done(s, book_add_run(s->book, &run, &s->err));
	assert_string_equal(run.uid, "00112233445566778899aabbccddeeff");
	assert_done(s, book_add_run(s->book, &copy, &s->err));
	assert_int_equal(strlen(copy.uid), UID_SIZE - 1);
	assert_string_not_equal(copy.uid, run.uid);
}

TEST_IN_BOOK(all_runs_are_listed_by_id)
{
	struct run *runs = NULL;
	size_t n;

	for (int i = 1; i <= 40; i++) {
		_cleanup_(run_clear) struct run run = scratch_begin(s, text_brief("p%d", i));

		if (i % 2)
			scratch_add(s, run.id, 1, NULL, 0);
	}
	assert_done(s, book_runs(s->book, &runs, &n, &s->err));
	assert_int_equal(n, 40);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(runs[i].id, i + 1);
		assert_int_equal(runs[i].n_samples, i % 2 ? 0 : 1);
	}
	fields_free(&run_table, runs, n);
}

TEST_IN_BOOK(daemons_are_numbered_densely_and_told_apart_by_all_they_have)
{
	_cleanup_(sources_clear) struct sources all = {};
	static const struct source rows[] = {
		{1, (char *)"python3", (char *)"/usr/bin/python3.11", (char *)"a.service",
			SOURCE_PROCESS},
		{2, (char *)"python3", (char *)"/usr/bin/python3.11", (char *)"b.service",
			SOURCE_PROCESS},
		{3, (char *)"python3", NULL, NULL, SOURCE_PROCESS},
		{4, (char *)"python3", NULL, NULL, SOURCE_KERNEL},
		{1, (char *)"python3", (char *)"/usr/bin/python3.11", (char *)"a.service",
			SOURCE_PROCESS},
	};
	const struct source thread = {.name = (char *)"python3", .kind = SOURCE_KERNEL},
			    irq = {.name = (char *)"python3",
				    .exe = (char *)"",
				    .kind = SOURCE_IRQ};
	uint32_t id;

	for (const struct source *row = rows; row < rows + ELEMENTS(rows); row++) {
		assert_done(s, book_source(s->book, row, &id, &s->err));
		assert_int_equal(id, row->id);
	}

	scratch_open(s, BOOK_WRITE); /* what is remembered of them is gone */
	assert_int_equal(book_known_source(s->book, &thread), 4);
	assert_int_equal(book_known_source(s->book, &irq), 0);
	assert_int_equal(scratch_source(s, "python3", SOURCE_KERNEL), 4);
	assert_done(s, book_sources(s->book, &all, &s->err));
	assert_int_equal(all.n, 4);
	for (size_t i = 0; i < all.n; i++)
		assert_int_equal(all.items[i].id, i + 1);
	assert_string_equal(all.items[0].unit, "a.service");
	assert_null(all.items[2].exe);
	assert_int_equal(all.items[3].kind, SOURCE_KERNEL);
}

TEST_IN_BOOK(thousands_of_daemons_keep_their_numbers)
{
	uint32_t ids[3000];

	assert_done(s, book_begin(s->book, &s->err));
	for (int i = 0; i < 3000; i++)
		ids[i] = scratch_source(s, text_brief("kworker/%d", i), SOURCE_KERNEL);
	assert_done(s, book_commit(s->book, &s->err));
	for (int i = 2999; i >= 0; i--)
		assert_int_equal(
			scratch_source(s, text_brief("kworker/%d", i), SOURCE_KERNEL), ids[i]);
}

TEST_IN_BOOK(a_name_that_is_not_utf8_is_stored_with_its_bytes_spelled_out)
{
	_cleanup_(sources_clear) struct sources all = {};
	uint32_t first = scratch_source(s, "bad\xff\xc0\xafname", SOURCE_PROCESS);

	scratch_source(s, "gr\xc3\xbc\xc3\x9f", SOURCE_PROCESS);
	scratch_source(s, "cut\xc3", SOURCE_PROCESS);
	assert_int_equal(scratch_source(s, "bad\xff\xc0\xafname", SOURCE_PROCESS), first);
	assert_done(s, book_sources(s->book, &all, &s->err));
	assert_int_equal(all.n, 3);
	assert_string_equal(all.items[0].name, "bad\\xff\\xc0\\xafname");
	assert_string_equal(all.items[1].name, "gr\xc3\xbc\xc3\x9f");
	assert_string_equal(all.items[2].name, "cut\\xc3");
}

TEST_IN_BOOK(what_is_rolled_back_is_gone_daemons_too)
{
	_cleanup_(run_clear) struct run run = scratch_begin(s, "xz"), back = {};
	_cleanup_(sources_clear) struct sources all = {};
	struct execution e = {.pt_ns = 1, .tick_ns = -1};

	assert_done(s, book_begin(s->book, &s->err));
	e.source = scratch_source(s, "cron", SOURCE_PROCESS);
	scratch_add(s, run.id, 1, &e, 1);
	book_rollback(s->book);
	assert_done(s, book_get_run(s->book, run.id, &back, &s->err));
	assert_int_equal(back.n_samples, 0);
	assert_int_equal(
		/* the number that cron had is free again */
		scratch_source(s, "sshd", SOURCE_PROCESS), 1);
	e.source = scratch_source(s, "cron", SOURCE_PROCESS);
	assert_int_equal(e.source, 2);
	scratch_add(s, run.id, 1, &e, 1);
	assert_done(s, book_sources(s->book, &all, &s->err));
	assert_int_equal(all.n, 2);
}

static void add_in_transaction(struct scratch *s, int64_t run, uint32_t n)
{
	struct sample sample = {.n = n, .start_ns = n, .et_ns = 5, .pt_ns = 5};

	book_sync_by_second(s->book);
	assert_done(s, book_begin(s->book, &s->err));
	assert_done(s, book_add_sample(s->book, run, &sample, NULL, 0, &s->err));
	assert_done(s, book_commit(s->book, &s->err));
}

TEST_IN_BOOK(samples_of_one_second_wait_for_the_disk_together)
{
	_cleanup_(run_clear) struct run run = scratch_begin(s, "true");
	int before;

	frozen_ns = clock_ns(CLOCK_MONOTONIC);
	add_in_transaction(s, run.id, 1);
	before = n_syncs;
	assert_true(before > 0);
	frozen_ns += NS_PER_S - 1;
	add_in_transaction(s, run.id, 2);
	add_in_transaction(s, run.id, 3);
	assert_int_equal(n_syncs, before);
	frozen_ns++;
	add_in_transaction(s, run.id, 4);
	assert_true(n_syncs > before);
	before = n_syncs;
	add_in_transaction(s, run.id, 5);
	assert_int_equal(n_syncs, before);
	assert_done(s, book_end_run(s->book, run.id, RUN_DONE, NULL, &s->err));
	assert_true(n_syncs > before);
	frozen_ns = 0;
}
