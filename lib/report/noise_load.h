/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the samples of a noisy run varied, by what was counted in them. */
#pragma once

#include "lib/protocol/analysis.h"
#include "lib/record/book/book.h"

/* "steal 3.2 %, PSI 41 %" of its time; "varying machine speed" (frequency, SMT sibling, a neighbour) if nothing that was
 * counted explains it. The caller frees it. */
int noise_load(struct book *book, const struct analysis *analysis, char **ret, struct error *err);

/* Marks a profile that was made of these runs if one of them is noisy: with the short run's noise, since that one finds
 * the smaller daemons. */
int noise_mark(struct book *book, const struct analysis *short_run, const struct analysis *long_run,
	struct profile *profile, struct error *err);

/* "Profile 'lab1' is noisy: blind to daemons below 16 ms (steal 3.2 %)"; noise NULL: without the reason. The caller
 * frees it. NULL: out of memory. */
char *noise_text(const char *profile, int64_t blind_ns, const char *noise);
