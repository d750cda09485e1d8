/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of a journal's file.
 *
 * A line is "LENGTH DIGEST JSON": the number of bytes of the JSON, and the first digits of their SHA-256. Where the end
 * of a line is damaged, the length says where the next line begins. The head is there twice, and has the number of
 * entries. Lines of 0.1.0 are the JSON alone, and their head does not have the number. */
#pragma once

#include "setup/apply/journal.h"

#include <stdio.h>

/* Line `i` of a whole journal: the head, n entries, the head again. The caller frees it. NULL: no memory. */
char *journal_line(const struct journal *journal, size_t i);
/* What is appended when entry `i` was set; likewise. */
char *journal_mark_line(const struct journal *journal, size_t i);

/* Reads all that can be read. -EPROTONOSUPPORT: it was written by a newer version. */
int journal_parse(struct journal *ret, FILE *file, struct error *err);
