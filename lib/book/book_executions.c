/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading executions back from the lab book: those of one sample, or the walk over all of a run.
 *
 * The walk is an aggregate function, because a run may have ten million executions: stepping through the rows takes twice
 * as long as a function that SQLite calls for each. */
#include "lib/book/query.h"

#include "lib/base/array.h"
#include "lib/base/json_fields.h"

#include <errno.h>
#include <inttypes.h>

struct walk {
	book_each *each;
	void *data;
	int64_t run;
	int64_t n_sources;
	uint32_t sample; /* of the previous row */
	bool over;       /* the rows of the next run begin */
	bool stray;      /* a row that must not be there */
	int r;           /* what `each` ended the walk with */
};

static int stray(struct book *book, struct error *err)
{
	return error_say(err, -EBADMSG,
		"the lab book '%s' is damaged: an execution is out of order, of an unknown source, or of an impossible time; restore an intact copy",
		book->path);
}

static bool is_within(sqlite3_value *value, int64_t min, int64_t max)
{
	return sqlite3_value_type(value) == SQLITE_INTEGER && sqlite3_value_int64(value) >= min &&
	       sqlite3_value_int64(value) <= max;
}

/* A value that may be NULL, for *ret as it is. Whether it is one that EMP writes. */
static bool read_value(sqlite3_value *value, int64_t min, int64_t max, int64_t *ret)
{
	if (sqlite3_value_type(value) == SQLITE_NULL)
		return true;
	*ret = sqlite3_value_int64(value);
	return is_within(value, min, max);
}

static bool read_pid(sqlite3_value *value, struct execution *execution)
{
	int64_t pid = 0;
	bool right = read_value(value, 1, INT32_MAX, &pid);

	execution->pid = (pid_t)pid;
	return right;
}

static bool read_rest(sqlite3_value **values, struct execution *execution)
{
	int64_t cpu = -1;
	bool right = read_value(values[0], 0, JSON_TIME_MAX, &execution->tick_ns) &&
		     read_value(values[1], 0, INT32_MAX, &cpu);

	execution->cpu = (int)cpu;
	return right;
}

/* emp_walk(run, sample, source, pt_ns, same_cpu_ns, pid) or the same with tick_ns and cpu, in the order of the rows. It
 * ends at the first row of another run: if SQLite looked for the end, each row would cost more. */
static void walk_row(sqlite3_context *context, int n, sqlite3_value **values)
{
	struct walk *walk = ((struct book *)sqlite3_user_data(context))->walk;
	int64_t run = sqlite3_value_int64(values[0]);
	struct execution execution = {
		.sample = (uint32_t)sqlite3_value_int64(values[1]),
		.source = (uint32_t)sqlite3_value_int64(values[2]),
		.pt_ns = sqlite3_value_int64(values[3]),
		.same_cpu_ns = -1,
		.tick_ns = -1,
		.cpu = -1,
	};

	walk->over = run > walk->run;
	walk->stray = !walk->over &&
		      (run < walk->run || !is_within(values[1], walk->sample ?: 1, UINT32_MAX) ||
			      !is_within(values[2], 1, walk->n_sources) ||
			      !is_within(values[3], 0, JSON_TIME_MAX) ||
			      !read_value(values[4], 0, JSON_TIME_MAX, &execution.same_cpu_ns) ||
			      !read_pid(values[5], &execution) ||
			      (n == 8 && !read_rest(values + 6, &execution)));
	walk->sample = execution.sample;
	if (!walk->over && !walk->stray)
		walk->r = walk->each(&execution, walk->data);
	if (walk->over || walk->stray || walk->r != 0)
		sqlite3_result_error_code(context, SQLITE_ABORT);
}

static void walk_end(sqlite3_context *context)
{
	sqlite3_result_null(context);
}

int book_walk_register(struct book *book, struct error *err)
{
	int rc = sqlite3_create_function(
		book->db, "emp_walk", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, book, NULL, walk_row, walk_end);

	return rc == SQLITE_OK ? 0 : book_failed(book, rc, err);
}

/* Not a cached statement: `each` may walk, too. */
static int walk_rows(struct book *book, const char *sql, int64_t run, uint32_t sample, struct walk *walk,
	struct error *err)
{
	struct walk *outer = book->walk;
	sqlite3_stmt *stmt = NULL;
	int rc, r = 0;

	r = query_value(
		book, "SELECT min(ifnull(max(id), 0), 0xffffffff) FROM source", &walk->n_sources, err);
	if (r < 0)
		return r;
	rc = sqlite3_prepare_v2(book->db, sql, -1, &stmt, NULL);
	if (rc != SQLITE_OK)
		return book_failed(book, rc, err);
	sqlite3_bind_int64(stmt, 1, run);
	if (sample)
		sqlite3_bind_int64(stmt, 2, sample);
	walk->run = run;
	book->walk = walk;
	rc = sqlite3_step(stmt);
	book->walk = outer;
	if (walk->stray)
		r = stray(book, err);
	else if (!walk->over && walk->r == 0 && rc != SQLITE_ROW)
		r = book_failed(book, rc, err);
	sqlite3_finalize(stmt);
	return r;
}

/* All samples where sample is 0. */
static int walk(struct book *book, const char *sql, int64_t run, uint32_t sample, struct walk *walk,
	struct error *err)
{
	int r = BOOK_AT_ONCE(book, walk_rows(book, sql, run, sample, walk, err), err);

	return r < 0 ? r : walk->r;
}

#define WALK(columns) \
	"SELECT emp_walk(run, sample, source, pt_ns, same_cpu_ns, pid" columns ") FROM execution WHERE run "
#define WALK_ALL WALK(", tick_ns, cpu") ">= ?1"
#define WALK_ONE WALK(", tick_ns, cpu") "= ?1 AND sample = ?2"
#define WALK_TIMES WALK("") ">= ?1"

int book_each_execution(struct book *book, int64_t run, book_each *each, void *data, struct error *err)
{
	return walk(book, WALK_ALL, run, 0, &(struct walk){.each = each, .data = data}, err);
}

int book_each_time(struct book *book, int64_t run, book_each *each, void *data, struct error *err)
{
	return walk(book, WALK_TIMES, run, 0, &(struct walk){.each = each, .data = data}, err);
}

struct collection {
	struct execution *items;
	size_t n;
};

static void collection_clear(struct collection *all)
{
	free(all->items);
}

static int collect(const struct execution *execution, void *data)
{
	struct collection *all = data;
	struct execution *item = array_add(all->items, all->n);

	*item = *execution;
	return 0;
}

int book_executions(struct book *book, int64_t run, uint32_t sample, struct execution **ret, size_t *ret_n,
	struct error *err)
{
	_cleanup_(collection_clear) struct collection all = {};
	struct walk each = {.each = collect, .data = &all};
	int r;

	r = walk(book, WALK_ONE, run, sample, &each, err);
	if (each.r < 0)
		error_os(err, each.r, "cannot read the executions of run %" PRId64, run);
	if (r < 0)
		return r;
	*ret = TAKE(all.items);
	*ret_n = all.n;
	return 0;
}
