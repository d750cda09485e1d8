/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a book as SQLite sees it, for tests of what other versions and programs left in
 * it. */
#pragma once

#include "tests/unit/scratch.h"

#include "lib/base/text.h"

#include <fcntl.h>
#include <sqlite3.h>

static inline sqlite3 *open_file(const char *path)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL), SQLITE_OK);
	return db;
}

static inline void sql(const char *path, const char *text)
{
	sqlite3 *db = open_file(path);
	char *message = NULL;

	if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", text, message);
	sqlite3_close(db);
}

/* The book that the file of this name in data/ has. */
static inline void load(struct scratch *s, const char *name)
{
	_cleanup_(freep) char *text = NULL;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", getenv("EMP_DATA"), name);
	assert_int_equal(path_read_text(AT_FDCWD, NULL, &text, "%s", path), 0);
	sql(s->path, text);
}

/* The first answer to a question of SQL. */
static inline char *ask(const char *path, const char *text)
{
	sqlite3 *db = open_file(path);
	sqlite3_stmt *stmt;
	char *answer;

	if (sqlite3_prepare_v2(db, text, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", text, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	answer = strdup((const char *)sqlite3_column_text(stmt, 0) ?: "");
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return answer;
}

#define assert_answer(path, text, expected)                      \
	do {                                                     \
		_cleanup_(freep) char *answer = ask(path, text); \
		assert_string_equal(answer, expected);           \
	} while (0)

/* Nothing is damaged, and nothing points to what is not there. */
static inline void assert_sound(const char *path)
{
	assert_answer(path, "PRAGMA integrity_check", "ok");
	assert_answer(path, "SELECT count(*) FROM pragma_foreign_key_check", "0");
}
