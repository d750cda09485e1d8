/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration at work: the host to itself, the machine audited and its fingerprint taken, then the short
 * and the long run, each from wherever it stands, then the profile. 'run' begins one, 'resume' goes on with
 * one. */
#pragma once

#include "calibrate/constant.h"

#include "lib/host/cpu/pinning.h"
#include "lib/host/system/lock.h"
#include "lib/run/observer.h"
#include "lib/record/book/book_calibrations.h"

struct calibration {
	struct book *book;
	char *book_path;
	struct calibration_plan plan;
	struct lock lock;
	int inhibitor; /* -1: nobody holds off sleep */
	struct observer observer;
	struct constant constant;
	char *inc;
	char *notes;         /* for the runs: what the audit said; NULL: nothing */
	int64_t environment; /* as it is now */
	char *digest;
	int64_t pace_ns[CALIBRATION_PHASES]; /* from one sample to the next, as seen; 0: not seen yet */
};

#define CALIBRATION_NEW                                                   \
	{                                                                 \
		.inhibitor = -1, .lock = {.fd = -1}, .plan = {.cpu = -1 } \
	}

void calibration_clear(struct calibration *calibration);

/* Where words for people go: standard output, unless that is for a JSON document alone. */
FILE *calibration_talk(void);

/* The book and the host's lock. `what` is the verb, for others to read. */
int calibration_open(struct calibration *calibration, const char *what, struct error *err);

/* Audit, fingerprint, observer. 0, or STATUS_NOT_FIT with a sentence. */
int calibration_prepare(struct calibration *calibration, struct error *err);

/* The plan is one that is in the book, and goes on: calibration_prepare, the same environment (or, with `anyway`, said
 * to be another), work_constant. */
int calibration_continue(struct calibration *calibration, bool anyway, struct error *err);

/* The constant of INC, of the environment that the calibration began in (0: it begins in this one). */
int calibration_constant(struct calibration *calibration, int64_t environment, struct error *err);

/* What is still to be done, with its end; then sleep is held off and systemd told. */
void calibration_announce(struct calibration *calibration, struct error *err);

/* Both runs to their ends, then the profile. The status to exit with, or a failure; what was begun can be
 * gone on with in every case but 0. */
int calibration_run(struct calibration *calibration, struct error *err);

/* One half of it, from where it stands. */
int phase_do(struct calibration *calibration, int which, struct error *err);
uint32_t phase_samples(struct calibration *calibration, int which); /* in the book */

/* The profile of the two runs that are complete: 0, STATUS_NOT_FIT where one is no L, or a failure. */
int calibration_conclude(struct calibration *calibration, struct error *err);

/* How long the rest takes, by the pace so far. */
int64_t calibration_left_ns(struct calibration *calibration);

/* "emp-calibrate resume 3", with the book if it was named; the caller frees it. NULL: no memory. */
char *calibration_resume_command(const struct calibration *calibration);
