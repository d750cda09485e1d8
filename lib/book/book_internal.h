/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The handle of the lab book, which its modules look into. */
#pragma once

#include "lib/book/book_open.h"
#include "lib/book/book_statements.h"
#include "lib/book/book_wait.h"

#include <sqlite3.h>

struct book {
	sqlite3 *db;
	char *path; /* as the user named it */
	/* path with symbolic links resolved; the -wal, -pending etc. stand beside this */
	char *file;
	enum book_mode mode;

	/* waiting for another writer: book_wait.c */
	int patience_ms;
	book_wait *go_on; /* NULL: it waits no longer than that */
	void *go_on_data;
	int64_t waits_since_ns;
	bool wait_said;

	bool ours;      /* it is a lab book, of a known version */
	bool lost;      /* its file was removed or replaced */
	bool may_leave; /* it may go on in a copy if its file cannot be written */
	int failure;    /* SQLite's code of the last failure */
	int unwritable; /* the errno of the last failure to write the file; else 0 */
	char *left;     /* the file that could not be written; NULL: it is still in use */

	bool unsynced;     /* the next commit does not wait for the disk */
	int64_t synced_ns; /* CLOCK_MONOTONIC: when a commit of a sample last waited for it */

	struct book_statements statements;
	/* ids of sources by what they are, a tree (tsearch(3)), so that a sample of 100 executions
	 * reads nothing from the file */
	void *sources;
	struct walk *walk; /* through executions, in progress; NULL: none */

	/* Samples in BOOK-pending that are not in the book yet: book_pending.c */
	struct pending {
		int fd; /* -1: not open */
		off_t size;
		bool tried;   /* this process has tried to open it */
		bool stored;  /* the open transaction has stored all of it */
		char *aside;  /* a file with the samples that the book refused; NULL: none */
		char *notice; /* about those, printed when the others are committed */
	} pending;
};
