/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text that 'run' and 'resume' print: one line for each run, for each daemon, and for all warnings. -v adds
 * details. */
#pragma once

#include "calibrate/calibration.h"

#include "lib/protocol/cutoffs.h"

#include <stdio.h>

/* Standard output; with --json standard error. */
FILE *screen_file(void);
void screen_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

void screen_audit_ignored(const char *checks);

/* The plan, and when it ends. `sleeps`: why sleep could not be blocked; NULL: it is. */
void screen_plan(struct calibration *calibration, const char *sleeps);

/* On a terminal, asks for confirmation if it takes more than an hour. 0, or -ECANCELED with a sentence. */
int screen_confirm(int64_t ns, struct error *err);

/* A complete run: its verdict, central cluster and L-samples. */
int screen_run(struct calibration *calibration, int which, struct error *err);

/* What disturbed the runs. */
int screen_warnings(
	struct book *book, const struct analysis *const analyses[CALIBRATION_PHASES], struct error *err);

int screen_profile(const struct profile *profile, const struct cutoffs *left_out, struct error *err);
void screen_next(const struct calibration *calibration,
	const struct analysis *const analyses[CALIBRATION_PHASES], const struct profile *profile);
void screen_refused(const struct calibration *calibration);
