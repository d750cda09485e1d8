/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for another program that has the lab book locked. */
#pragma once

#include "lib/base/base.h"

struct book;

/* How long to wait for another writer before -EBUSY; 10 s by default. */
void book_patience(struct book *book, int ms);

/* Waits longer than book_patience() says. `go_on` is called again and again meanwhile; it returns
 * false to end the wait, which then ends after at most a second. `sentence` is NULL, except in one
 * call when the patience is over: then it names the book and the process that keeps it locked. */
typedef bool book_wait(const char *sentence, void *data);
void book_on_wait(struct book *book, book_wait *go_on, void *data);
