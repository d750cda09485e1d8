/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What executions cost in the book: to store, in bytes, and to walk over, compared with SQLite's
 * own sum over the same rows; and the same for other layouts of the table, which is why the book
 * has the one it has.
 *
 * usage: bench_book [SAMPLES [DIRECTORY]], 100 executions each; 100000 takes some minutes and 300
 * MB. A store is one transaction with its sync. Walks are CPU time, the least of five; "few" are
 * the columns that cutoffs need: sample, source, pt_ns. */
#include "lib/book/book.h"

#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { EXECUTIONS = 100, DAEMONS = 200, TIMED = 500, REPEATS = 5 };

struct layout {
	const char *name;
	const char *schema;
	const char *insert; /* ?1 run, ?2 sample, ?3 seq, ?4 source, ?5 pt_ns, ?6 pid, ?7 tick_ns */
	const char *rows;   /* which columns of which rows, in order */
	const char *few;    /* the three that cutoffs need */
	const char *sum;
};

#define TIMES                                                                                    \
	"pt_ns INTEGER NOT NULL CHECK(pt_ns >= 0), pid INTEGER CHECK(pid > 0), tick_ns INTEGER " \
	"CHECK(tick_ns >= 0)"
#define WHO "source INTEGER NOT NULL REFERENCES source, "
#define KEY "run INTEGER NOT NULL, sample INTEGER NOT NULL, "
#define SAME_ROWS                                                                    \
	.rows = "sample, source, pt_ns, pid, tick_ns) FROM execution WHERE run = 1", \
	.few = "sample, source, pt_ns) FROM execution WHERE run = 1",                \
	.sum = "SELECT sum(pt_ns) FROM execution WHERE run = 1"

static const struct layout layouts[] = {
	{.name = "key (run, sample, seq)",
		.schema = "CREATE TABLE execution(" KEY "seq INTEGER NOT NULL, " WHO TIMES
			  ", PRIMARY KEY(run, sample, seq),"
			  " FOREIGN KEY(run, sample) REFERENCES sample) STRICT, WITHOUT ROWID",
		.insert = "INSERT INTO execution VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
		SAME_ROWS},
	{.name = "  without foreign keys",
		.schema = "CREATE TABLE execution(" KEY
			  "seq INTEGER NOT NULL, source INTEGER NOT NULL, " TIMES
			  ", PRIMARY KEY(run, sample, seq)) STRICT, WITHOUT ROWID",
		.insert = "INSERT INTO execution VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
		SAME_ROWS},
	{.name = "packed rowid",
		.schema = "CREATE TABLE execution(id INTEGER PRIMARY KEY, " WHO TIMES ") STRICT",
		.insert = "INSERT INTO execution "
			  "VALUES ((?1 << 44) | (?2 << 12) | ?3, ?4, ?5, ?6, ?7)",
		.rows = "id, source, pt_ns, pid, tick_ns) FROM execution "
			"WHERE id BETWEEN 1 << 44 AND 2 << 44",
		.few = "id, source, pt_ns) FROM execution WHERE id BETWEEN 1 << 44 AND 2 << 44",
		.sum = "SELECT sum(pt_ns) FROM execution WHERE id BETWEEN 1 << 44 AND 2 << 44"},
	{.name = "rowid and an index",
		.schema = "CREATE TABLE execution(" KEY WHO TIMES
			  ", FOREIGN KEY(run, sample) REFERENCES sample) STRICT;"
			  "CREATE INDEX execution_sample ON execution(run, sample)",
		.insert = "INSERT INTO execution SELECT ?1, ?2, ?4, ?5, ?6, ?7 WHERE ?3",
		SAME_ROWS},
};

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s failed\n", what);
	exit(1);
}

static void sql(sqlite3 *db, const char *text)
{
	must(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK, text);
}

static struct execution make_execution(uint32_t sample, unsigned *seed)
{
	unsigned r = (unsigned)rand_r(seed);

