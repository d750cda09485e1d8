/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run's result on the first screen, and the details. */
#pragma once

#include "lib/report/resolving_text.h"
#include "lib/report/run_result.h"
#include "lib/report/screen.h"

/* Fills in everything but the name, the unit, the notes and whether user and system are approximate. The result must
 * outlive it. */
int run_screen_fill(struct screen *ret, const struct run_result *result, struct error *err);

/* Adds the notes that the result and its profile (NULL: none) call for. */
int run_notes_add(struct notes *notes, const struct run_result *result, const struct profile *profile,
	struct error *err);

/* That neighbouring samples are alike, once for the PT of all programs: of the one with the greatest correlation. */
int run_screen_note_correlation(
	struct notes *notes, const struct clock_discarding *const *programs, size_t n, struct error *err);
/* The notes on a result and what the machine could resolve ("": not known), as they were stored when it was measured;
 * if none were, or for `today`, as they follow from the book. */
int run_notes_load(struct book *book, const struct run_result *result, const struct profile *profile, bool today,
	struct notes *ret, char ret_resolving[RESOLVING_TEXT_SIZE], struct error *err);

/* Each discard with its figures, PT of all samples, other processes that used the CPU, disturbance counters, and
 * processes left behind. */
int run_details_print(FILE *file, const struct run_result *result, const char *unit, struct error *err);
