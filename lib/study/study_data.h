/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a study measured, read from the lab book: the times of each program under each combination
 * of settings, in blocks, under each of the rules by which samples are discarded. */
#pragma once

#include "lib/stats/block_variance.h"
#include "lib/study/book_study.h"
#include "lib/study/study_file.h"

enum study_rule {
	STUDY_RULE_ALL,    /* no sample is discarded */
	STUDY_RULE_SEDONA, /* the first check: those over a cutoff of the profile */
	STUDY_RULE_EMP,    /* the papers' two checks: these, and then those beyond 2 sd */
	STUDY_RULE_CAUSES, /* those with a cause that EMP can name: the rules of the runs themselves */
	N_STUDY_RULES
};

extern const char *const study_rule_names[N_STUDY_RULES + 1]; /* ends with NULL */

enum study_clock { STUDY_ET, STUDY_PT, N_STUDY_CLOCKS };
extern const char *const study_clock_names[N_STUDY_CLOCKS];

/* A program of one size under one combination of settings. */
struct study_cell {
	struct time_blocks times[N_STUDY_RULES][N_STUDY_CLOCKS];
	/* what others took from each sample; empty if a run does not know it exactly */
	struct time_blocks waits;
	bool waits_unknown;
	bool *out; /* by the rule of causes: of all samples, in the order of blocks */
	size_t n_samples;
};

/* What a background process took under a combination of settings, as a share of the ET of all
 * samples. */
struct study_daemon {
	char *name, *unit; /* unit NULL: none, or not known */
	double *shares;    /* of each combination */
};

/* A clock of the study of clocks, and what it timed. */
struct study_clock_times {
	char *name;
	size_t subject;
	struct time_blocks times;
};

/* A comparison of two combinations, by their indices. */
struct study_contrast {
	char *name; /* of the step, or "all steps" */
	size_t before, after;
	bool all; /* of all steps at once */
};

/* Of the blocks: a scaled study has other lengths than its file. */
struct study_program {
	char *name;    /* "INC0.1", "sort 100K" */
	char *program; /* "INC", "sort" */
	double size;   /* NAN: none */
	size_t n_samples, n_failed;
};

struct study_data {
	struct study_row study;
	struct study_file file;
	struct study_program *subjects; /* in the order of the file, by size */
	size_t n_subjects;
	char **combinations; /* labels; the first is that without settings */
	size_t n_combinations;
	struct study_cell *cells; /* of each combination, those of all subjects */
	struct study_contrast *contrasts;
	size_t n_contrasts;
	struct study_daemon *daemons;
	size_t n_daemons;
	double *et_ns; /* of each combination: of all samples */
	struct study_clock_times *clocks;
	size_t n_clocks;
	size_t n_blocks, n_finished; /* blocks */
	bool has_cutoffs;            /* a run was measured with a profile, or one was given */
	bool virtual;                /* it was measured on a virtual machine */
};

/* profile: cutoffs in the place of those that the runs were measured with; NULL: those. */
int study_data_read(struct book *book, int64_t study, const char *profile, struct study_data *ret,
	struct error *err);
void study_data_clear(struct study_data *data);

static inline struct study_cell *study_cell_of(
	const struct study_data *data, size_t combination, size_t subject)
{
	return &data->cells[combination * data->n_subjects + subject];
}
