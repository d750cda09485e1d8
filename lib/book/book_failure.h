/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user is told when SQLite fails: a sentence for each kind of failure, for the modules of
 * the book. */
#pragma once

#include "lib/base/error.h"

struct book;

/* Writes the sentence for `rc`, which SQLite just returned. Returns a negative errno. */
int book_failed(struct book *book, int rc, struct error *err);
