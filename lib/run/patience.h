/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of days does not end because another program has its book locked. */
#pragma once

#include "lib/record/book/book.h"

/* From now on, all that uses the book waits until the lock is gone, or until INT, TERM or HUP. After 10 s, standard error says
 * what it waits for. */
void patience_begin(struct book *book);
