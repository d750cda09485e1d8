/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading executions back from the lab book: those of one sample, or the walk over all of a run. */
#include "lib/record/query.h"

#include <errno.h>
#include <inttypes.h>

static int highest_daemon(struct book *book, int64_t *ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book, "SELECT ifnull(max(id), 0) FROM daemon", err);
	if (r < 0)
		return r;
	r = query_step(&q, err);
	if (r > 0)
		*ret = query_column(&q, 0);
	return r;
}

static int read_execution(struct query *q, int64_t n_daemons, struct execution *ret, struct error *err)
{
	int64_t daemon = query_column(q, 1);

	if (daemon < 1 || daemon > n_daemons)
		return error_say(err, -EBADMSG,
			"the lab book '%s' is damaged: an execution names daemon %" PRId64
			", and there is none of that number; go back to a copy of it that is whole",
			q->book->path, daemon);
	*ret = (struct execution){
		.sample = (uint32_t)query_column(q, 0),
		.daemon = (uint32_t)daemon,
		.pid = (pid_t)query_column(q, 2),
		.pt_ns = query_column(q, 3),
		.tick_ns = query_column_or(q, 4, -1),
	};
	return 0;
}

int book_each_execution(struct book *book, int64_t run, book_each *each, void *data, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	struct execution execution;
	int64_t n_daemons = 0;
	int r;

	r = query_begin(&q, book,
		"SELECT sample, daemon, pid, pt_ns, tick_ns FROM execution WHERE run = ? ORDER BY sample, "
		"seq",
		err);
	if (r < 0)
		return r;
	query_int(&q, run);
	r = highest_daemon(book, &n_daemons, err);
	while (r >= 0) {
		r = query_step(&q, err);
		if (r <= 0)
			return r;
		r = read_execution(&q, n_daemons, &execution, err);
		if (r < 0)
			return r;
		r = each(&execution, data);
		if (r != 0)
			return r;
	}
	return r;
}

int book_executions(struct book *book, int64_t run, uint32_t sample, struct execution **ret, size_t *ret_n,
	struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(freep) struct execution *executions = NULL;
	int64_t n_daemons = 0;
	size_t n = 0, room = 0;
	int r;

	r = highest_daemon(book, &n_daemons, err);
	if (r < 0)
		return r;
	r = query_begin(&q, book,
		"SELECT sample, daemon, pid, pt_ns, tick_ns FROM execution WHERE run = ? AND sample = ? "
		"ORDER BY seq",
		err);
	if (r < 0)
		return r;
	query_int(&q, run);
	query_int(&q, sample);
	for (;;) {
		r = query_step(&q, err);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		if (n == room) {
			struct execution *bigger;

			room = room ? 2 * room : 64;
			bigger = reallocarray(executions, room, sizeof(*executions));
			if (!bigger)
				return error_os(
					err, -ENOMEM, "cannot read the executions of run %" PRId64, run);
			executions = bigger;
		}
		r = read_execution(&q, n_daemons, &executions[n], err);
		if (r < 0)
			return r;
		n++;
	}
	*ret = TAKE(executions);
	*ret_n = n;
	return 0;
}
