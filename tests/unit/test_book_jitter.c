/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jitter runs in the book. */
#include "tests/unit/made_up_jitter.h"

#include <errno.h>

#define assert_same(list)                                                                   \
	do {                                                                                \
		assert_int_equal(back.n_##list, put.n_##list);                              \
		assert_memory_equal(back.list, put.list, put.n_##list * sizeof(*put.list)); \
	} while (0)

TEST_IN_BOOK(all_of_a_jitter_run_comes_back)
{
	_cleanup_(jitter_clear) struct jitter back = {};
	const struct jitter put = made_up_jitter();
	int64_t run = made_up_jitter_put(s);

	assert_done(s, book_get_jitter(s->book, run, &back, &s->err));
	assert_same(cpus);
	assert_same(sources);
	assert_same(buckets);
	assert_same(matches);
	assert_same(longest);
	assert_same(parts);
	assert_same(combinations);
}

TEST_IN_BOOK(a_later_state_of_a_run_replaces_the_earlier)
{
	_cleanup_(jitter_clear) struct jitter back = {};
	struct jitter put = made_up_jitter();
	int64_t run = made_up_jitter_put(s);

	put.n_longest = 1;
	put.n_parts = 1;
	put.n_matches = 0;
	put.n_sources--;
	assert_done(s, book_put_jitter(s->book, run, &put, &s->err));
	assert_done(s, book_get_jitter(s->book, run, &back, &s->err));
	assert_same(longest);
	assert_same(parts);
	assert_same(matches);
	assert_same(sources);
	assert_int_equal(back.n_combinations, 0); /* no row of the run has it */
}

TEST_IN_BOOK(a_state_that_cannot_be_stored_leaves_the_last_one)
{
	_cleanup_(jitter_clear) struct jitter back = {};
	struct jitter put = made_up_jitter();
	struct jitter_match wrong = {1, 10, 10, 0, 0, 0}; /* an empty bucket */
	int64_t run = made_up_jitter_put(s);

	put.matches = &wrong;
	put.n_matches = 1;
	put.n_parts = 0;
	assert_true(book_put_jitter(s->book, run, &put, &s->err) < 0);
	put = made_up_jitter();
	assert_done(s, book_get_jitter(s->book, run, &back, &s->err));
	assert_same(matches);
	assert_same(parts);
}

TEST_IN_BOOK(a_run_of_another_kind_has_none)
{
	struct jitter back = {};

	assert_int_equal(book_get_jitter(s->book, 7, &back, &s->err), -ENOENT);
	assert_says(s, "run 7");
	assert_says(s, "emp-calibrate jitter");
}

TEST_IN_BOOK(removing_a_run_removes_all_of_it)
{
	struct jitter back = {};

	made_up_jitter_put(s);
	assert_done(s, book_remove_run(s->book, 1, false, &s->err));
	assert_int_equal(book_get_jitter(s->book, 1, &back, &s->err), -ENOENT);
}
