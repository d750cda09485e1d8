/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole lines below a result: warnings, and what could not be observed. */
#pragma once

#include "lib/base/error.h"

#include <stddef.h>
#include <stdio.h>

struct notes {
	char **items;
	size_t n;
};

/* -ENOMEM with a sentence. */
int notes_add(struct notes *notes, struct error *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Prints at most `most` lines. If there are more, the last says how many, and refers to `where` or, after the only one,
 * to -v. */
void notes_print(FILE *file, const struct notes *notes, size_t most, const char *where);
void notes_clear(struct notes *notes);
