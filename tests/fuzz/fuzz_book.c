/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a lab book, read by the loaders that the verbs use. Bytes that begin as a file of
 * SQLite are the file. Others are changes to a sound book, as somebody makes them who has sqlite3
 * and means ill: rows are changed while the schema is without NOT NULL, CHECK and STRICT, which are
 * there again when EMP opens the book. */
#include "lib/book/book.h"
#include "lib/record/profile.h"
#include "lib/report/run_result.h"
#include "lib/report/run_details.h"
#include "lib/report/run_notes.h"
#include "lib/report/screen.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/sound_book.h"
#include "tests/memory_document.h"

#include <fcntl.h>
#include <sqlite3.h>

struct change {
	uint8_t kind, column, rows, value[9];
};

struct column {
	char *table, *name, *first; /* `first` is the first of its table */
};

static struct column *columns;
static size_t n_columns;
static char path[256];
static uint8_t relaxed[1 << 19]; /* the sound book without its constraints */
static size_t n_relaxed;
static FILE *nowhere;

static const char RELAX[] =
	"PRAGMA writable_schema = ON;"
	"UPDATE sqlite_schema SET sql = replace(replace(replace(sql, ' STRICT, WITHOUT', "
	"' /*S*/ WITHOUT'),"
	"  ' STRICT', ' /*T*/'), ' NOT NULL', ' /*N*/') WHERE type = 'table' "
	"AND name NOT LIKE 'sqlite%';";
static const char RESTORE[] =
	"PRAGMA writable_schema = ON;"
	"UPDATE sqlite_schema SET sql = replace(replace(replace(sql, ' /*S*/ WITHOUT', "
	"' STRICT, WITHOUT'),"
	"  ' /*T*/', ' STRICT'), ' /*N*/', ' NOT NULL') WHERE type = 'table' "
	"AND name NOT LIKE 'sqlite%';";

static void write_book(const void *bytes, size_t n)
{
	static const char *const ends[] = {"-wal", "-shm", "-journal"};
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_MUST(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	for (size_t i = 0; i < ELEMENTS(ends); i++) {
		char side[300];

		snprintf(side, sizeof(side), "%s%s", path, ends[i]);
		unlink(side);
	}
}

static void read_columns(sqlite3 *db)
{
	static const char sql[] =
		"SELECT t.name, c.name, (SELECT name FROM pragma_table_info(t.name) WHERE cid = 0)"
		" FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'";
	sqlite3_stmt *stmt;

	FUZZ_MUST(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK);
	columns = calloc(256, sizeof(*columns));
	while (n_columns < 256 && sqlite3_step(stmt) == SQLITE_ROW)
		columns[n_columns++] = (struct column){
			strdup((const char *)sqlite3_column_text(stmt, 0)),
			strdup((const char *)sqlite3_column_text(stmt, 1)),
			strdup((const char *)sqlite3_column_text(stmt, 2))};
	sqlite3_finalize(stmt);
}

static void make_book(void)
{
	_cleanup_(closep) int fd = -1;
	ssize_t n;
	sqlite3 *db;

	nowhere = fopen("/dev/null", "w");
	snprintf(path, sizeof(path), "%s/emp.db", fuzz_directory());
	sound_book_make(path);
	FUZZ_MUST(sqlite3_open(path, &db) == SQLITE_OK);
	read_columns(db);
	FUZZ_MUST(sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) == SQLITE_OK);
	FUZZ_MUST(sqlite3_exec(db, RELAX, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(db);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, relaxed, sizeof(relaxed));
	FUZZ_MUST(n > 0 && (size_t)n < sizeof(relaxed));
	n_relaxed = (size_t)n;
}

static void bind_value(sqlite3_stmt *stmt, const uint8_t *value)
{
	static const int64_t numbers[] = {0, 1, -1, 2, INT64_MAX, INT64_MIN, INT64_C(1) << 32,
		UINT32_MAX, INT32_MIN, INT64_MAX / 2, 1700000000000000000, 5, 13};
	int at = sqlite3_bind_parameter_index(stmt, ":value");
	double real;

	memcpy(&real, value + 1, sizeof(real));
	if (value[0] % 8 == 0)
		sqlite3_bind_null(stmt, at);
	else if (value[0] % 8 < 3)
		sqlite3_bind_int64(stmt, at, numbers[value[1] % ELEMENTS(numbers)]);
	else if (value[0] % 8 == 3)
		sqlite3_bind_int64(stmt, at, (int64_t)value[1] << value[2] % 56);
	else if (value[0] % 8 == 4)
		sqlite3_bind_double(stmt, at, value[1] % 2 ? real : 1e308);
	else if (value[0] % 8 == 5)
		sqlite3_bind_text(stmt, at, (const char *)value + 1, 8, SQLITE_TRANSIENT);
	else if (value[0] % 8 == 6)
		sqlite3_bind_text(stmt, at, "", 0, SQLITE_STATIC);
	else
		sqlite3_bind_zeroblob(stmt, at, value[1] * 256 + value[2]);
}

static void change_rows(sqlite3 *db, const struct change *change)
{
	static const char *const statements[] = {
		"UPDATE OR REPLACE %w SET \"%w\" = :value "
		"WHERE abs(CAST(\"%w\" AS INTEGER)) %% 4 = :rows",
		"UPDATE OR REPLACE %w SET \"%w\" = :value",
		"DELETE FROM %w WHERE \"%w\" NOT NULL "
		"AND abs(CAST(\"%w\" AS INTEGER)) %% 4 = :rows",
	};
	const struct column *c = &columns[change->column % n_columns];
	char *sql = sqlite3_mprintf(
		statements[change->kind % ELEMENTS(statements)], c->table, c->name, c->first);
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK) {
		sqlite3_bind_int(
			stmt, sqlite3_bind_parameter_index(stmt, ":rows"), change->rows % 4);
		bind_value(stmt, change->value);
		sqlite3_step(stmt);
	}
	sqlite3_finalize(stmt);
	sqlite3_free(sql);
}

