/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the samples of a noisy run varied, by what was counted in them. */
#pragma once

#include "lib/protocol/analysis.h"
#include "lib/book/book.h"

#include <stdio.h>

/* "steal 3.2 %, PSI 41 %" of its time; "speed varies" (frequency, SMT sibling, a neighbour) if nothing that was
 * counted explains it. The caller frees it. */
int noise_load(struct book *book, const struct analysis *analysis, char **ret, struct error *err);

/* Marks a profile that was made of these runs: if one of them is noisy, with the greater time that they hide, and its
 * cause; if one gives no cutoffs and the profile was forced, with "busy, forced" (its verdict). */
int noise_mark(struct book *book, const struct analysis *short_run, const struct analysis *long_run,
	struct profile *profile, struct error *err);

/* Whether a profile, or what was judged by it, has such a mark. */
bool noise_marked(int64_t blind_ns, const char *noise);

/* "Profile 'lab1' is noisy: blind to daemons below 16 ms (steal 3.2 %)"; noise NULL: without the reason; blind_ns 0:
 * "Profile 'lab1' is unreliable (busy, forced)". Shorter where that makes it fit a line. The caller frees it. NULL: out
 * of memory. */
char *noise_text(const char *profile, int64_t blind_ns, const char *noise);

/* The same as a line, if the profile has a mark; else nothing. */
int noise_print(FILE *file, const char *profile, int64_t blind_ns, const char *noise, struct error *err);
