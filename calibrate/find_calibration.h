/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a calibration in the book. */
#pragma once

#include "lib/book/book.h"

/* The calibration of a run; without a run, the latest: for the profile, if there is one, and of those that can be resumed,
 * or of all. */
struct calibration_wish {
	int64_t run;         /* 0: not given */
	const char *profile; /* NULL: not given */
	bool any;            /* not only one that can be resumed */
};

/* 1: *ret is filled in; 0: there is none. */
int find_calibration(struct book *book, const struct calibration_wish *wish, struct calibration_plan *ret,
	struct error *err);
