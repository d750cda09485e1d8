/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening and closing the lab book, and going on in a copy of it while a measurement runs and the
 * file cannot be written any more. */
#pragma once

#include "lib/base/base.h"

struct book;

enum book_mode {
	BOOK_READ,
	BOOK_WRITE, /* created if missing */
	/* BOOK_WRITE that goes on in a copy if the file cannot be written any more */
	BOOK_MEASURE,
};

/* `name` is the file, as --db gives it; NULL: that of EMP_DB, else the user's own
 * (lib/base/paths.h). BOOK_WRITE makes missing directories of the user's own. BOOK_READ of a
 * missing file: -ENOENT. */
int book_open(struct book **ret, const char *name, enum book_mode mode, struct error *err);
/* Rolls back what is not committed. */
void book_free(struct book *book);
DEFINE_FREEP(book)

/* The file, as the user named it; that of the copy if the book goes on in one. */
const char *book_file(const struct book *book);

/* Ends a measurement whose result is r. If the book goes on in a copy, the runs `first` to `last`
 * are in the copy only: then 0 becomes -ENOSPC, and the sentence in err also says which commands
 * move them into the book. */
int book_say_elsewhere(
	const struct book *book, int64_t first, int64_t last, int r, struct error *err);
/* Moves the book to a copy if the transaction that just failed with r could not write the file and
 * the mode is BOOK_MEASURE. True: it moved, and the transaction must be done again. */
bool book_again(struct book *book, int r, struct error *err);

/* For the modules of the book: closes the file and keeps the handle. */
void book_disconnect(struct book *book);
