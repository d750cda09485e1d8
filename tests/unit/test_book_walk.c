/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walking over all executions of a run, and reading while somebody writes. */
#include "tests/unit/book_file.h"

#include <errno.h>

/* Run 1 gets n samples with two executions each: daemon 1 for n ns, daemon 2 for 2 n ns. */
static void fill(struct scratch *s, uint32_t from, uint32_t to)
{
	struct execution e[] = {{.tick_ns = 4000000, .pid = 42}, {.tick_ns = -1}};

	e[0].source = scratch_source(s, "cron", SOURCE_PROCESS);
	e[1].source = scratch_source(s, "sshd", SOURCE_PROCESS);
	assert_done(s, book_begin(s->book, &s->err));
	for (uint32_t n = from; n <= to; n++) {
		e[0].pt_ns = n;
		e[1].pt_ns = 2 * n;
		scratch_add(s, 1, n, e, 2);
	}
	assert_done(s, book_commit(s->book, &s->err));
}

static int with_filled_book(void **state)
{
	int r = scratch_with_book(state);

	if (r == 0) {
		_cleanup_(run_clear) struct run run = scratch_begin(*state, "INC128");

		fill(*state, 1, 300);
	}
	return r;
}

#define TEST_IN_FILLED_BOOK(name) TEST_IN_SCRATCH(name, with_filled_book)

struct seen {
	int n, stop_at, stop_with;
	uint32_t sample;
	int64_t sum_ns, pids, ticks;
	struct book *book; /* to read in while it is walked */
};

static int look(void *data, const struct execution *e, struct error *err)
{
	struct seen *seen = data;

	assert_true(e->sample >= seen->sample);
	assert_int_equal(e->source, seen->n % 2 + 1);
	assert_int_equal(e->pt_ns, e->source * e->sample);
	seen->sample = e->sample;
	seen->sum_ns += e->pt_ns;
	seen->pids += e->pid;
	seen->ticks += e->tick_ns;
	seen->n++;
	return seen->n == seen->stop_at ? seen->stop_with : 0;
}

TEST_IN_FILLED_BOOK(every_execution_is_met_in_the_order_of_samples)
{
	struct seen seen = {};

	assert_int_equal(book_each_execution(s->book, 1, look, &seen, &s->err), 0);
	assert_int_equal(seen.n, 600);
	assert_int_equal(seen.sample, 300);
	assert_int_equal(seen.sum_ns, 3 * 300 * 301 / 2);
	assert_int_equal(seen.pids, 300 * 42);
	assert_int_equal(seen.ticks, 300 * (4000000 - 1));
}

TEST_IN_FILLED_BOOK(the_quick_walk_meets_the_same_times)
{
	struct seen seen = {};

	assert_int_equal(book_each_time(s->book, 1, look, &seen, &s->err), 0);
	assert_int_equal(seen.n, 600);
	assert_int_equal(seen.sum_ns, 3 * 300 * 301 / 2);
	assert_int_equal(seen.pids, 12600);
	assert_int_equal(seen.ticks, -600);
}

TEST_IN_FILLED_BOOK(a_run_without_executions_is_a_walk_without_steps)
{
	struct seen seen = {};

	assert_int_equal(book_each_execution(s->book, 99, look, &seen, &s->err), 0);
	assert_int_equal(seen.n, 0);
}

TEST_IN_FILLED_BOOK(a_walk_ends_where_it_is_told_to_and_hands_back_why)
{
	struct seen first = {.stop_at = 7, .stop_with = 12},
		    second = {.stop_at = 8, .stop_with = -ECANCELED}, all = {};

	assert_int_equal(book_each_execution(s->book, 1, look, &first, &s->err), 12);
	assert_int_equal(first.n, 7);
	strcpy(s->err.text, "mine");
	assert_int_equal(book_each_time(s->book, 1, look, &second, &s->err), -ECANCELED);
	assert_int_equal(second.n, 8);
	assert_string_equal(s->err.text, "mine");
	assert_int_equal(book_each_execution(s->book, 1, look, &all, &s->err), 0);
	assert_int_equal(all.n, 600);
}

static int walk_within(void *data, const struct execution *e, struct error *err)
{
	struct seen *outer = data, inner = {};
	_cleanup_(freep) struct execution *executions = NULL;
	size_t n;

	assert_int_equal(book_executions(outer->book, 1, e->sample, &executions, &n, err), 0);
	assert_int_equal(n, 2);
	if (outer->n == 100)
		assert_int_equal(book_each_time(outer->book, 1, look, &inner, err), 0);
	outer->sum_ns += inner.n;
	return look(data, e, err);
}

