/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples that wait in a file beside the lab book, BOOK-pending, until a transaction stores them.
 * Users call book_keep_sample(); the other functions are for the modules of the book. */
#pragma once

#include "lib/record/run.h"

struct book;

/* Keeps a sample in the file instead of a transaction, if the last samples were stored less than a
 * second ago. The file outlives this process, and whatever uses the book next stores the sample.
 * The ids of its sources must have been committed. False: it was not kept. */
bool book_keep_sample(struct book *book, const struct run *run, const struct sample *sample,
	const struct execution *executions, size_t n_executions, const struct counters *changes);

/* Stores the samples that were kept, before anything else is done with the book. */
int pending_store(struct book *book, struct error *err);
/* The transaction that stored them is committed, or rolled back. */
void pending_committed(struct book *book);
void pending_rolled_back(struct book *book);
/* Stores the samples of a process that was killed. Those of another version are put aside.
 * -EPROTONOSUPPORT: the file is not EMP's. */
int pending_recover(struct book *book, struct error *err);
/* Before an upgrade: locks the file with the samples of the older version. *ret_fd -1: there is
 * none. -EBUSY: that version is taking samples. */
int pending_lock_older(struct book *book, int *ret_fd, struct error *err);
/* After the upgrade: puts that file aside. `copy` is the copy of the old book, in which the older
 * version stores the samples when it opens it; NULL: the book was not upgraded, and another version
 * left the file. */
void pending_put_aside(struct book *book, const char *copy);
/* Stores the samples that wait beside `path`, and removes the file there; no more are kept. */
int pending_end(struct book *book, const char *path, struct error *err);
