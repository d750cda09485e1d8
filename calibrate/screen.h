/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What 'run' and 'resume' print for people: one line for each run, for each daemon, and for all warnings. -v adds
 * the details. */
#pragma once

#include "calibrate/calibration.h"

#include "lib/protocol/analysis.h"

#include <stdio.h>

/* Standard output, or standard error where that is for a JSON document alone. */
FILE *screen_file(void);
void screen_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

void screen_audit_ignored(const char *checks);

/* What is to be done, and until when. `sleeps`: why sleep could not be blocked; NULL: it is. */
void screen_plan(struct calibration *calibration, const char *sleeps);

/* On a terminal, asks before more than an hour is spent. 0, or -ECANCELED with a sentence. */
int screen_confirm(int64_t ns, struct error *err);

/* A run that is complete: its verdict, central cluster and L-samples. */
int screen_run(struct calibration *calibration, int which, struct error *err);

/* What disturbed the runs. */
int screen_warnings(
	struct book *book, const struct analysis *const analyses[CALIBRATION_PHASES], struct error *err);

int screen_profile(const struct profile *profile, struct error *err);
void screen_next(const struct calibration *calibration,
	const struct analysis *const analyses[CALIBRATION_PHASES], const struct profile *profile);
void screen_refused(const struct calibration *calibration);
