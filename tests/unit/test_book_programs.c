/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that run at once, in the book. */
#include "tests/unit/scratch.h"

#include "lib/book/book.h"

#include <errno.h>

static const struct run_program programs[] = {
	{1, (char *)"xz -1", (char *)"[\"xz\",\"-1\"]"},
	{2, (char *)"edit 1", NULL},
};

/* A run of two samples, the second of which has what is known of both programs. */
static void begin(struct scratch *s, struct run *run)
{
	struct sample sample = {.start_ns = 7,
		.et_ns = 9,
		.pt_ns = 8,
		.user_ns = -1,
		.system_ns = -1,
		.max_rss_bytes = -1,
		.observer_ns = -1,
		.exit_status = -1,
		.wait_ns = -1};

	*run = (struct run){
		.program = (char *)"duet", .kind = RUN_DUET, .resolution_ns = 1, .cpu = -1};
	assert_done(s, book_begin_run(s->book, run, &s->err));
	for (sample.n = 1; sample.n <= 2; sample.n++)
		assert_done(s, book_add_sample(s->book, run->id, &sample, NULL, 0, &s->err));
	assert_done(s, book_add_rows(s->book, run->id, &run_program_table, programs,
			       ELEMENTS(programs), &s->err));
}

TEST_IN_BOOK(what_each_program_did_comes_back)
{
	static const struct sample_program put[] = {
		{2, 1, 1000, 50, 40, 30, 10, 4096, 0, 0, 3, 45, 5, 0, 2},
		{2, 2, 1001, 60, 20, -1, -1, -1, 143, 1, -1, -1, -1, -1, -1},
	};
	_cleanup_(freep) struct sample_program *back = NULL;
	struct run_program *named;
	struct run run;
	size_t n;

	begin(s, &run);
	assert_done(s,
		book_add_rows(s->book, run.id, &sample_program_table, put, ELEMENTS(put), &s->err));
	assert_done(s, book_rows(s->book, run.id, &sample_program_table, &back, &n, &s->err));
	assert_int_equal(n, ELEMENTS(put));
	assert_memory_equal(back, put, sizeof(put));
	assert_done(s, book_rows(s->book, run.id, &run_program_table, &named, &n, &s->err));
	assert_int_equal(n, 2);
	assert_string_equal(named[0].command, "[\"xz\",\"-1\"]");
	assert_string_equal(named[1].name, "edit 1");
	assert_null(named[1].command);
	fields_free(&run_program_table, named, n);
}

TEST_IN_BOOK(programs_of_no_sample_are_refused_and_nothing_is_kept)
{
	static const struct sample_program put[] = {
		{.sample = 1, .program = 1}, {.sample = 3, .program = 1}};
	_cleanup_(freep) struct sample_program *back = NULL;
	struct run run;
	size_t n;

	begin(s, &run);
	assert_true(book_add_rows(s->book, run.id, &sample_program_table, put, ELEMENTS(put),
			    &s->err) < 0);
	assert_done(s, book_rows(s->book, run.id, &sample_program_table, &back, &n, &s->err));
	assert_int_equal(n, 0);
}
