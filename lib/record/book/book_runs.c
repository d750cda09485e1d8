/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs in the lab book. An id is never used twice, even after its run was removed. */
#include "lib/record/book/query.h"

#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int run_not_there(struct book *book, int64_t id, struct error *err)
{
	return error_say(err, -ENOENT,
		"run %" PRId64 " is not in the lab book '%s'; emp-analyze list shows those that are", id,
		book->path);
}

int book_add_run(struct book *book, struct run *run, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book,
		"INSERT INTO run(program, command, purpose, state, backend, pt_source, profile, notes,"
		" task_length_ns, resolution_ns, started_ns, ended_ns, environment, cpu)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		err);
	if (r < 0)
		return r;
	query_text(&q, run->program);
	query_text(&q, run->command);
	query_text(&q, run->purpose);
	query_text(&q, run->state);
	query_text(&q, run->backend);
	query_text(&q, run->pt_source);
	query_text(&q, run->profile);
	query_text(&q, run->notes);
	query_unless(&q, run->task_length_ns, 0);
	query_int(&q, run->resolution_ns);
	query_int(&q, run->started_ns);
	query_unless(&q, run->ended_ns, 0);
	query_unless(&q, run->environment, 0);
	query_unless(&q, run->cpu, -1);
	r = query_run(&q, err);
	if (r < 0)
		return r;
	run->id = sqlite3_last_insert_rowid(book->db);
	return 0;
}

int book_begin_run(struct book *book, struct run *run, struct error *err)
{
	char *state = strdup("open");

	if (!state)
		return error_os(err, -ENOMEM, "cannot begin a run");
	free(run->state);
	run->state = state;
	run->ended_ns = 0;
	if (run->started_ns == 0)
		run->started_ns = now_ns();
	return book_add_run(book, run, err);
}

int book_end_run(struct book *book, int64_t id, const char *state, const char *notes, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book,
		"UPDATE run SET state = ?, notes = ifnull(?, notes), ended_ns = ? WHERE id = ?", err);
	if (r < 0)
		return r;
	query_text(&q, state);
	query_text(&q, notes);
	query_int(&q, now_ns());
	query_int(&q, id);
	r = query_run(&q, err);
	if (r < 0)
		return r;
	return sqlite3_changes(book->db) ? 0 : run_not_there(book, id, err);
}

#define RUN_COLUMNS                                                                                        \
	"SELECT id, program, command, purpose, state, backend, pt_source, profile, notes, task_length_ns," \
	" resolution_ns, started_ns, ended_ns, environment, cpu,"                                          \
	" (SELECT count(*) FROM sample WHERE run = run.id) FROM run"

static int analysis_load(struct query *q, struct run *ret, struct error *err)
{
	*ret = (struct run){
		.id = query_column(q, 0),
		.program = query_column_text(q, 1),
		.command = query_column_text(q, 2),
		.purpose = query_column_text(q, 3),
		.state = query_column_text(q, 4),
		.backend = query_column_text(q, 5),
		.pt_source = query_column_text(q, 6),
		.profile = query_column_text(q, 7),
		.notes = query_column_text(q, 8),
		.task_length_ns = query_column(q, 9),
		.resolution_ns = query_column(q, 10),
		.started_ns = query_column(q, 11),
		.ended_ns = query_column(q, 12),
		.environment = query_column(q, 13),
		.cpu = (int)query_column_or(q, 14, -1),
		.n_samples = (uint32_t)query_column(q, 15),
	};
	return query_done(q, err);
}

int book_get_run(struct book *book, int64_t id, struct run *ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(run_clearp) struct run run = {};
	int r;

	r = query_begin(&q, book, RUN_COLUMNS " WHERE id = ?", err);
	if (r < 0)
		return r;
	query_int(&q, id);
	r = query_step(&q, err);
	if (r < 0)
		return r;
	if (r == 0)
		return run_not_there(book, id, err);
	r = analysis_load(&q, &run, err);
	if (r < 0)
		return r;
	*ret = run;
	run = (struct run){};
	return 0;
}

struct runs {
	struct run *items;
	size_t n, capacity;
};

static void runs_clear(struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		run_clear(&runs->items[i]);
	free(runs->items);
}

static int collect_runs(struct query *q, struct runs *runs, struct error *err)
{
	int r;

	for (;;) {
		r = query_step(q, err);
		if (r <= 0)
			return r;
		if (runs->n == runs->capacity) {
			size_t capacity = runs->capacity ? 2 * runs->capacity : 16;
			struct run *bigger = reallocarray(runs->items, capacity, sizeof(*bigger));

			if (!bigger)
				return error_os(err, -ENOMEM, "cannot list the runs");
			runs->items = bigger;
			runs->capacity = capacity;
		}
		r = analysis_load(q, &runs->items[runs->n++], err);
		if (r < 0)
			return r;
	}
}

int book_runs(struct book *book, struct run **ret, size_t *ret_n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(runs_clear) struct runs runs = {};
	int r;

	r = query_begin(&q, book, RUN_COLUMNS " ORDER BY id", err);
	if (r < 0)
		return r;
	r = collect_runs(&q, &runs, err);
	if (r < 0)
		return r;
	*ret_n = runs.n;
	*ret = TAKE(runs.items);
	runs.n = 0;
	return 0;
}

static int remove_rows(struct book *book, const char *sql, int64_t id, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book, sql, err);
	if (r < 0)
		return r;
	query_int(&q, id);
	r = query_run(&q, err);
	return r < 0 ? r : sqlite3_changes(book->db) > 0;
}

int book_remove_run(struct book *book, int64_t id, struct error *err)
{
	bool own;
	int r;

	r = book_join(book, &own, err);
	if (r < 0)
		return r;
	/* the cascade would look for the executions of each sample alone; this is one stretch of the table */
	r = remove_rows(book, "DELETE FROM execution WHERE run = ?", id, err);
	if (r >= 0)
		r = remove_rows(book, "DELETE FROM run WHERE id = ?", id, err);
	if (r == 0)
		r = run_not_there(book, id, err);
	r = book_leave(book, own, r, err);
	return r < 0 ? r : 0;
}
