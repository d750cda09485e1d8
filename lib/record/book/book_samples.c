/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples and executions in the lab book: one transaction a sample, and the walk over millions of them. */
#include "lib/record/book/query.h"

#include <errno.h>
#include <inttypes.h>

static int add_sample_row(struct book *book, int64_t run, const struct sample *sample, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book, "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", err);
	if (r < 0)
		return r;
	query_int(&q, run);
	query_int(&q, sample->n);
	query_int(&q, sample->start_ns);
	query_int(&q, sample->et_ns);
	query_int(&q, sample->pt_ns);
	query_unless(&q, sample->user_ns, -1);
	query_unless(&q, sample->system_ns, -1);
	query_unless(&q, sample->max_rss_bytes, -1);
	query_unless(&q, sample->observer_ns, -1);
	query_int(&q, sample->lost);
	query_unless(&q, sample->exit_status, -1);
	query_int(&q, sample->left_behind);
	query_int(&q, sample->incomplete);
	r = query_run(&q, err);
	switch (r < 0 ? sqlite3_extended_errcode(book->db) : SQLITE_OK) {
	case SQLITE_CONSTRAINT_PRIMARYKEY:
		return error_say(err, -EEXIST,
			"run %" PRId64 " in the lab book '%s' has a sample %" PRIu32 " already", run,
			book->path, sample->n);
	case SQLITE_CONSTRAINT_FOREIGNKEY:
		return error_say(err, -ENOENT,
			"run %" PRId64 " is not in the lab book '%s' any more, so sample %" PRIu32
			" cannot be stored",
			run, book->path, sample->n);
	}
	return r;
}

static int add_execution_rows(struct book *book, int64_t run, uint32_t sample,
	const struct execution *executions, size_t n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book, "INSERT INTO execution VALUES (?, ?, ?, ?, ?, ?, ?)", err);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		query_int(&q, run);
		query_int(&q, sample);
		query_int(&q, i + 1);
		query_int(&q, executions[i].daemon);
		query_int(&q, executions[i].pt_ns);
		query_unless(&q, executions[i].pid, 0);
		query_unless(&q, executions[i].tick_ns, -1);
		r = query_run(&q, err);
	}
	return r;
}

int book_add_sample(struct book *book, int64_t run, const struct sample *sample,
	const struct execution *executions, size_t n_executions, struct error *err)
{
	bool own;
	int r;

	r = book_join(book, &own, err);
	if (r < 0)
		return r;
	r = add_sample_row(book, run, sample, err);
	if (r >= 0)
		r = add_execution_rows(book, run, sample->n, executions, n_executions, err);
	return book_leave(book, own, r, err);
}

static struct sample read_sample(struct query *q)
{
	return (struct sample){
		.n = (uint32_t)query_column(q, 0),
		.start_ns = query_column(q, 1),
		.et_ns = query_column(q, 2),
		.pt_ns = query_column(q, 3),
		.user_ns = query_column_or(q, 4, -1),
		.system_ns = query_column_or(q, 5, -1),
		.max_rss_bytes = query_column_or(q, 6, -1),
		.observer_ns = query_column_or(q, 7, -1),
		.lost = query_column(q, 8),
		.exit_status = (int)query_column_or(q, 9, -1),
		.left_behind = (int)query_column(q, 10),
		.incomplete = query_column(q, 11),
	};
}

int book_samples(struct book *book, int64_t run, struct sample **ret, size_t *ret_n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(freep) struct sample *samples = NULL;
	size_t n = 0, capacity = 0;
	int r;

	r = query_begin(&q, book,
		"SELECT n, start_ns, et_ns, pt_ns, user_ns, system_ns, max_rss_bytes, observer_ns, lost, "
		"exit_status,"
		" left_behind, incomplete FROM sample WHERE run = ? ORDER BY n",
		err);
	if (r < 0)
		return r;
	query_int(&q, run);
	for (;;) {
		r = query_step(&q, err);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		if (n == capacity) {
			struct sample *bigger;

			capacity = capacity ? 2 * capacity : 64;
			bigger = reallocarray(samples, capacity, sizeof(*samples));
			if (!bigger)
				return error_os(err, -ENOMEM, "cannot read the samples of run %" PRId64, run);
			samples = bigger;
		}
		samples[n++] = read_sample(&q);
	}
	*ret = TAKE(samples);
	*ret_n = n;
	return 0;
}
