/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page waits, in the book. */
#include "tests/unit/scratch.h"

#include "lib/load/book_load.h"

static struct run begin(struct scratch *s)
{
	struct run run = {.program = (char *)"load.ini", .kind = RUN_LOAD, .resolution_ns = 1, .cpu = -1};
	struct sample sample = scratch_sample(1);

	assert_done(s, book_begin_run(s->book, &run, &s->err));
	for (; sample.n <= 2; sample.n++)
		assert_done(s, book_add_sample(s->book, run.id, &sample, NULL, 0, &s->err));
	return run;
}

TEST_IN_BOOK(they_come_back_by_sample_kind_and_length)
{
	static struct page_wait items[] = {
		{1, PAGE_WAIT_SLAVE, 3, 12000, 700, 0},
		{1, PAGE_WAIT_READ, 1, 5000, -1, 2},
		{1, PAGE_WAIT_WRITE, 0, 0, -1, 0},
		{2, PAGE_WAIT_SLAVE, 0, 0, 0, 0},
	};
	static struct page_wait_bin bins[] = {
		{1, PAGE_WAIT_SLAVE, 0, 10000, 2, 1999},
		{1, PAGE_WAIT_SLAVE, 1000000000, -1, 1, 10001},
		{1, PAGE_WAIT_READ, 0, 10000, 1, 5000},
	};
	const struct page_waits put = {items, ELEMENTS(items), bins, ELEMENTS(bins)};
	_cleanup_(page_waits_clear) struct page_waits back = {};
	struct run run = begin(s);

	assert_done(s, book_add_page_waits(s->book, run.id, &put, &s->err));
	assert_done(s, book_page_waits(s->book, run.id, &back, &s->err));
	assert_int_equal(back.n, put.n);
	assert_int_equal(back.n_bins, put.n_bins);
	for (size_t i = 0; i < put.n; i++) {
		const struct page_wait *a = &back.items[i], *b = &items[i];

		assert_int_equal(a->sample, b->sample);
		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->count, b->count);
		assert_int_equal(a->total_ns, b->total_ns);
		assert_int_equal(a->ready_ns, b->ready_ns);
		assert_int_equal(a->lost, b->lost);
	}
	for (size_t i = 0; i < put.n_bins; i++) {
		const struct page_wait_bin *a = &back.bins[i], *b = &bins[i];

		assert_int_equal(a->sample, b->sample);
		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->low_ns, b->low_ns);
		assert_int_equal(a->high_ns, b->high_ns);
		assert_int_equal(a->count, b->count);
		assert_int_equal(a->total_ns, b->total_ns);
	}
}

TEST_IN_BOOK(those_of_no_sample_are_refused_and_nothing_is_kept)
{
	static struct page_wait items[] = {
		{.sample = 1, .kind = PAGE_WAIT_READ}, {.sample = 3, .kind = PAGE_WAIT_READ}};
	const struct page_waits put = {.items = items, .n = ELEMENTS(items)};
	_cleanup_(page_waits_clear) struct page_waits back = {};
	struct run run = begin(s);

	assert_true(book_add_page_waits(s->book, run.id, &put, &s->err) < 0);
	assert_done(s, book_page_waits(s->book, run.id, &back, &s->err));
	assert_int_equal(back.n, 0);
}
