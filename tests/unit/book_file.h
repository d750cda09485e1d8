/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a book as SQLite sees it, for tests of what other versions and programs left in it. */
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
	assert_int_equal(text_read_file(AT_FDCWD, path, &text), 0);
	sql(s->path, text);
}
