/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs: see book_runs.h. */
#include "lib/book/book_runs.h"

#include "lib/book/book_internal.h"
#include "lib/book/book_machines.h"
#include "lib/book/book_profiles.h"
#include "lib/book/sql.h"
#include "lib/host/process/process.h"

static int run_not_there(struct book *book, int64_t id, struct error *err)
{
	return error_say(err, -ENOENT,
		"run %" PRId64 " is not in the lab book '%s'; 'emp-analyze list' shows its runs",
		id, book->path);
}

int book_add_run(struct book *book, struct run *run, struct error *err)
{
	_cleanup_(freep) char *uid = NULL;
	int r;

	/* if the uid is in the book already, the new run is a copy and gets a new one */
	r = sql_row(book, err,
		"SELECT lower(hex(randomblob(16))) WHERE ?1 = '' OR EXISTS (SELECT 1 FROM run"
		" WHERE uid = ?1)",
		"t:T", run->uid, &uid);
	if (r > 0)
		snprintf(run->uid, sizeof(run->uid), "%s", uid);
	/* the profile of that name as it is now, so that the run keeps it if it is replaced */
	if (r >= 0 && run->profile && run->profile_id == 0)
		r = sql_row(book, err,
			"SELECT id FROM profile WHERE name = ? AND retired_ns IS NULL", "t:I",
			run->profile, &run->profile_id);
	if (r >= 0)
		r = sql_insert(book, err, &run_table, "", run, 1, "");
	if (r >= 0)
		run->id = sqlite3_last_insert_rowid(book->db);
	return r;
}

/* Adds it with what its environment is known for. */
static int add_begun_run(struct book *book, struct run *run, struct error *err)
{
	int r = 0;

	if (run->environment)
		r = book_get_correlation(
			book, run->environment, run->inc_digest, &run->correlation, err);
	if (r < 0)
		return r;
	return book_add_run(book, run, err);
}

int book_begin_run(struct book *book, struct run *run, struct error *err)
{
	char *owner = run->owner;
	int r;

	run->state = RUN_OPEN;
	run->ended_ns = 0;
	if (run->started_ns == 0)
		run->started_ns = clock_ns(CLOCK_REALTIME);
	run->owner = (char *)process_ref(getpid()); /* for the book only */
	book_unsynced(book);
	r = BOOK_ATOMIC_RETRIED(book, add_begun_run(book, run, err), err);
	run->owner = owner;
	return r;
}

int book_end_run(
	struct book *book, int64_t id, enum run_state state, const char *notes, struct error *err)
{
	int r = BOOK_ATOMIC_RETRIED(book,
		sql_row(book, err,
			"UPDATE run SET state = ?, notes = ifnull(?, notes), ended_ns = ?"
			" WHERE id = ? RETURNING 1",
			"ttii", run_state_names[state], notes, clock_ns(CLOCK_REALTIME), id),
		err);

	if (r == 0)
		return run_not_there(book, id, err);
	return r < 0 ? r : 0;
}

static int put_run_text(
	struct book *book, int64_t id, const char *statement, const char *text, struct error *err)
{
	int r = BOOK_ATOMIC_RETRIED(book, sql_row(book, err, statement, "ti", text, id), err);

	if (r == 0)
		return run_not_there(book, id, err);
	return r < 0 ? r : 0;
}

int book_put_held_back(struct book *book, int64_t id, const char *by, struct error *err)
{
	return put_run_text(
		book, id, "UPDATE run SET held_back_by = ? WHERE id = ? RETURNING 1", by, err);
}

int book_put_in_turn(struct book *book, int64_t id, const char *wait_source, struct error *err)
{
	return put_run_text(book, id,
		"UPDATE run SET kind = 'measure', wait_source = ? WHERE id = ? RETURNING 1",
		wait_source, err);
}

int book_put_program_digest(struct book *book, int64_t id, const char *digest, struct error *err)
{
	return put_run_text(book, id, "UPDATE run SET program_digest = ? WHERE id = ? RETURNING 1",
		digest, err);
}

int book_put_output_digest(struct book *book, int64_t id, const char *digest, struct error *err)
{
	return put_run_text(
		book, id, "UPDATE run SET output_digest = ? WHERE id = ? RETURNING 1", digest, err);
}

int book_find_run(struct book *book, const char *name, int64_t *ret, struct error *err)
{
	int64_t n = 0;
	int r = sql_row(book, err,
		"SELECT ifnull(max(id), 0), count(*) FROM run WHERE ?1 IS NULL OR name = ?1",
		"t:II", name, ret, &n);

	if (r < 0)
		return r;
	return (int)(n < INT32_MAX ? n : INT32_MAX);
}

