/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of the book: the handle, and what they do for each other. */
#pragma once

#include "lib/book/sql.h"
#include "lib/host/system/digest.h"

/* Samples in BOOK-pending that are not in the book yet. */
struct pending {
	int fd; /* -1: not open */
	off_t size;
	bool tried;   /* to open it */
	bool stored;  /* all of it, in the transaction that is open */
	char *aside;  /* the file that has those which the book refuses; NULL: none */
	char *notice; /* about them, once the others are committed */
};

struct book_statement {
	/* its SQL is made of, and `sql` is the tail; NULL: `sql` is the SQL */
	const struct field_table *table;
	const char *sql; /* a literal: its address is the key */
	bool insert;
	sqlite3_stmt *stmt;
};

struct walk;

struct book {
	sqlite3 *db;
	char *path; /* as the user named it */
	/* path with symbolic links resolved; the -wal, -pending etc. stand beside this */
	char *file;
	enum book_mode mode;
	int patience_ms;
	book_wait *go_on; /* NULL: it waits no longer than that */
	void *go_on_data;
	int64_t waits_since_ns; /* for another writer */
	bool wait_said;
	bool lost;         /* its file was removed or replaced */
	bool may_leave;    /* to go on in a copy if its file cannot be written */
	int failure;       /* SQLite's code of the last failure */
	int unwritable;    /* the errno of the last failure, if it was to write the file */
	char *left;        /* the file that could not be written; NULL: it is still in use */
	bool unsynced;     /* the next commit does not wait for the disk */
	int64_t synced_ns; /* CLOCK_MONOTONIC of the last sample that was */
	bool ours;         /* it is a lab book, of a known version */
	struct book_statement statements[192];
	size_t n_statements;
	/* a tree of those of the file, see tsearch(3), so that a sample of 100 executions reads
	 * nothing from it */
	void *sources;
	struct pending pending;
	struct walk *walk; /* in progress; NULL: none */
};

/* book.c */

/* Writes the message for what SQLite just returned; returns a negative errno. */
int book_failed(struct book *book, int rc, struct error *err);
/* The next transaction does not wait for the disk; the one after it does, for both. */
void book_unsynced(struct book *book);
/* Closes the file and keeps the handle. */
void book_disconnect(struct book *book);

/* book_open.c */

/* Makes an empty file for a new book, if there is none. */
int book_make_file(const char *path, struct error *err);
/* "BEGINNING", or, where there is a file of that name, "BEGINNING-2" and so on; the caller frees
 * it. */
char *book_free_name(const char *beginning);
/* SHA-256 of all tables, views, indexes and triggers. Those of the newest version are known by
 * it, because making them to compare them takes longer than most commands. -EIO: they cannot be
 * read. */
int book_schema_digest(sqlite3 *db, char ret[DIGEST_SIZE]);
extern const char *const book_schema_newest_digest;
extern const uint32_t book_schema_newest_version;

/* book_pending.c */

/* Stores the samples that were kept, before anything else is done with the book. */
int pending_store(struct book *book, struct error *err);
/* The transaction that stored them is committed, or rolled back. */
void pending_committed(struct book *book);
void pending_rolled_back(struct book *book);
/* Stores those that a process left which was killed. Those of another version are put aside.
 * -EPROTONOSUPPORT: the file is not EMP's. */
int pending_recover(struct book *book, struct error *err);
/* Before an upgrade: the file with those of the older version, locked; *ret_fd -1: there is none.
 * -EBUSY: that version is taking samples. */
int pending_lock_older(struct book *book, int *ret_fd, struct error *err);
/* After it: puts them aside. `copy`: of the book before; the older version stores them there when
 * it opens it. */
void pending_put_aside(struct book *book, const char *copy);
/* Stores those that wait beside `path`, and removes the file there; no more are kept. */
int pending_end(struct book *book, const char *path, struct error *err);

/* book_samples.c */

void book_forget_sources(struct book *book);
/* The function that walks the executions, for this connection. */
int book_walk_register(struct book *book, struct error *err);

/* book_machines.c: removes the retired profiles that no run needs any more. */
int book_prune_profiles(struct book *book, struct error *err);
