/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole lines below a result: warnings, and what could not be observed. They are kept in the order
 * of their kinds, so that the gravest is always the first. Also two such lines that come from the
 * book: what has changed since a profile was made, and what so many samples can show. */
#pragma once

#include "lib/book/book.h"
#include "lib/host/cpu/cpus.h"
#include "lib/protocol/environment_diff.h"
#include "lib/protocol/sample_size.h"
#include "lib/record/profile.h"

struct notes {
	struct note *items;
	size_t n;
};

/* Adds a note behind those of its kind. */
void notes_add(struct notes *notes, enum note_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A copy of all of another list. */
void notes_add_all(struct notes *notes, const struct notes *others);
/* Prints at most `most` lines, each cut to the screen. If there are more, the last says how many,
 * and refers to `where` or, after the only one, to -v. ALL_NOTES: all of them, with as many lines
 * as they need. */
#define ALL_NOTES SIZE_MAX
void notes_print(FILE *file, const struct notes *notes, size_t most, const char *where);
/* [{"kind": …, "text": …}, …] */
json_t *notes_as_json(const struct notes *notes);
void notes_clear(struct notes *notes);

/* Compares two environments of the book (0: none). 1: *ret has the differences; 0: the book does
 * not have both. */
int environment_differences(
	struct book *book, int64_t before, int64_t now, struct differences *ret, struct error *err);

/* Adds a note if the profile may not hold in that environment of the book. ret_changes: what has
 * changed since the profile was made, which the caller frees; not written if it is nothing, or not
 * known; NULL: not wanted. */
int profile_changes_note(struct notes *notes, struct book *book, const struct profile *profile,
	int64_t now, char **ret_changes, struct error *err);

/* For a run that is measured now. Adds a note if the figures that INC showed of its environment are
 * of another INC than the run's: by the profile, or without one (NULL) by those of the book; and
 * how to measure them anew, which an imported profile cannot. */
int other_inc_note(struct notes *notes, struct book *book, const struct run *run,
	const struct profile *profile, struct error *err);

/* On a processor with cores of several types, below root_fd: which one `cpu` is; or, if that is
 * -1, that PT depends on which of the CPUs in `allowed` ran the program, if they are of several;
 * and that a profile (NULL: none) is of another type. */
void core_types_note(struct notes *notes, int root_fd, int cpu, const cpu_set_t *allowed,
	const struct profile *profile);

/* "10 INC samples resolve 2.4 % interleaved, 14 % between separate runs": what a result of that
 * many samples can show. By the calibrations of the run's environment with its INC, else by the
 * profile (NULL: none), which is then of another environment: the text says so. It is empty if
 * neither knows it. */
enum { MDD_TEXT_SIZE = 96 };
int mdd_text(struct book *book, const struct run *run, const struct profile *profile, size_t n,
	char ret[MDD_TEXT_SIZE], struct error *err);

/* From such rows; `others`: they are of another environment. */
const char *mdd_text_of(const struct mdd rows[N_MDD], size_t n, bool others);
