/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the study clean-room found, as tables: by rule, condition and slowdown, how often a claim
 * was wrong. */
#pragma once

#include "lib/study/study_report.h"

/* -ENOENT with a sentence: nothing was compared yet. */
int study_add_clean_room(struct study_report *report, struct book *book, struct error *err);
