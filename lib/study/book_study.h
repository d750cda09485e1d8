/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Studies in the lab book: the study, its blocks in the order of measuring, which runs have the
 * samples of a block, and times that no run has. */
#pragma once

#include "lib/book/book.h"

enum study_kind {
	STUDY_LENGTHS,
	STUDY_SAMPLES,
	STUDY_SETTINGS,
	STUDY_VERSIONS,
	STUDY_CLOCKS,
	STUDY_ALGORITHMS,
	STUDY_SUITE,
	STUDY_CLEAN_ROOM,
	STUDY_NIGHT, /* other studies, one after another */
	N_STUDY_KINDS
};

extern const char *const study_kind_names[N_STUDY_KINDS + 1]; /* ends with NULL */

struct study_row {
	int64_t id;    /* 0: not stored */
	int64_t night; /* the study that it is a part of; 0: none */
	char *name;    /* of its file, without folder and suffix */
	enum study_kind what;
	char *file;    /* its whole text */
	char *options; /* of emp-measure, a JSON array */
	int64_t seed;
	char *notes; /* on steps that change nothing on its machine, a line for each; NULL: none */
	char *owner; /* the process that runs it (process.h); NULL: none */
	int64_t started_ns;
	int64_t finished_ns; /* 0: it is not */
	int64_t environment; /* 0: unknown */
};

/* One program, as long or as large as its size says, under one step of settings. */
struct study_block {
	int64_t id;
	uint32_t position;               /* in the order of measuring, from 1 */
	int round;                       /* from 1 */
	char *step;                      /* of settings; NULL: as the machine was */
	char *subject;                   /* "INC0.1", "sort 100K" */
	double size;                     /* seconds of INC, or n; NAN: none */
	char *command;                   /* a JSON array */
	uint32_t samples;                /* that are to be taken */
	int64_t started_ns, finished_ns; /* 0: not yet */
};

/* A run that has samples of a block; ordered by block and run. */
struct study_run {
	int64_t run, block;
};

struct study_reading {
	int64_t block;
	char *clock; /* "clock_gettime", "tsc" */
	uint32_t sample;
	int64_t ns;
};

extern const struct field_table study_table, study_block_table, study_run_table,
	study_reading_table;

void study_row_clear(struct study_row *study);

/* Stores a new study and its blocks in one transaction; sets the ids, and started_ns if it is 0. */
int book_add_study(struct book *book, struct study_row *study, struct study_block *blocks,
	size_t n_blocks, struct error *err);
/* id 0: the latest. -ENOENT with a sentence. */
int book_get_study(struct book *book, int64_t id, struct study_row *ret, struct error *err);
/* All, by their ids. The caller frees them with fields_free(&study_table, …). */
int book_studies(struct book *book, struct study_row **ret, size_t *ret_n, struct error *err);
/* Those of a night, likewise. */
int book_night_studies(
	struct book *book, int64_t night, struct study_row **ret, size_t *ret_n, struct error *err);
/* The latest that is not finished and is no part of a night. 1: there is one; 0: none. */
int book_unfinished_study(struct book *book, struct study_row *ret, struct error *err);

/* By position; fields_free(&study_block_table, …). */
int book_study_blocks(struct book *book, int64_t study, struct study_block **ret, size_t *ret_n,
	struct error *err);
/* Of all blocks of a study; free() frees them. */
int book_study_runs(
	struct book *book, int64_t study, struct study_run **ret, size_t *ret_n, struct error *err);
/* Of all blocks of a study, by block, clock and sample; fields_free(&study_reading_table, …). */
int book_study_readings(struct book *book, int64_t study, struct study_reading **ret, size_t *ret_n,
	struct error *err);

/* The study of each run that is of one, by run; free() frees them. */
struct run_study {
	int64_t run, study;
};
int book_run_studies(struct book *book, struct run_study **ret, size_t *ret_n, struct error *err);
/* Of one run; 0: of none. */
int64_t run_study_find(const struct run_study *studies, size_t n, int64_t run);
/* How many samples of a block there are: in its runs, and of readings of clocks. */
int book_study_samples(struct book *book, int64_t block, uint32_t *ret_samples,
	uint32_t *ret_readings, struct error *err);
/* The mean ET of a command (a JSON array) in all studies. 1: it is known, otherwise 0. */
int book_study_duration(struct book *book, const char *command, int64_t *ret_ns, struct error *err);
/* For how long blocks of a study, or of all studies of a night, were measured so far. */
int book_study_measured(struct book *book, int64_t study, int64_t *ret_ns, struct error *err);

int book_add_study_run(struct book *book, int64_t block, int64_t run, struct error *err);
/* In the transaction of the caller, or one for each. */
int book_add_study_readings(
	struct book *book, const struct study_reading *readings, size_t n, struct error *err);
/* Moments; each is stored once. */
int book_begin_study_block(struct book *book, int64_t block, struct error *err);
int book_finish_study_block(struct book *book, int64_t block, struct error *err);
int book_finish_study(struct book *book, int64_t study, struct error *err);
/* Who runs it now; NULL: nobody. */
int book_own_study(struct book *book, int64_t study, const char *owner, struct error *err);
/* Removes a study with its blocks; its runs too. */
int book_remove_study(struct book *book, int64_t study, struct error *err);
