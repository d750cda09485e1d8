/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs in the lab book. An id is never used twice, even after its run was removed. */
#include "lib/book/query.h"

#include "lib/base/clock.h"
#include "lib/host/process/process.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int run_not_there(struct book *book, int64_t id, struct error *err)
{
	return error_say(err, -ENOENT,
		"run %" PRId64 " is not in the lab book '%s'; 'emp-analyze list' shows its runs", id,
		book->path);
}

/* If the uid is in the book already, the new run is a copy and gets a new one. */
static int choose_uid(struct book *book, struct run *run, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(&q, book,
		"SELECT lower(hex(randomblob(16))) WHERE ?1 = '' OR EXISTS (SELECT 1 FROM run WHERE uid = ?1)",
		err);
	query_text(&q, run->uid);
	r = query_step(&q, err);
	if (r > 0)
		snprintf(run->uid, sizeof(run->uid), "%s", (const char *)sqlite3_column_text(q.stmt, 0));
	return r;
}

/* The profile of that name as it is now, so that the run keeps it if it is replaced. */
static int choose_profile(struct book *book, struct run *run, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	if (!run->profile || run->profile_id)
		return 0;
	query_begin(&q, book, "SELECT id FROM profile WHERE name = ? AND retired_ns IS NULL", err);
	query_text(&q, run->profile);
	r = query_step(&q, err);
	if (r > 0)
		run->profile_id = query_column(&q, 0);
	return r;
}

int book_add_run(struct book *book, struct run *run, struct error *err)
{
	int r = choose_uid(book, run, err);

	if (r >= 0)
		r = choose_profile(book, run, err);
	return r < 0 ? r : query_add(book, &run_table, run, &run->id, err);
}

static int begin_run(struct book *book, struct run *run, struct error *err)
{
	int r = run->environment ? book_get_correlation(book, run->environment, &run->correlation, err) : 0;

	return r < 0 ? r : book_add_run(book, run, err);
}

int book_begin_run(struct book *book, struct run *run, struct error *err)
{
	char self[PROCESS_REF_SIZE], *owner = run->owner;
	int r;

	run->state = RUN_OPEN;
	run->ended_ns = 0;
	if (run->started_ns == 0)
		run->started_ns = clock_ns(CLOCK_REALTIME);
	run->owner = process_ref_self(self); /* for the book only */
	book_unsynced(book);
	r = BOOK_ATOMIC(book, begin_run(book, run, err), err);
	run->owner = owner;
	return r;
}

int book_set_times(
	struct book *book, int64_t run, int64_t started_ns, int64_t ended_ns, struct error *err)
{
	_cleanup_(query_end) struct query q = {};

	query_begin(&q, book, "UPDATE run SET started_ns = ?, ended_ns = ? WHERE id = ?", err);
	query_int(&q, started_ns);
	query_unless(&q, ended_ns, 0);
	query_int(&q, run);
	return query_run(&q, err);
}

static int end_run(struct book *book, int64_t id, enum run_state state, const char *notes, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(&q, book, "UPDATE run SET state = ?, notes = ifnull(?, notes), ended_ns = ? WHERE id = ?",
		err);
	query_text(&q, run_state_names[state]);
	query_text(&q, notes);
	query_int(&q, clock_ns(CLOCK_REALTIME));
	query_int(&q, id);
	r = query_run(&q, err);
	if (r < 0)
		return r;
	return sqlite3_changes(book->db) ? 0 : run_not_there(book, id, err);
}

int book_end_run(struct book *book, int64_t id, enum run_state state, const char *notes, struct error *err)
{
	return BOOK_ATOMIC(book, end_run(book, id, state, notes, err), err);
}

/* Whether the owner of a run that was not ended is alive, only the system knows. */
static void settle_state(struct run *run)
{
	if (run->state == RUN_OPEN && !process_ref_pid(run->owner))
		run->state = RUN_INTERRUPTED;
}

int book_get_run(struct book *book, int64_t id, struct run *ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(run_clear) struct run run = {};
	int r;

	query_select(&q, book, &run_table, "WHERE id = ?", err);
	query_int(&q, id);
	r = query_row(&q, &run_table, &run, err);
	if (r == 0)
		return run_not_there(book, id, err);
	if (r < 0)
		return r;
	settle_state(&run);
	*ret = TAKE_STRUCT(run);
	return 0;
}

int book_runs(struct book *book, struct run **ret, size_t *ret_n, struct error *err)
{
	int r = query_all(book, &run_table, "ORDER BY id", 0, ret, ret_n, err);

	for (size_t i = 0; r >= 0 && i < *ret_n; i++)
		settle_state(&(*ret)[i]);
	return r;
}

static int remove_rows(struct book *book, const char *sql, int64_t id, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(&q, book, sql, err);
	query_int(&q, id);
	r = query_run(&q, err);
	return r < 0 ? r : sqlite3_changes(book->db) > 0;
}

/* -EBUSY with a sentence that names what refers to the run. */
static int check_unused(struct book *book, int64_t id, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(&q, book,
		"SELECT 'the ' || which || ' run of the profile ''' || name || '''' FROM profile_run"
		" JOIN profile ON profile.id = profile_run.profile WHERE run = ?1 AND retired_ns IS NULL"
		" UNION ALL SELECT 'part of the calibration for ''' || profile || ''', which is not complete'"
		" FROM calibration WHERE state = 'open' AND ?1 IN (short_run, long_run) LIMIT 1",
		err);
	query_int(&q, id);
	r = query_step(&q, err);
	if (r <= 0)
		return r;
	return error_say(
		err, -EBUSY, "run %" PRId64 " is %s", id, (const char *)sqlite3_column_text(q.stmt, 0));
}

static int remove_run(struct book *book, int64_t id, bool force, struct error *err)
{
	int r = force ? 0 : check_unused(book, id, err);

	/* the cascade would delete the executions of each sample separately; this is one range of the table */
	if (r >= 0)
		r = remove_rows(book, "DELETE FROM execution WHERE run = ?", id, err);
	if (r >= 0)
		r = remove_rows(book, "DELETE FROM run WHERE id = ?", id, err);
	if (r == 0)
		return run_not_there(book, id, err);
	return r < 0 ? r : book_prune_profiles(book, err);
}

int book_remove_run(struct book *book, int64_t id, bool force, struct error *err)
{
	int r = BOOK_ATOMIC(book, remove_run(book, id, force, err), err);

	return r < 0 ? r : 0;
}
