/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of the papers (EMP, Tables VI, VII, XVIII to XXI and XXVII), which are shown beside those
 * of a study. They are of a Red Hat machine of 2012, INC1 to INC16384. */
#pragma once

#include "lib/base/base.h"

#include <math.h>

struct paper_row {
	const char *table, *program, *clock; /* "VI", "INC128", "PT" */
	const char *stage;                   /* the version of the protocol: "EMPv4" */
	int samples;                         /* 0: the table does not say */
	int by_cutoff, by_two_sd; /* -1: it does not say; Table XIX has their sum as by_cutoff */
	double min_ms, max_ms, mean_ms, sd_ms; /* NAN: it does not say */
};

extern const struct paper_row paper_rows[]; /* ends with {} */

/* Switched off by EMPv1 (Table XXVII). */
struct paper_daemon {
	const char *name, *purpose;
};

extern const struct paper_daemon paper_daemons[]; /* ends with {} */

/* Of the first row of this table for a program; NAN: none. */
double paper_cv(const char *table, const char *program);

/* What the paper's table says that a unit is for; NULL: it does not have it. */
const char *paper_purpose(const char *unit);
