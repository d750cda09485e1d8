/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibrations in the lab book: which short and which long run belong together and what was requested, so that
 * another process can resume a calibration; and where runs were interrupted and resumed. */
#pragma once

#include "lib/book/book.h"

/* The short or the long run. */
struct calibration_phase {
	int64_t length_ns;      /* of INC */
	uint32_t samples;       /* how many to take */
	int64_t central_max_ns; /* set by hand; 0: detect it */
	int64_t run;            /* 0: not begun */
};

enum { SHORT_PHASE, LONG_PHASE, CALIBRATION_PHASES };

enum calibration_state {
	CALIBRATION_OPEN,
	CALIBRATION_DONE,    /* there is a profile */
	CALIBRATION_REFUSED, /* a run is neither an L nor clean */
	N_CALIBRATION_STATES
};

extern const char *const calibration_state_names[N_CALIBRATION_STATES];

struct calibration_plan {
	int64_t id;    /* in the book; 0: not stored */
	char *profile; /* the name it is made for */
	enum calibration_state state;
	char *owner; /* the process that runs it, as lib/host/process/process.h writes it; NULL: none */
	int64_t started_ns;
	struct calibration_phase phases[CALIBRATION_PHASES];
	char *backend; /* as requested: "auto", … */
	int cpu;       /* -1: not pinned */
	bool anyway, force, replace, by_et, other_cpus;
	int64_t material_ppm; /* cutoffs that explain less of the delay are left out */
};

void calibration_plan_clear(struct calibration_plan *calibration);

/* Sets the id, state CALIBRATION_OPEN, and started_ns if it is 0. */
int book_begin_calibration(struct book *book, struct calibration_plan *calibration, struct error *err);
/* What changes while it runs: state, owner, and the runs. */
int book_update_calibration(struct book *book, const struct calibration_plan *calibration, struct error *err);
/* In the order they were begun; clear each and free the array. */
int book_calibrations(struct book *book, struct calibration_plan **ret, size_t *ret_n, struct error *err);

/* Where a run was interrupted and resumed. */
struct resume_point {
	uint32_t n;          /* the first sample after it */
	int64_t at_ns;       /* since 1970 */
	char *why;           /* "interrupted", "failed", "cut off" */
	int64_t environment; /* in which it was resumed; 0: unknown */
};
extern const struct field_table resume_point_table;

/* Opens a run again, with a resume point after the samples that it has; a run without samples gets none. */
int book_reopen_run(struct book *book, int64_t run, int64_t environment, struct error *err);
/* resume_points_free() frees the array. */
int book_resume_points(
	struct book *book, int64_t run, struct resume_point **ret, size_t *ret_n, struct error *err);
void resume_points_free(struct resume_point *resume_points, size_t n);
