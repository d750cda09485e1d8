/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a calibration in the book. */
#pragma once

#include "lib/record/book/book_calibrations.h"

/* The one that a run belongs to; run 0: the latest that can be resumed, or, with `any`, the latest of all. 1:
 * *ret is filled in; 0: there is none. */
int find_calibration(
	struct book *book, int64_t run, bool any, struct calibration_plan *ret, struct error *err);

/* The latest for this profile that can be resumed. */
int find_calibration_for(
	struct book *book, const char *profile, struct calibration_plan *ret, struct error *err);