int book_get_run(struct book *book, int64_t id, struct run *ret, struct error *err)
{
	_cleanup_(run_clear) struct run run = {};
	int r = sql_one(book, err, &run_table, "WHERE id = ?", &run, "i", id);

	if (r <= 0)
		return r < 0 ? r : run_not_there(book, id, err);
	if (run.state == RUN_OPEN &&
		!process_ref_pid(run.owner)) /* only the system knows whether it is alive */
		run.state = RUN_INTERRUPTED;
	*ret = TAKE_STRUCT(run);
	return 0;
}

int book_runs(struct book *book, struct run **ret, size_t *ret_n, struct error *err)
{
	int r = sql_all(book, err, &run_table, "ORDER BY id", ret, ret_n, "");

	for (size_t i = 0; r >= 0 && i < *ret_n; i++)
		if ((*ret)[i].state == RUN_OPEN && !process_ref_pid((*ret)[i].owner))
			(*ret)[i].state = RUN_INTERRUPTED;
	return r;
}

static const struct field resume_point_fields[] = {
	{FIELD(resume_point, FIELD_UINT32, n), .min = 2},
	{FIELD(resume_point, FIELD_INT64, at_ns), .max = JSON_MOMENT_MAX},
	{FIELD(resume_point, FIELD_TEXT, why)},
	{FIELD(resume_point, FIELD_INT64, environment), IS_OPTIONAL, .min = 1,
		.refers = FIELD_TO_ENVIRONMENT},
};
const struct field_table resume_point_table = {"resume_point", "run, ", resume_point_fields,
	ELEMENTS(resume_point_fields), sizeof(struct resume_point)};

static int reopen_run(struct book *book, int64_t id, int64_t environment, struct error *err)
{
	_cleanup_(run_clear) struct run run = {};
	int r;

	r = book_get_run(book, id, &run, err);
	if (r >= 0 && run.n_samples > 0) {
		const struct resume_point point = {
			.n = run.n_samples + 1,
			.at_ns = clock_ns(CLOCK_REALTIME),
			/* a process that is killed leaves the run open */
			.why = (char *)(run.ended_ns ? run_state_names[run.state] : "cut off"),
			.environment = environment,
		};

		r = sql_insert(book, err, &resume_point_table,
			"ON CONFLICT(run, n) DO UPDATE"
			" SET at_ns = excluded.at_ns, why = excluded.why, environment = "
			"excluded.environment",
			&point, 1, "i", id);
	}
	if (r < 0)
		return r;
	return sql_row(book, err,
		"UPDATE run SET state = 'open', ended_ns = NULL, owner = ? WHERE id = ?", "ti",
		process_ref(getpid()), id);
}

int book_reopen_run(struct book *book, int64_t run, int64_t environment, struct error *err)
{
	return BOOK_ATOMIC_RETRIED(book, reopen_run(book, run, environment, err), err);
}

int book_remove_run(struct book *book, int64_t id, bool force, struct error *err)
{
	_cleanup_(freep) char *user = NULL;
	int r = 0;

	if (!force)
		r = sql_row(book, err,
			"SELECT 'the ' || which || ' run of the profile ''' || name || ''''"
			" FROM profile_run"
			" JOIN profile ON profile.id = profile_run.profile WHERE run = ?1"
			" AND retired_ns IS NULL"
			" UNION ALL SELECT 'part of the calibration for ''' || profile || ''', "
			"which is not complete'"
			" FROM calibration WHERE state = 'open' AND ?1 IN (short_run, long_run)"
			" UNION ALL SELECT 'of study ' || study || ', ' || name || ' (emp-study"
			" remove ' || study || ' deletes all of it)'"
			" FROM study_run JOIN study_block ON study_block.id = block"
			" JOIN study ON study.id = study WHERE run = ?1"
			" LIMIT 1",
			"i:T", id, &user);
	if (r > 0)
		return error_say(err, -EBUSY, "run %" PRId64 " is %s", id, user);
	/* the cascade would delete the executions of each sample separately; this is one range of
	 * the table */
	if (r >= 0)
		r = sql_row(book, err, "DELETE FROM execution WHERE run = ?", "i", id);
	if (r >= 0)
		r = sql_row(book, err, "DELETE FROM run WHERE id = ? RETURNING 1", "i", id);
	if (r == 0)
		return run_not_there(book, id, err);
	return r < 0 ? r : book_prune_profiles(book, err);
}