static void change_schema(sqlite3 *db, const struct change *change)
{
	static const char *const statements[] = {
		"ALTER TABLE %w RENAME TO moved; CREATE VIEW %w AS SELECT * FROM moved "
		"WHERE random() %% 2",
		"CREATE TABLE moved AS SELECT * FROM %w; DROP TABLE %w; "
		"ALTER TABLE moved RENAME TO %w",
		"CREATE TRIGGER ill AFTER INSERT ON %w BEGIN DELETE FROM %w; END",
		"DROP TABLE %w",
	};
	const char *table = columns[change->column % n_columns].table;
	char *sql = sqlite3_mprintf(
		statements[change->rows % ELEMENTS(statements)], table, table, table);

	sqlite3_exec(db, "PRAGMA legacy_alter_table = ON", NULL, NULL, NULL);
	sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
}

enum { CHANGE_SCHEMA = 15 }; /* of 16 kinds, so that most books can be opened */

static void make_changes(const uint8_t *bytes, size_t n)
{
	const struct change *changes = (const struct change *)bytes;
	sqlite3 *db;

	write_book(relaxed, n_relaxed);
	FUZZ_MUST(sqlite3_open(path, &db) == SQLITE_OK);
	sqlite3_exec(db,
		"PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; "
		"PRAGMA ignore_check_constraints = ON; BEGIN",
		NULL, NULL, NULL);
	for (size_t i = 0; i < n / sizeof(*changes); i++)
		if (changes[i].kind % 16 != CHANGE_SCHEMA)
			change_rows(db, &changes[i]);
	FUZZ_MUST(sqlite3_exec(db, RESTORE, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	sqlite3_close(db);
	FUZZ_MUST(sqlite3_open(path, &db) == SQLITE_OK);
	for (size_t i = 0; i < n / sizeof(*changes); i++)
		if (changes[i].kind % 16 == CHANGE_SCHEMA)
			change_schema(db, &changes[i]);
	sqlite3_close(db);
}

/* 1: go on, 0: it was refused, with a sentence. */
static int fine(int r, struct error *err)
{
	if (r >= 0)
		return 1;
	FUZZ_REFUSED(err);
	return 0;
}

static int add_up(void *data, const struct execution *execution, struct error *err)
{
	*(uint64_t *)data += (uint64_t)execution->pt_ns;
	return 0;
}

static void read_samples(struct book *book, int64_t run)
{
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(freep) struct execution *executions = NULL;
	_cleanup_(freep) struct counters *counters = NULL;
	struct resume_point *points = NULL;
	struct error err = {};
	uint64_t sum = 0;
	size_t n;

	fine(book_rows(book, run, &sample_table, &samples, &n, &err), &err);
	fine(book_executions(book, run, 1, &executions, &n, &err), &err);
	fine(book_rows(book, run, &counters_table, &counters, &n, &err), &err);
	fine(book_each_execution(book, run, add_up, &sum, &err), &err);
	fine(book_each_time(book, run, add_up, &sum, &err), &err);
	if (fine(book_rows(book, run, &resume_point_table, &points, &n, &err), &err))
		fields_free(&resume_point_table, points, n);
}

static void show_run(struct book *book, int64_t run, const struct profile *profile)
{
	_cleanup_(run_result_clear) struct run_result result = {};
	_cleanup_(screen_clear) struct screen screen = {};
	const struct discard_rules rules = {.profile = profile, .patterns = names_default};
	struct error err = {};

	if (!fine(run_result_read(book, run, &rules, RESULT_ALL, &result, &err), &err))
		return;
	fine(run_result_add_between(book, &result, true, &err), &err);
	screen = run_screen_fill(&result);
	run_notes_add(&screen.notes, &result, profile);
	screen.name = result.discarding.run.program;
	screen_print(nowhere, &screen);
	run_details_print(nowhere, &result, NULL, true);
}

static void analyse_run(struct book *book, const struct run *run)
{
	_cleanup_(analysis_clear) struct analysis analysis = {};
	_cleanup_(json_decrefp) json_t *document = NULL;
	_cleanup_(freep) char *digest = NULL, *environment = NULL;
	const struct analysis_options options = {.patterns = names_default};
	struct error err = {};

	fine(analysis_load(book, run->id, &options, &analysis, &err), &err);
	fine(export_document(book, run->id, &document, &err), &err);
	fine(book_get_environment(book, run->environment, &digest, NULL, &environment, &err), &err);
}

static void read_profiles(struct book *book, const struct run *run)
{
	struct profile *profiles = NULL;
	struct error err = {};
	size_t n = 0;

	if (!fine(book_profiles(book, NULL, &profiles, &n, &err), &err))
		return;
	for (size_t i = 0; i < n; i++) {
		_cleanup_(json_decrefp) json_t *document = NULL;

		fine(document_make_profile(&profiles[i], &document, &err), &err);
		if (run)
			show_run(book, run->id, &profiles[i]);
		profile_clear(&profiles[i]);
	}
	free(profiles);
}

static void read_calibrations(struct book *book)
{
	_cleanup_(calibration_plan_clear) struct calibration_plan plan = {};
	struct error err = {};

	fine(book_find_calibration(book, 0, NULL, true, &plan, &err), &err);
}

static void read_book(void)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(sources_clear) struct sources sources = {};
	struct run *runs = NULL;
	struct error err = {};
	size_t n = 0;

	if (!fine(book_open(&book, path, BOOK_READ, &err), &err))
		return;
	fine(book_sources(book, &sources, &err), &err);
	fine(book_runs(book, &runs, &n, &err), &err);
	read_profiles(book, n > 0 ? &runs[0] : NULL);
	for (size_t i = 0; i < n; i++) {
		read_samples(book, runs[i].id);
		show_run(book, runs[i].id, NULL);
		analyse_run(book, &runs[i]);
		run_clear(&runs[i]);
	}
	free(runs);
	read_calibrations(book);
}

static void write_to_book(void)
{
	_cleanup_(book_freep) struct book *book = NULL;
	struct run run = {
		.program = (char *)"x", .kind = RUN_MEASURE, .resolution_ns = 1, .cpu = -1};
	struct sample sample = {.n = 1, .start_ns = 1, .user_ns = -1, .exit_status = -1};
	struct error err = {};
	uint32_t source;

	if (!fine(book_open(&book, path, BOOK_WRITE, &err), &err))
		return;
	fine(book_source(book, &(struct source){.name = (char *)"new"}, &source, &err), &err);
	if (fine(book_begin_run(book, &run, &err), &err))
		fine(book_add_sample(book, run.id, &sample, NULL, 0, &err), &err);
	fine(book_remove_run(book, 1, true, &err), &err);
	fine(book_remove_profile(book, "lab", &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char magic[] = "SQLite format 3";

	if (!n_relaxed)
		make_book();
	if (n >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic)))
		write_book(bytes, n);
	else
		make_changes(bytes, n);
	read_book();
	write_to_book();
	return 0;
}
