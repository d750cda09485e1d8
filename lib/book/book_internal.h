/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of the book: the handle, its statements, and the messages for failures of SQLite. */
#pragma once

#include "lib/host/system/digest.h"
#include "lib/book/book.h"

#include <sqlite3.h>

/* The ids of sources, so that a sample of 100 executions reads nothing from the file. */
struct source_cache {
	struct source *slots; /* id 0: empty; a power of two of them */
	size_t size, used;
};

/* Samples in BOOK-pending that are not in the book yet. */
struct pending {
	int fd; /* -1: not open */
	off_t size;
	bool tried;  /* to open it */
	bool stored; /* all of it, in the transaction that is open */
};

struct walk;

struct book {
	sqlite3 *db;
	char *path;
	enum book_mode mode;
	int patience_ms;
	book_wait *go_on; /* NULL: it waits no longer than that */
	void *go_on_data;
	int64_t waits_since_ns; /* for another writer */
	bool wait_said;
	bool lost;         /* its file was removed or replaced */
	bool may_leave;    /* to go on in a copy if its file cannot be written */
	int unwritable;    /* the errno of the last failure, if it was to write the file */
	char *left;        /* the file that could not be written; NULL: it is still in use */
	bool unsynced;     /* the next commit does not wait for the disk */
	int64_t synced_ns; /* CLOCK_MONOTONIC of the last sample that was */
	bool ours;         /* it is a lab book, of a known version */
	struct {
		const void *table; /* of fields, from which its SQL is made; NULL: `sql` is the SQL */
		const char *sql;   /* a literal: its address is the key */
		sqlite3_stmt *stmt;
	} statements[192];
	size_t n_statements;
	struct source_cache sources;
	struct pending pending;
	struct walk *walk; /* in progress; NULL: none */
};

enum {
	BOOK_PATIENCE_MS = 10000,
	BOOK_APPLICATION_ID = 0x454d5062, /* "EMPb", in the header of the file */
};

/* Closes the file and keeps the handle. */
void book_disconnect(struct book *book);
/* Opens book->path in the mode of the handle, which has no file. */
int book_connect(struct book *book, struct error *err);
/* Opens a handle for a book whose file could not be written when it was opened for that. */
int book_open_elsewhere(struct book **ret, const char *path, int e, struct error *err);

/* Makes an empty file for a new book, if there is none. */
int book_make_file(const char *path, struct error *err);

/* Sets the handler for the locks of other processes. */
void book_be_patient(struct book *book);

/* Writes the message for what SQLite just returned; returns a negative errno. */
int book_failed(struct book *book, int rc, struct error *err);

int book_foreign(const char *path, struct error *err); /* it is of another program */

/* The whole of a database into an empty one. An SQLite result code. */
int book_copy_to(sqlite3 *from, sqlite3 *to);

/* Upgrades the file to the newest version, and keeps a copy of the old one beside it, which a notice names; an empty file
 * becomes a book. A reader's copy is upgraded without that. -EPROTONOSUPPORT: made by a newer emp; -EINVAL: of another
 * program. */
int book_schema_upgrade(struct book *book, struct error *err);

/* The version of the file, 0 for an empty one, once it is known to be a lab book. */
int book_schema_version(struct book *book, struct error *err);
int book_schema_newest(void);

/* The SQL that makes version 1 of an empty file, and each later one of the version before. */
extern const char book_step_1[], book_step_2[], book_step_3[], book_step_4[], book_step_5[], book_step_6[];

/* Makes the tables of that version in an empty database. An SQLite result code. */
int book_schema_make(sqlite3 *db, int version);
/* SHA-256 of all tables, views, indexes and triggers. Those of the newest version are known by it, because making them
 * to compare them takes longer than most commands. -EIO: they cannot be read. */
int book_schema_digest(sqlite3 *db, char ret[DIGEST_SIZE]);
extern const char *const book_schema_newest_digest;
/* -EBADMSG, naming the first table, view, index or trigger that is not as that version has it. */
int book_schema_check(struct book *book, int version, struct error *err);

/* The function that walks the executions, for this connection. */
int book_walk_register(struct book *book, struct error *err);

/* Removes the retired profiles that no run needs any more. */
int book_prune_profiles(struct book *book, struct error *err);

void source_cache_clear(struct source_cache *cache);

/* Stores the samples that were kept, before anything else is done with the book. */
int pending_store(struct book *book, struct error *err);
/* The transaction ended. */
void pending_ended(struct book *book, bool committed);
/* Stores those that a process left which was killed. -EPROTONOSUPPORT: it was of another version. */
int pending_recover(struct book *book, struct error *err);
void pending_close(struct book *book);
/* Stores those that wait beside another file, `path`, and removes them there. */
int pending_move(struct book *book, struct pending *from, const char *path, struct error *err);

/* `call` in a transaction, unless one is open already: what it returns, or a failure to begin or to commit. */
#define BOOK_ATOMIC(book, call, err) BOOK_WITHIN(book_join, book, call, err)
/* The same for several statements that must see one state of the file, and only read. */
#define BOOK_AT_ONCE(book, call, err) BOOK_WITHIN(book_view, book, call, err)
#define BOOK_WITHIN(begin, book, call, err)                        \
	({                                                                \
		bool _own;                                                \
		int _r;                                                   \
                                                                          \
		do {                                                      \
			_r = begin(book, &_own, err);                     \
			if (_r >= 0)                                      \
				_r = book_leave(book, _own, (call), err); \
		} while (_own && book_again(book, _r, err));              \
		_r;                                                       \
	})

/* The next transaction does not wait for the disk; the one after it does, for both. */
void book_unsynced(struct book *book);

/* Begins a transaction unless one is open already: *ret_own: book_leave will end it. */
int book_join(struct book *book, bool *ret_own, struct error *err);
int book_view(struct book *book, bool *ret_own, struct error *err);
/* Ends it if `own`: commits if r >= 0, otherwise rolls back. Returns r, or the failure. */
int book_leave(struct book *book, bool own, int r, struct error *err);
