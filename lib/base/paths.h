/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The path of the book. Not in lib/record, so that `inc`, which is static and small, finds the book by the same
 * rule. */
#pragma once

#include "lib/base/error.h"

/* The user's own book: /var/lib/emp/emp.db for root, $XDG_DATA_HOME/emp/emp.db (~/.local/share/emp/emp.db)
 * otherwise. The caller frees it. */
int paths_default_book(char **ret, struct error *err);

/* The file that `option` (--db), else EMP_DB, else the default names. Empty means not given. */
int paths_book(const char *option, char **ret, struct error *err);

/* The file next to `book` that holds the constant of INC as text for `inc`; the caller frees it. */
int paths_inc_constant(const char *book, char **ret, struct error *err);
