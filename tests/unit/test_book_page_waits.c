/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page waits, in the book. */
#include "tests/unit/scratch.h"

#include "lib/load/book_load.h"

static struct run begin(struct scratch *s)
{
	struct run run = {
		.program = (char *)"load.ini", .kind = RUN_LOAD, .resolution_ns = 1, .cpu = -1};
	struct sample sample = scratch_sample(1);

	assert_done(s, book_begin_run(s->book, &run, &s->err));
	for (; sample.n <= 2; sample.n++)
		assert_done(s, book_add_sample(s->book, run.id, &sample, NULL, 0, &s->err));
	return run;
}

TEST_IN_BOOK(they_come_back_by_sample_kind_and_length)
{
	static const struct page_wait items[] = {
		{1, PAGE_WAIT_READ, 1, 5000, -1, 2},
		{1, PAGE_WAIT_WORKER, 3, 12000, 700, 0},
		{1, PAGE_WAIT_WRITE, 0, 0, -1, 0},
		{2, PAGE_WAIT_WORKER, 0, 0, 0, 0},
	};
	static const struct page_wait_bin bins[] = {
		{1, PAGE_WAIT_READ, 0, 10000, 1, 5000},
		{1, PAGE_WAIT_WORKER, 0, 10000, 2, 1999},
		{1, PAGE_WAIT_WORKER, 1000000000, -1, 1, 10001},
	};
	_cleanup_(page_waits_clear) struct page_waits back = {};
	struct run run = begin(s);

	assert_done(s,
		book_add_rows(s->book, run.id, &page_wait_table, items, ELEMENTS(items), &s->err));
	assert_done(s, book_add_rows(s->book, run.id, &page_wait_bin_table, bins, ELEMENTS(bins),
			       &s->err));
	assert_done(s, book_rows(s->book, run.id, &page_wait_table, &back.items, &back.n, &s->err));
	assert_done(s, book_rows(s->book, run.id, &page_wait_bin_table, &back.bins, &back.n_bins,
			       &s->err));
	assert_int_equal(back.n, ELEMENTS(items));
	assert_int_equal(back.n_bins, ELEMENTS(bins));
	for (size_t i = 0; i < back.n; i++)
		assert_same_fields(&page_wait_table, &back.items[i], &items[i]);
	for (size_t i = 0; i < back.n_bins; i++)
		assert_same_fields(&page_wait_bin_table, &back.bins[i], &bins[i]);
}

TEST_IN_BOOK(those_of_no_sample_are_refused_and_nothing_is_kept)
{
	static const struct page_wait items[] = {
		{.sample = 1, .kind = PAGE_WAIT_READ}, {.sample = 3, .kind = PAGE_WAIT_READ}};
	_cleanup_(page_waits_clear) struct page_waits back = {};
	struct run run = begin(s);

	assert_true(book_add_rows(s->book, run.id, &page_wait_table, items, ELEMENTS(items),
			    &s->err) < 0);
	assert_done(s, book_rows(s->book, run.id, &page_wait_table, &back.items, &back.n, &s->err));
	assert_int_equal(back.n, 0);
}
