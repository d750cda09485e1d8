/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the book share: the handle, its statements, and the sentences for what SQLite
 * reports. Only this folder includes it. */
#pragma once

#include "lib/record/book/book.h"

#include <sqlite3.h>

/* Who is known by which id, so that a sample of 100 executions needs no look-up in the file. */
struct source_cache {
	struct source *slots; /* id 0: empty; a power of two of them */
	size_t size, used;
};

struct walk;

struct book {
	sqlite3 *db;
	char *path;
	enum book_mode mode;
	int patience_ms;
	bool unsynced;     /* the commit at hand does not wait for the disk */
	int64_t synced_ns; /* CLOCK_MONOTONIC of the last sample that was */
	int64_t begun_ns;  /* CLOCK_MONOTONIC when the transaction of samples began */
	bool left_open;    /* it waits for more samples; whatever else uses the book commits it first */
	bool ours;         /* it is a lab book, and of a version that we know */
	struct {
		const void *table; /* whose fields it stores or reads; NULL: it is `sql` as it stands */
		const char *sql;   /* a literal: its address is the key */
		sqlite3_stmt *stmt;
	} statements[96];
	size_t n_statements;
	struct source_cache sources;
	struct walk *walk; /* the one at hand */
};

enum {
	BOOK_PATIENCE_MS = 10000,
	BOOK_APPLICATION_ID = 0x454d5062, /* "EMPb", in the head of the file */
};

/* Lets go of the file and keeps the handle. */
void book_disconnect(struct book *book);

/* Writes the sentence for what SQLite just returned, and gives its errno. */
int book_failed(struct book *book, int rc, struct error *err);

int book_foreign(const char *path, struct error *err); /* it is of another program */

/* Brings the file to the newest version, from nothing if it is empty. -EPROTONOSUPPORT: made by a newer
 * emp; -EINVAL: of another program. */
int book_schema_upgrade(struct book *book, struct error *err);

/* The version of the file, 0 for an empty one, after seeing that it is a lab book at all. */
int book_schema_version(struct book *book, struct error *err);
int book_schema_newest(void);

/* The function that walks the executions, for this connection. */
int book_walk_register(struct book *book, struct error *err);

void source_cache_clear(struct source_cache *cache);

/* Begins a transaction unless one is open already: *ret_own says whose it is to end. */
int book_join(struct book *book, bool *ret_own, struct error *err);
/* The same for several statements that must see one state of the file, and only read. */
int book_view(struct book *book, bool *ret_own, struct error *err);
/* Ends it if it is our own: commits after r >= 0, otherwise rolls back. Returns r or what went wrong. */
int book_leave(struct book *book, bool own, int r, struct error *err);
