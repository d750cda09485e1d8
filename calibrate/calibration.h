/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration in progress. 'run' plans one and 'resume' finds one in the book (run.c, resume.c). Both then prepare
 * the machine (prepare.h), and calibration_run takes the rest of the short and of the long run (phase.c) and makes
 * the profile (conclude.c). screen.h prints what the user reads. */
#pragma once

#include "lib/run/constant.h"

#include "lib/host/system/lock.h"
#include "lib/run/observer.h"
#include "lib/book/book.h"

struct calibration {
	struct book *book;
	struct calibration_plan plan;
	struct lock lock;
	int inhibitor; /* -1: sleep is not blocked */
	struct observer observer;
	struct constant constant;
	char *inc;
	char *notes;         /* for the runs: the result of the audit; NULL: nothing */
	int64_t environment; /* today's */
	char *digest;
	int64_t pace_ns[CALIBRATION_PHASES]; /* from one sample to the next, measured; 0: not yet */
};

#define CALIBRATION_NEW                                                   \
	{                                                                 \
		.inhibitor = -1, .lock = {.fd = -1}, .plan = {.cpu = -1 } \
	}

void calibration_clear(struct calibration *calibration);

/* Opens the book and takes the host's lock. `verb` appears in the messages of other tools that find it locked. */
int calibration_open(struct calibration *calibration, struct error *err);

/* Samples in the book. */
uint32_t calibration_samples(struct calibration *calibration, int which);

/* The time left, estimated from the samples so far. */
int64_t calibration_left_ns(struct calibration *calibration);

/* Takes both runs, then makes the profile. Returns the exit status, or a failure; unless it is 0, the calibration
 * can be resumed. */
int calibration_run(struct calibration *calibration, struct error *err);

/* For it: SHORT_PHASE or LONG_PHASE, from where it is to its end. */
int phase_do(struct calibration *calibration, int which, struct error *err);

/* For it: from two complete runs to the profile in the book, or the reason why there is none: STATUS_NOT_FIT with a
 * sentence where a run is no L, or a failure. */
int conclude(struct calibration *calibration, struct error *err);

/* For it: INC as a duet with itself, a few seconds of it. Adds what a duet can resolve, where there can be duets by the scheduler's slices: on
 * one CPU, in cgroups. -EINTR without a sentence. */
int calibration_duet(struct calibration *calibration, struct resolving rows[N_RESOLVING], struct error *err);

/* How long that takes at least; 0: there is none. */
int64_t calibration_duet_ns(const struct calibration *calibration);

/* "emp-calibrate resume 3", with the book if it was named; the caller frees it. NULL: no memory. */
char *calibration_resume_command(const struct calibration *calibration);
