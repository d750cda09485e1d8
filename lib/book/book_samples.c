/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples and executions: see book_samples.h. Executions are read by an aggregate function, because
 * stepping through the rows takes twice as long as a function that SQLite calls for each. */
#include "lib/book/book_samples.h"

#include "lib/book/book_failure.h"
#include "lib/book/book_internal.h"
#include "lib/book/sql.h"

static int add_sample_and_executions(struct book *book, int64_t run, const struct sample *sample,
	const struct execution *executions, size_t n, struct error *err)
{
	int r = sql_insert(book, err, &sample_table, "", sample, 1, "i", run);

	switch (r < 0 ? book->failure : SQLITE_OK) {
	case SQLITE_CONSTRAINT_PRIMARYKEY:
		return error_say(err, -EEXIST,
			"run %" PRId64 " in the lab book '%s' has a sample %" PRIu32 " already",
			run, book->path, sample->n);
	case SQLITE_CONSTRAINT_FOREIGNKEY:
		return error_say(err, -ENOENT,
			"run %" PRId64 " is not in the lab book '%s' any more, so sample %" PRIu32
			" cannot be stored",
			run, book->path, sample->n);
	}
	if (r == 0)
		r = sql_insert(book, err, &execution_table, "", executions, n, "iin", run,
			(int64_t)sample->n, INT64_C(1));
	return r;
}

int book_add_sample(struct book *book, int64_t run, const struct sample *sample,
	const struct execution *executions, size_t n_executions, struct error *err)
{
	return BOOK_ATOMIC_RETRIED(book,
		add_sample_and_executions(book, run, sample, executions, n_executions, err), err);
}

struct walk {
	book_each *each;
	void *data;
	struct error *err;
	int64_t run;
	int64_t n_sources;
	uint32_t sample; /* of the previous row */
	bool over;       /* the rows of the next run begin */
	bool stray;      /* a row that must not be there */
	int r;           /* what `each` ended the walk with */
};

/* Reads a number. False: it is not one that EMP writes. NULL leaves *ret as it is; if `ret` is
 * NULL, a number is required. */
static bool read_value(sqlite3_value *value, int64_t min, int64_t max, int64_t *ret)
{
	int type = sqlite3_value_type(value);
	int64_t number = sqlite3_value_int64(value);

	if (type == SQLITE_NULL)
		return ret;
	if (ret)
		*ret = number;
	return type == SQLITE_INTEGER && number >= min && number <= max;
}

/* emp_walk(run, sample, source, pt_ns, same_cpu_ns, pid) or the same with tick_ns and cpu, in the
 * order of the rows. It ends at the first row of another run: if SQLite looked for the end, each
 * row would cost more. */
static void walk_row(sqlite3_context *context, int n, sqlite3_value **values)
{
	struct walk *walk = ((struct book *)sqlite3_user_data(context))->walk;
	int64_t run = sqlite3_value_int64(values[0]), pid = 0, cpu = -1;
	struct execution execution = {
		.sample = (uint32_t)sqlite3_value_int64(values[1]),
		.source = (uint32_t)sqlite3_value_int64(values[2]),
		.pt_ns = sqlite3_value_int64(values[3]),
		.same_cpu_ns = -1,
		.tick_ns = -1,
	};

	walk->over = run > walk->run;
	walk->stray =
		!walk->over &&
		(run < walk->run || !read_value(values[1], walk->sample ?: 1, UINT32_MAX, NULL) ||
			!read_value(values[2], 1, walk->n_sources, NULL) ||
			!read_value(values[3], 0, JSON_TIME_MAX, NULL) ||
			!read_value(values[4], 0, JSON_TIME_MAX, &execution.same_cpu_ns) ||
			!read_value(values[5], 1, INT32_MAX, &pid) ||
			(n == 8 && (!read_value(values[6], 0, JSON_TIME_MAX, &execution.tick_ns) ||
					   !read_value(values[7], 0, INT32_MAX, &cpu))));
	execution.pid = (pid_t)pid;
	execution.cpu = (int)cpu;
	walk->sample = execution.sample;
	if (!walk->over && !walk->stray)
		walk->r = walk->each(walk->data, &execution, walk->err);
	if (walk->over || walk->stray || walk->r != 0)
		sqlite3_result_error_code(context, SQLITE_ABORT);
}

static void walk_end(sqlite3_context *context)
{
	sqlite3_result_null(context);
}

int book_walk_register(struct book *book, struct error *err)
{
	int rc = sqlite3_create_function(book->db, "emp_walk", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
		book, NULL, walk_row, walk_end);

	return rc == SQLITE_OK ? 0 : book_failed(book, rc, err);
}

/* Not a cached statement: `each` may walk, too. */
static int walk_rows(struct book *book, const char *sql, int64_t run, book_each *each, void *data,
	struct error *err)
{
	struct walk walk = {.each = each, .data = data, .err = err, .run = run},
		    *outer = book->walk;
	sqlite3_stmt *stmt = NULL;
	int rc, r;

	r = sql_row(book, err, "SELECT min(ifnull(max(id), 0), 0xffffffff) FROM source", ":I",
		&walk.n_sources);
	if (r < 0)
		return r;
	rc = sqlite3_prepare_v2(book->db, sql, -1, &stmt, NULL);
	if (rc != SQLITE_OK)
		return book_failed(book, rc, err);
	sqlite3_bind_int64(stmt, 1, run);
	book->walk = &walk;
	rc = sqlite3_step(stmt);
	book->walk = outer;
	r = walk.r;
	if (walk.stray)
		r = error_say(err, -EBADMSG,
			"the lab book '%s' is damaged: an execution is out of order, of an unknown "
			"source, or of an impossible time; restore an intact copy",
			book->path);
	else if (!walk.over && walk.r == 0 && rc != SQLITE_ROW)
		r = book_failed(book, rc, err);
	sqlite3_finalize(stmt);
	return r;
}

#define WALK(columns)                                                          \
	"SELECT emp_walk(run, sample, source, pt_ns, same_cpu_ns, pid" columns \
	") FROM execution WHERE"                                               \
	" run >= ?"

int book_each_execution(
	struct book *book, int64_t run, book_each *each, void *data, struct error *err)
{
	return BOOK_AT_ONCE_RETRIED(
		book, walk_rows(book, WALK(", tick_ns, cpu"), run, each, data, err), err);
}

int book_each_time(struct book *book, int64_t run, book_each *each, void *data, struct error *err)
{
	return BOOK_AT_ONCE_RETRIED(book, walk_rows(book, WALK(""), run, each, data, err), err);
}

int book_executions(struct book *book, int64_t run, uint32_t sample, struct execution **ret,
	size_t *ret_n, struct error *err)
{
	int r = sql_all(book, err, &execution_table, "WHERE run = ? AND sample = ? ORDER BY seq",
		ret, ret_n, "ii", run, (int64_t)sample);

	for (size_t i = 0; r == 0 && i < *ret_n; i++)
		(*ret)[i].sample = sample;
	return r;
}
