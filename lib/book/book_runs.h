/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs in the lab book, and what it has of each besides samples: notes, programs, resume points,
 * rows of features. An id is never used twice, even after its run was removed. */
#pragma once

#include "lib/record/run.h"

struct book;

/* Begins a run: sets its id, uid and owner, state RUN_OPEN, started_ns if it is 0, and what the
 * book now knows of the machine and the profile. */
int book_begin_run(struct book *book, struct run *run, struct error *err);
/* Adds a run that was measured elsewhere: its state, times and correlation are kept. */
int book_add_run(struct book *book, struct run *run, struct error *err);
/* Stores which control groups held the run back. */
int book_put_held_back(struct book *book, int64_t id, const char *by, struct error *err);
/* Stores the digest of the files of its program, and of its output: see struct run. */
/* That a run that was begun as a duet is taken in turn, with the source of its W. */
int book_put_in_turn(struct book *book, int64_t id, const char *wait_source, struct error *err);
int book_put_program_digest(struct book *book, int64_t id, const char *digest, struct error *err);
int book_put_output_digest(struct book *book, int64_t id, const char *digest, struct error *err);
int book_end_run(
	struct book *book, int64_t id, enum run_state state, const char *notes, struct error *err);
/* The state is RUN_INTERRUPTED if the owner did not end the run and is not alive. -ENOENT */
int book_get_run(struct book *book, int64_t id, struct run *ret, struct error *err);
/* The latest run with that name (NULL: of all runs). Returns how many have it. */
int book_find_run(struct book *book, const char *name, int64_t *ret, struct error *err);
/* All runs; the caller clears each and frees the array. */
int book_runs(struct book *book, struct run **ret, size_t *ret_n, struct error *err);
/* The means of PT, or of ET, of all runs of the same command and kind as this one, in environments
 * of the same identity, by their start; this one is among them. The caller frees ret->items. */
int book_run_means(
	struct book *book, int64_t run, bool et, struct run_means *ret, struct error *err);
/* A sample of which it is known how long it had a neighbour. */
struct probed_time {
	int64_t run, pt_ns, neighbour_ppm, neighbour_error_ppm;
};

/* Those of the latest runs of the same program and command as this one, which need not be in the
 * book, in environments of the same identity; by run, in order. Runs without a neighbour are left
 * out. The caller frees them. */
int book_probed_times(struct book *book, const struct run *like, struct probed_time **ret,
	size_t *ret_n, struct error *err);
/* The mean PT of its samples; NAN: it has none. */
int book_mean_pt(struct book *book, int64_t run, double *ret_ns, struct error *err);
/* Removes a run and its samples, in a transaction of the caller. Unless forced, -EBUSY with a
 * sentence if it is a run of a profile (which would keep its cutoffs, but not the run's number), of
 * a calibration that is not complete (which would be removed as well), or of a study. */
int book_remove_run(struct book *book, int64_t id, bool force, struct error *err);

/* Replaces the notes on the result of a run. Their n count from 1. */
int book_put_notes(
	struct book *book, int64_t run, const struct note *notes, size_t n, struct error *err);

/* Rows of a run in any table whose key is `run` and one or two of its first fields: notes, samples,
 * disturbance counters (which are not in struct sample, because few readers need them), programs,
 * resume points, and the tables of features.
 *
 * book_rows() reads them in the order of the key into an array, whose address it writes to *ret;
 * fields_free() frees it. book_add_rows() adds some; rows of a sample must be added in the
 * transaction of the sample. */
int book_rows(struct book *book, int64_t run, const struct field_table *table, void *ret,
	size_t *ret_n, struct error *err);
int book_add_rows(struct book *book, int64_t run, const struct field_table *table, const void *rows,
	size_t n, struct error *err);

/* Where a run was interrupted and resumed. */
struct resume_point {
	uint32_t n;          /* the first sample after it */
	int64_t at_ns;       /* since 1970 */
	char *why;           /* "interrupted", "failed", "cut off" */
	int64_t environment; /* in which it was resumed; 0: unknown */
};
extern const struct field_table resume_point_table;

/* Opens a run again, with a resume point after the samples that it has; a run without samples gets
 * none. */
int book_reopen_run(struct book *book, int64_t run, int64_t environment, struct error *err);

/* A table with rows of runs, for documents. Features list theirs in lib/features.c. A test fails if
 * a table of the book is in no list. */
struct run_rows {
	const char *member; /* of a document */
	const struct field_table *table;
	const char *select; /* what follows "SELECT fields FROM table"; NULL: "WHERE run = ?" */
	const char *insert; /* what follows "INSERT INTO table …"; NULL: nothing */
	bool single;        /* there is one row at most */
};
