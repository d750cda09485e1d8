/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes on the result of one run: what disturbed it, what its figures leave out, and whether
 * its profile fits. notes.h keeps and prints notes of all kinds. */
#pragma once

#include "lib/record/profile.h"
#include "lib/report/notes.h"
#include "lib/report/run_result.h"

/* Adds the notes that the result and its profile (NULL: none) call for. */
void run_notes_add(
	struct notes *notes, const struct run_result *result, const struct profile *profile);

/* That neighbouring samples are alike, once for the PT of all programs: of the one with the
 * greatest correlation. */
void run_notes_add_correlation(
	struct notes *notes, const struct clock_discarding *const *programs, size_t n);

/* The notes on a result and what the machine could resolve ("": not known), as they were stored
 * when it was measured; if none were, or for `today`, as they follow from the book. */
int run_notes_load(struct book *book, const struct run_result *result,
	const struct profile *profile, bool today, struct notes *ret, char ret_mdd[MDD_TEXT_SIZE],
	struct error *err);