	return (struct execution){.sample = sample,
		.source = 1 + r % DAEMONS,
		.pid = (pid_t)(1000 + r % 400000),
		.pt_ns = r % 7 ? r % 20000000 : r % 2000000000,
		.tick_ns = r & 1 ? 4000000 : -1};
}

/* What storing one sample takes: the median of wall clock times, which the sync of the disk makes
 * most of, and the mean of CPU times. */
struct store {
	double wall[TIMED], cpu; /* seconds */
};

static int by_size(const void *a, const void *b)
{
	const double *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

static int64_t total_ns; /* so that the compiler must look at each */
static size_t total_n;

static int add_up(void *data, const struct execution *e, struct error *err)
{
	total_ns += e->pt_ns;
	total_n++;
	return 0;
}

static void add_up_row(sqlite3_context *context, int n, sqlite3_value **values)
{
	struct execution e = {.sample = (uint32_t)sqlite3_value_int64(values[0]),
		.source = (uint32_t)sqlite3_value_int64(values[1]),
		.pt_ns = sqlite3_value_int64(values[2])};

	if (n == 5) {
		e.pid = sqlite3_value_int(values[3]);
		e.tick_ns = sqlite3_value_int64(values[4]);
	}
	add_up(NULL, &e, NULL);
}

static void add_up_end(sqlite3_context *context)
{
	sqlite3_result_null(context);
}

/* Steps through what a query gives; five columns are an execution. */
static void step_through(sqlite3 *db, const char *text)
{
	sqlite3_stmt *stmt;

	must(sqlite3_prepare_v2(db, text, -1, &stmt, NULL) == SQLITE_OK, text);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		if (sqlite3_column_count(stmt) == 5)
			add_up(NULL,
				&(struct execution){
					.sample = (uint32_t)sqlite3_column_int64(stmt, 0),
					.source = (uint32_t)sqlite3_column_int64(stmt, 1),
					.pt_ns = sqlite3_column_int64(stmt, 2),
					.pid = sqlite3_column_int(stmt, 3),
					.tick_ns = sqlite3_column_int64(stmt, 4)},
				NULL);
	sqlite3_finalize(stmt);
}

/* The least CPU time of some goes. */
static double timed(sqlite3 *db, const char *before, const char *what)
{
	char text[256];
	double least = 1e9;

	snprintf(text, sizeof(text), "%s%s", before, what);
	for (int i = 0; i < REPEATS; i++) {
		double start = now(CLOCK_PROCESS_CPUTIME_ID), took;

		total_n = 0;
		step_through(db, text);
		took = now(CLOCK_PROCESS_CPUTIME_ID) - start;
		if (took < least)
			least = took;
	}
	return least;
}

/* The same columns without the function around them. */
static double timed_rows(sqlite3 *db, const char *rows)
{
	char text[256];

	snprintf(text, sizeof(text), "%s", rows);
	*strchr(text, ')') = ' ';
	return timed(db, "SELECT ", text);
}

/* Seconds for a sample, the median: the last ones are committed one by one and timed, those before
 * them at one go. */
static void fill_layout(sqlite3 *db, const struct layout *layout, uint32_t n, struct store *ret)
{
	sqlite3_stmt *sample, *execution;
	unsigned seed = 1;
	bool timed_now = false;
	double start = 0;

	must(sqlite3_prepare_v2(db, "INSERT INTO sample VALUES (1, ?1, 0, 0, 0)", -1, &sample,
		     NULL) == SQLITE_OK,
		"sample");
	must(sqlite3_prepare_v2(db, layout->insert, -1, &execution, NULL) == SQLITE_OK,
		layout->insert);
	sql(db, "BEGIN");
	for (uint32_t s = 1; s <= n; s++) {
		if (s == n - TIMED + 1) {
			sql(db, "COMMIT");
			sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
			timed_now = true;
			ret->cpu = now(CLOCK_PROCESS_CPUTIME_ID);
		}
		start = now(CLOCK_MONOTONIC);
		if (timed_now)
			sql(db, "BEGIN IMMEDIATE");
		sqlite3_bind_int64(sample, 1, s);
		must(sqlite3_step(sample) == SQLITE_DONE && sqlite3_reset(sample) == SQLITE_OK,
			"sample");
		for (int i = 1; i <= EXECUTIONS; i++) {
			struct execution e = make_execution(s, &seed);
			int64_t values[] = {1, s, i, e.source, e.pt_ns, e.pid, e.tick_ns};

			for (int c = 0; c < 7; c++)
				sqlite3_bind_int64(execution, c + 1, values[c]);
			if (e.tick_ns < 0)
				sqlite3_bind_null(execution, 7);
			must(sqlite3_step(execution) == SQLITE_DONE &&
					sqlite3_reset(execution) == SQLITE_OK,
				"execution");
		}
		if (timed_now) {
			sql(db, "COMMIT");
			ret->wall[n - s] = now(CLOCK_MONOTONIC) - start;
		}
	}
	sqlite3_finalize(sample);
	sqlite3_finalize(execution);
	ret->cpu = (now(CLOCK_PROCESS_CPUTIME_ID) - ret->cpu) / TIMED;
}

static void fill_book(struct book *book, int64_t run, uint32_t n, struct store *ret)
{
	struct execution e[EXECUTIONS];
	struct error err;
	unsigned seed = 1;
	bool timed_now = false;
	double start = 0;

	must(book_begin(book, &err) == 0, "book_begin");
	for (uint32_t s = 1; s <= n; s++) {
		struct sample sample = {.n = s,
			.user_ns = -1,
			.system_ns = -1,
			.max_rss_bytes = -1,
			.observer_ns = -1};

		if (s == n - TIMED + 1) {
			must(book_commit(book, &err) == 0 && book_checkpoint(book, &err) == 0,
				"book_commit");
			timed_now = true;
			ret->cpu = now(CLOCK_PROCESS_CPUTIME_ID);
		}
		start = now(CLOCK_MONOTONIC);
		for (int i = 0; i < EXECUTIONS; i++)
			e[i] = make_execution(s, &seed);
		must(book_add_sample(book, run, &sample, e, EXECUTIONS, &err) == 0,
			"book_add_sample");
		if (timed_now)
			ret->wall[n - s] = now(CLOCK_MONOTONIC) - start;
	}
	ret->cpu = (now(CLOCK_PROCESS_CPUTIME_ID) - ret->cpu) / TIMED;
}

struct walks {
	double sum, handed, all, few; /* seconds */
};

static void show(
	const char *name, struct store *store, const char *path, uint32_t n, const struct walks *w)
{
	struct stat st;

	must(stat(path, &st) == 0, path);
	must(total_n == (size_t)n * EXECUTIONS, "a walk over all rows");
	qsort(store->wall, TIMED, sizeof(store->wall[0]), by_size);
	printf("%-24s %9.3f %9.3f %10.1f %8.2f %10.2fx %10.2fx %10.2fx\n", name,
		store->wall[TIMED / 2] * 1e3, store->cpu * 1e3, (double)st.st_size / n / EXECUTIONS,
		w->sum, w->handed / w->sum, w->all / w->sum, w->few / w->sum);
	fflush(stdout);
}

static void try_layout(const struct layout *layout, const char *path, uint32_t n)
{
	struct store store;
	struct walks w;
	sqlite3 *db;

	must(sqlite3_open(path, &db) == SQLITE_OK, path);
	sql(db, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; "
		"PRAGMA synchronous = FULL");
	sql(db, "PRAGMA foreign_keys = ON; CREATE TABLE source(id INTEGER PRIMARY KEY);"
		"WITH RECURSIVE d(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM d WHERE id < 200)"
		"INSERT INTO source SELECT id FROM d;"
		"CREATE TABLE sample(run INTEGER, n INTEGER, start_ns INTEGER, et_ns INTEGER, "
		"pt_ns INTEGER,"
		" PRIMARY KEY(run, n)) STRICT, WITHOUT ROWID");
	sql(db, layout->schema);
	fill_layout(db, layout, n, &store);
	sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sqlite3_create_function(db, "walk", -1, SQLITE_UTF8, NULL, NULL, add_up_row, add_up_end);
	w.sum = timed(db, "", layout->sum);
	w.handed = timed_rows(db, layout->rows);
	w.few = timed(db, "SELECT walk(", layout->few);
	w.all = timed(db, "SELECT walk(", layout->rows);
	show(layout->name, &store, path, n, &w);
	sqlite3_close(db);
	unlink(path);
}

typedef int book_walk(
	struct book *book, int64_t run, book_each *each, void *data, struct error *err);

static double timed_walk(struct book *book, int64_t run, book_walk *walk)
{
	struct error err;
	double least = 1e9;

	for (int i = 0; i < REPEATS; i++) {
		double start = now(CLOCK_PROCESS_CPUTIME_ID), took;

		total_n = 0;
		must(walk(book, run, add_up, NULL, &err) == 0, "a walk over the book");
		took = now(CLOCK_PROCESS_CPUTIME_ID) - start;
		if (took < least)
			least = took;
	}
	return least;
}

static void try_book(const char *path, uint32_t n)
{
	struct run run = {
		.program = (char *)"INC128", .kind = RUN_SHORT, .resolution_ns = 1, .cpu = -1};
	struct book *book;
	struct error err;
	struct store store;
	struct walks w;
	sqlite3 *db;

	must(book_open(&book, path, BOOK_WRITE, &err) == 0, path);
	must(book_begin_run(book, &run, &err) == 0, "book_begin_run");
	for (int i = 0; i < DAEMONS; i++) {
		char name[16];
		uint32_t id;

		snprintf(name, sizeof(name), "daemon-%d", i);
		must(book_source(book, &(struct source){.name = name}, &id, &err) == 0,
			"book_source");
	}
	fill_book(book, run.id, n, &store);
	must(book_checkpoint(book, &err) == 0, "book_checkpoint");
	must(sqlite3_open(path, &db) == SQLITE_OK, path);
	w.sum = timed(db, "", layouts[0].sum);
	w.handed = timed_rows(db, layouts[0].rows);
	sqlite3_close(db);
	w.few = timed_walk(book, run.id, book_each_time);
	w.all = timed_walk(book, run.id, book_each_execution);
	show("the book, by its functions", &store, path, n, &w);
	book_free(book);
	unlink(path);
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)atol(argv[1]) : 10000;
	char directory[256], path[300];

	snprintf(directory, sizeof(directory), "%s/emp-bench-XXXXXX",
		argc > 2 ? argv[2] : "/var/tmp");
	must(n > TIMED && mkdtemp(directory) != NULL, directory);
	snprintf(path, sizeof(path), "%s/emp.db", directory);
	printf("%u samples with %d executions each. \"of sum\": CPU time compared with "
	       "SQLite's sum(pt_ns) of the same rows.\n\n",
		n, EXECUTIONS);
	printf("%-24s %9s %9s %10s %8s %11s %11s %11s\n", "", "store, ms", "store, ms", "file,",
		"sum,", "rows handed", "aggregate,", "aggregate,");
	printf("%-24s %9s %9s %10s %8s %11s %11s %11s\n", "layout of the table", "a sample",
		"of CPU", "bytes/row", "s", "out, of sum", "all, of sum", "few, of sum");
	try_book(path, n);
	for (size_t i = 0; i < ELEMENTS(layouts); i++)
		try_layout(&layouts[i], path, n);
	rmdir(directory);
	return 0;
}