static const struct field mean_fields[] = {
	{FIELD(run_mean, FIELD_INT64, run), .min = 1, .expression = "run.id"},
	{FIELD(run_mean, FIELD_INT64, started_ns), .expression = "min(start_ns)"},
	{FIELD(run_mean, FIELD_INT64, ended_ns), .expression = "max(start_ns + et_ns)"},
	{FIELD(run_mean, FIELD_REAL, mean_ns), .expression = "avg(iif(?2, et_ns, pt_ns))"},
	{FIELD(run_mean, FIELD_INT64, n_samples), .expression = "count(*)"},
};
static const struct field_table mean_table = {
	"run", "", mean_fields, ELEMENTS(mean_fields), sizeof(struct run_mean)};

/* Environments are the same here if they are one, or if the identities of their fingerprints are:
 * settings may change. */
#define SAME_IDENTITY                                                                      \
	"(there.id = here.id OR (json_valid(here.document) AND json_valid(there.document)" \
	" AND json_extract(here.document, '$.identity')"                                   \
	" = json_extract(there.document, '$.identity')))"

int book_run_means(
	struct book *book, int64_t run, bool et, struct run_means *ret, struct error *err)
{
	return sql_all(book, err, &mean_table,
		"JOIN run AS this ON this.id = ?1"
		" AND run.program = this.program AND run.command IS this.command"
		" AND run.kind = this.kind"
		" JOIN environment AS here ON here.id = this.environment"
		" JOIN environment AS there ON there.id = run.environment AND " SAME_IDENTITY
		" JOIN sample ON sample.run = run.id"
		" WHERE NOT incomplete GROUP BY run.id ORDER BY min(start_ns)",
		&ret->items, &ret->n, "ii", run, (int64_t)et);
}

static const struct field probed_fields[] = {
	{FIELD(probed_time, FIELD_INT64, run), .min = 1},
	{FIELD(probed_time, FIELD_INT64, pt_ns), IS_TIME},
	{FIELD(probed_time, FIELD_INT64, neighbour_ppm), .max = PPM},
	{FIELD(probed_time, FIELD_INT64, neighbour_error_ppm), .max = PPM,
		.expression = "ifnull(neighbour_error_ppm, 0)"},
};
static const struct field_table probed_table = {
	"sample", "", probed_fields, ELEMENTS(probed_fields), sizeof(struct probed_time)};

/* As many as tell enough, and are read at once. */
#define MOST_PROBED_RUNS "20"
#define MOST_PROBED_SAMPLES "500"

int book_probed_times(struct book *book, const struct run *like, struct probed_time **ret,
	size_t *ret_n, struct error *err)
{
	return sql_all(book, err, &probed_table,
		"WHERE neighbour_ppm IS NOT NULL AND NOT incomplete AND n <= " MOST_PROBED_SAMPLES
		" AND run IN (SELECT run.id FROM run"
		"  JOIN environment AS here ON here.id = ?1"
		"  JOIN environment AS there ON there.id = run.environment AND " SAME_IDENTITY
		"  WHERE run.program = ?2 AND run.command IS ?3 AND run.id <> ?4"
		"   AND EXISTS (SELECT 1 FROM sample WHERE sample.run = run.id"
		"    AND neighbour_ppm > 0)"
		"  ORDER BY run.id DESC LIMIT " MOST_PROBED_RUNS ") ORDER BY run, n",
		ret, ret_n, "itti", like->environment, like->program, like->command, like->id);
}

int book_mean_pt(struct book *book, int64_t run, double *ret_ns, struct error *err)
{
	int r = sql_row(
		book, err, "SELECT avg(pt_ns) FROM sample WHERE run = ?", "i:D", run, ret_ns);

	return r < 0 ? r : 0;
}

static int replace_notes(
	struct book *book, int64_t run, const struct note *notes, size_t n, struct error *err)
{
	int r = sql_row(book, err, "DELETE FROM note WHERE run = ?", "i", run);

	return r ?: sql_insert(book, err, &note_table, "", notes, n, "i", run);
}

int book_put_notes(
	struct book *book, int64_t run, const struct note *notes, size_t n, struct error *err)
{
	book_unsynced(book);
	return BOOK_ATOMIC_RETRIED(book, replace_notes(book, run, notes, n, err), err);
}

int book_rows(struct book *book, int64_t run, const struct field_table *table, void *ret,
	size_t *ret_n, struct error *err)
{
	return sql_all(book, err, table, "WHERE run = ? ORDER BY 1, 2", ret, ret_n, "i", run);
}

int book_add_rows(struct book *book, int64_t run, const struct field_table *table, const void *rows,
	size_t n, struct error *err)
{
	return BOOK_ATOMIC_RETRIED(book, sql_insert(book, err, table, "", rows, n, "i", run), err);
}
