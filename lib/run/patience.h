/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of several days does not end because another program has locked its book. */
#pragma once

#include "lib/book/book.h"

/* From now on, all users of the book wait until the lock is gone, or until INT, TERM or HUP. After 10 s, a message on standard error
 * says what they wait for. */
void patience_begin(struct book *book);
