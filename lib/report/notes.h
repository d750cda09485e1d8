/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole lines below a result: warnings, and what could not be observed. They are kept in the order of their kinds, so that
 * the gravest is always the first. */
#pragma once

#include "lib/base/json.h"
#include "lib/record/run.h"

#include <stdio.h>

struct notes {
	struct note *items;
	size_t n;
};

/* Behind those of its kind. -ENOMEM with a sentence. */
int notes_add(struct notes *notes, enum note_kind kind, struct error *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* A copy of all of another list. */
int notes_add_all(struct notes *notes, const struct notes *others, struct error *err);
/* Prints at most `most` lines, each cut to the screen. If there are more, the last says how many, and refers to `where` or,
 * after the only one, to -v. */
void notes_print(FILE *file, const struct notes *notes, size_t most, const char *where);
/* All of them, as many lines as they need. */
void notes_print_all(FILE *file, const struct notes *notes);
/* [{"kind": …, "text": …}, …] */
json_t *notes_as_json(const struct notes *notes);
void notes_clear(struct notes *notes);
