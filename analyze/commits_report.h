/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparison of two commits as a sentence, on the screen, and as a report in Markdown. */
#pragma once

#include "analyze/commits_document.h"

/* "2 of 20 are slower, by 3.1 and 8.4 %; 17 are equal within 2 %; 1 cannot be told". The caller
 * frees it. */
char *commits_sentence(const struct commits *commits);

void commits_print(const struct commits *commits, const char *sentence);

void commits_write_markdown(const struct commits *commits, const char *sentence, FILE *file);
