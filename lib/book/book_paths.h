/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of the lab book before SQLite opens it, and the files beside it: what can be wrong with
 * them, and new ones. SQLite reports most of what can be wrong with the same words ("unable to open
 * database file"). For the modules of the book. */
#pragma once

#include "lib/base/base.h"

struct book;

/* Checks the file of the book and those beside it, makes it if it is missing and the book is to be
 * written, and sets book->file. */
int book_check_file(struct book *book, struct error *err);

/* Makes an empty file for a new book, if there is none. */
int book_make_file(const char *path, struct error *err);
/* "BEGINNING", or, where there is a file of that name, "BEGINNING-2" and so on; the caller frees
 * it. */
char *book_free_name(const char *beginning);
/* The directory of a file; the caller frees it. */
char *book_directory(const char *path);
/* The size of the file "PATHSUFFIX"; 0: there is none. */
off_t book_file_size(const char *path, const char *suffix);
