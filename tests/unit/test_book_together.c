/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples that are committed together. */
#include "tests/unit/scratch.h"

static void store(struct scratch *s, int64_t run, uint32_t n, bool others_soon)
{
	const struct sample sample = {.n = n, .et_ns = 1, .pt_ns = 1};

	assert_done(s, book_begin_sample(s->book, &s->err));
	assert_done(s, book_add_sample(s->book, run, &sample, NULL, 0, &s->err));
	assert_done(s, book_commit_sample(s->book, others_soon, &s->err));
}

/* How many samples another program sees. */
static size_t count_elsewhere(struct scratch *s, int64_t run)
{
	_cleanup_(book_freep) struct book *other = NULL;
	_cleanup_(freep) struct sample *samples = NULL;
	size_t n;

	assert_done(s, book_open(&other, s->path, BOOK_READ, &s->err));
	assert_done(s, book_samples(other, run, &samples, &n, &s->err));
	return n;
}

static int64_t begin(struct scratch *s)
{
	_cleanup_(run_clearp) struct run run = scratch_run("true");

	assert_done(s, book_begin_run(s->book, &run, &s->err));
	return run.id;
}

static void a_sample_is_committed_at_once_unless_others_follow_soon(void **state)
{
	struct scratch *s = *state;
	int64_t run = begin(s);

	store(s, run, 1, false);
	assert_int_equal(count_elsewhere(s, run), 1);
	store(s, run, 2, true);
	store(s, run, 3, true);
	assert_int_equal(count_elsewhere(s, run), 1);
	assert_done(s, book_flush(s->book, &s->err));
	assert_int_equal(count_elsewhere(s, run), 3);
	store(s, run, 4, true);
	store(s, run, 5, false);
	assert_int_equal(count_elsewhere(s, run), 5);
}

static void samples_wait_a_tenth_of_a_second_at_most(void **state)
{
	struct scratch *s = *state;
	int64_t run = begin(s);
	uint32_t n = 0;

	do
		store(s, run, ++n, true);
	while (count_elsewhere(s, run) == 0 && n < 1000000);
	assert_int_equal(count_elsewhere(s, run), n);
}

static void whatever_else_uses_the_book_commits_them_first(void **state)
{
	struct scratch *s = *state;
	_cleanup_(freep) struct sample *samples = NULL;
	int64_t run = begin(s);
	size_t n;

	store(s, run, 1, true);
	assert_done(s, book_samples(s->book, run, &samples, &n, &s->err));
	assert_int_equal(n, 1);
	assert_int_equal(count_elsewhere(s, run), 1);
	store(s, run, 2, true);
	assert_done(s, book_end_run(s->book, run, RUN_DONE, NULL, &s->err));
	assert_int_equal(count_elsewhere(s, run), 2);
	store(s, run, 3, true);
	book_free(s->book);
	s->book = NULL;
	assert_int_equal(count_elsewhere(s, run), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_book(a_sample_is_committed_at_once_unless_others_follow_soon),
		in_book(samples_wait_a_tenth_of_a_second_at_most),
		in_book(whatever_else_uses_the_book_commits_them_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
