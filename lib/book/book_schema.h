/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of the lab book: its versions, the check that a file has the tables of its version,
 * and the upgrade of an older one. For the modules of the book. */
#pragma once

#include "lib/base/base.h"
#include "lib/host/system/digest.h"

#include <sqlite3.h>

struct book;

extern const uint32_t book_schema_newest_version;
/* Of the tables of the newest version, which are recognized by it, because making them in memory to
 * compare them takes longer than most commands. */
extern const char *const book_schema_newest_digest;

/* SHA-256 of all tables, views, indexes and triggers. -EIO: they cannot be read. */
int book_schema_digest(sqlite3 *db, char ret[DIGEST_SIZE]);
/* The version of the file, 0 for an empty one, once it is known to be a lab book. */
int book_schema_version(struct book *book, struct error *err);
/* -EBADMSG, naming the first table, view, index or trigger that is not as that version has it. */
int book_schema_check(struct book *book, int version, struct error *err);
/* Upgrades the file to the newest version, and keeps a copy of the old one beside it, which a
 * notice names; an empty file becomes a book. A reader's copy is upgraded without that. */
int book_schema_upgrade(struct book *book, struct error *err);

/* Copies the whole of a database into an empty one. An SQLite result code. */
int book_copy_database(sqlite3 *from, sqlite3 *to);
