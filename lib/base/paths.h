/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The path of the book, and which paths are safe: one policy for books, journals, documents and all other files that EMP
 * opens by a name. Not in lib/record, so that `inc`, which is static and small, finds the book by the same rule. */
#pragma once

#include "lib/base/error.h"

#include <stdbool.h>
#include <sys/stat.h>

/* The user's own book: /var/lib/emp/emp.db for root, $XDG_DATA_HOME/emp/emp.db (~/.local/share/emp/emp.db)
 * otherwise. The caller frees it. */
int paths_default_book(char **ret, struct error *err);

/* The file that `option` (--db), else EMP_DB, else the default names. Empty means not given. */
int paths_book(const char *option, char **ret, struct error *err);

/* The file next to `book` that holds the constant of INC as text for `inc`; the caller frees it. */
char *paths_inc_constant(const char *book);

enum path_use { PATH_READ, PATH_WRITE };

/* Follows the links in a path, also to a file that does not exist yet: *ret has none, and the caller frees it; *ret_exists
 * and *ret_st are of the file. -EACCES with a sentence: a link (or, to write, the file) belongs to another user, in a
 * directory that all may write to, where anybody can put it to mislead. The kernel refuses that only with its
 * fs.protected_* settings. */
int paths_follow(const char *path, enum path_use use, char **ret, bool *ret_exists, struct stat *ret_st,
	struct error *err);
/* The same for a caller that needs no more than the answer. */
int paths_check(const char *path, enum path_use use, struct error *err);
