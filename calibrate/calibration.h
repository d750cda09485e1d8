/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration in progress. 'run' plans one and 'resume' finds one in the book (run.c). Both then
 * prepare the machine here. calibration_run.c takes the rest of the short and of the long run, with
 * INC as the program, and calibration_profile.c makes the profile. 'revalidate' takes a run in the
 * same way. */
#pragma once

#include "lib/run/constant.h"

struct calibration {
	struct run_session base;
	struct calibration_plan plan;
	int inhibitor; /* -1: sleep is not blocked */
	struct inc inc;
	/* for the runs: the result of the audit; NULL: nothing */
	char *notes;
	int phase;                           /* under way */
	int64_t pace_ns[CALIBRATION_PHASES]; /* from one sample to the next, measured; 0: not yet */
};

#define CALIBRATION_NEW                                                        \
	{                                                                      \
		.inhibitor = -1, .base = RUN_SESSION_NEW, .plan = {.cpu = -1 } \
	}

void calibration_clear(struct calibration *calibration);

/* Finds INC, opens the book, and takes the host's lock (RUN_LOCK_TAKEN). */
int calibration_open(struct calibration *calibration, enum run_lock lock, struct error *err);

/* Checks the machine and takes its fingerprint, and opens the observer. 0, or STATUS_NOT_FIT with a
 * sentence if the machine is not fit and --ignore-audit is not given. */
int calibration_prepare(struct calibration *calibration, struct error *err);

/* Finds the constant of INC for the environment that the calibration began in (0: it begins in
 * today's). */
int calibration_find_constant(
	struct calibration *calibration, int64_t environment, struct error *err);

/* INC that runs for `length_ns`, by the calibration's constant. */
void calibration_make_inc(
	const struct calibration *calibration, int64_t length_ns, struct inc_program *ret);

/* A new run of INC that runs for `length_ns` by the constant, and INC as it is started for it.
 * run_clear frees the run, also after a failure. */
int calibration_new_run(const struct calibration *calibration, enum run_kind kind,
	int64_t length_ns, struct inc_program *ret_inc, struct run *ret, struct error *err);
