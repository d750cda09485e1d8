/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pictures of a study, after the papers' figures; they are drawn by plots/study-curves.gp and
 * plots/study-rows.gp. */
#pragma once

#include "lib/study/study_report.h"

enum study_picture {
	STUDY_PICTURE_CV,     /* CV against length, or by program or clock */
	STUDY_PICTURE_SD,     /* sd likewise */
	STUDY_PICTURE_TIME,   /* times against length or size, with fits */
	STUDY_PICTURE_SHARES, /* the share of variance that each step removes */
	N_STUDY_PICTURES
};

extern const char *const study_picture_names[N_STUDY_PICTURES + 1]; /* ends with NULL */

/* That which the papers have of such a study. */
enum study_picture study_picture_for(enum study_kind kind);

/* -EINVAL with a sentence: nothing of the study can be drawn so. */
int study_draw(const struct study_report *report, enum study_picture picture, const char *path,
	bool keep_script, struct error *err);