TEST_IN_FILLED_BOOK(a_walk_may_read_the_book_at_each_step)
{
	struct seen seen = {.book = s->book};

	assert_int_equal(book_each_execution(s->book, 1, walk_within, &seen, &s->err), 0);
	assert_int_equal(seen.n, 600);
	assert_int_equal(seen.sum_ns, 3 * 300 * 301 / 2 + 600);
}

TEST_IN_FILLED_BOOK(a_walk_keeps_to_its_run)
{
	_cleanup_(run_clear) struct run second = scratch_begin(s, "xz"),
					third = scratch_begin(s, "xz");
	struct execution e = {.source = 1, .pt_ns = 301, .tick_ns = -1};
	struct seen first = {}, none = {}, last = {};

	scratch_add(s, third.id, 301, &e, 1); /* as if it went on where run 1 ends */
	assert_int_equal(book_each_time(s->book, 1, look, &first, &s->err), 0);
	assert_int_equal(first.n, 600);
	assert_int_equal(book_each_execution(s->book, second.id, look, &none, &s->err), 0);
	assert_int_equal(none.n, 0);
	assert_int_equal(book_each_execution(s->book, third.id, look, &last, &s->err), 0);
	assert_int_equal(last.n, 1);
}

TEST_IN_FILLED_BOOK(an_execution_of_a_daemon_that_is_not_there_is_damage)
{
	struct seen seen = {};

	/* as a fault of the disk would */
	sql(s->path, "PRAGMA foreign_keys = OFF; UPDATE execution SET source = 3 WHERE sample = 2 "
		     "AND seq = 1");
	assert_int_equal(book_each_execution(s->book, 1, look, &seen, &s->err), -EBADMSG);
	assert_int_equal(seen.n, 2);
	assert_says(s, "is damaged: an execution is out of order, of an unknown source");
}

TEST_IN_FILLED_BOOK(daemons_with_a_gap_in_their_numbers_are_damage)
{
	_cleanup_(sources_clear) struct sources all = {};

	/* as a fault of the disk would */
	sql(s->path, "PRAGMA foreign_keys = OFF; UPDATE source SET id = 7 WHERE id = 2");
	assert_int_equal(book_sources(s->book, &all, &s->err), -EBADMSG);
	assert_says(s, "its sources are not numbered 1, 2, 3 and so on");
}

TEST_IN_FILLED_BOOK(a_reader_sees_one_state_while_a_writer_goes_on)
{
	_cleanup_(book_freep) struct book *feed = NULL;
	_cleanup_(run_clear) struct run before = {}, within = {}, after = {};

	assert_done(s, book_open(&feed, s->path, BOOK_READ, &s->err));
	assert_done(s, book_begin(feed, &s->err));
	assert_done(s, book_get_run(feed, 1, &before, &s->err));
	fill(s, 301, 310);
	assert_done(s, book_get_run(feed, 1, &within, &s->err));
	assert_int_equal(before.n_samples, 300);
	assert_int_equal(within.n_samples, 300);
	assert_done(s, book_commit(feed, &s->err));
	assert_done(s, book_get_run(feed, 1, &after, &s->err));
	assert_int_equal(after.n_samples, 310);
}

TEST_IN_FILLED_BOOK(the_log_is_empty_after_a_checkpoint_and_kept_while_a_reader_needs_it)
{
	_cleanup_(book_freep) struct book *feed = NULL;
	_cleanup_(run_clear) struct run run = {}, again = {};
	char log[128];
	struct stat st;

	snprintf(log, sizeof(log), "%s-wal", s->path);
	assert_int_equal(stat(log, &st), 0);
	assert_true(st.st_size > 0);
	assert_done(s, book_open(&feed, s->path, BOOK_READ, &s->err));
	assert_done(s, book_begin(feed, &s->err));
	assert_done(s, book_get_run(feed, 1, &run, &s->err));
	fill(s, 301, 310);
	assert_done(s, book_checkpoint(s->book, &s->err)); /* at once, whatever the reader does */
	assert_done(s, book_get_run(feed, 1, &again, &s->err));
	assert_int_equal(again.n_samples, 300);
	assert_done(s, book_commit(feed, &s->err));
	assert_done(s, book_checkpoint(s->book, &s->err));
	assert_int_equal(stat(log, &st), 0);
	assert_int_equal(st.st_size, 0);
}
