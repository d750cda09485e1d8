/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The protocol applied to runs that are in the book, one walk over a run's executions each; and why the samples of a noisy run
 * varied, by what was counted in them. */
#pragma once

#include "lib/protocol/cutoffs.h"
#include "lib/book/book.h"

#include <stdio.h>

/* options->patterns NULL: those of names_load. */
int analysis_load(struct book *book, int64_t run, const struct analysis_options *options,
	struct analysis *ret, struct error *err);

enum { PROFILE_REFUSED = 1 }; /* a run is neither an L nor clean: the error says what it shows */

struct profile_request {
	const char *name;                           /* of the profile; NULL: "unnamed" */
	int64_t resolution_ns;                      /* 0: the coarser of the two runs' own */
	bool force;                                 /* whatever the shapes */
	bool other_cpus, by_wait, by_wait_if_exact; /* see struct analysis_options */
	int64_t least_share_ppm; /* see struct cutoff_rules; -1: the default, which keeps all of imported runs */
	int64_t short_central_max_ns, long_central_max_ns; /* set by hand; 0: not */
	/* The analyses of both runs, filled in even if the profile is refused, if they are not NULL. */
	struct analysis *short_analysis, *long_analysis;
	struct cutoffs *left_out; /* by least_share_ppm; NULL: not wanted */
};

/* 0, PROFILE_REFUSED with a sentence, or a failure. The profile is not stored: book_put_profile does that. */
int profile_from_runs(struct book *book, int64_t short_run, int64_t long_run,
	const struct profile_request *making, struct profile *ret, struct error *err);

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
 * "Profile 'lab1' is unreliable (busy, forced)". Shorter where that makes it fit a line. The caller frees it. */
char *noise_text(const char *profile, int64_t blind_ns, const char *noise);

/* The same as a line, if the profile has a mark; else nothing. */
void noise_print(FILE *file, const char *profile, int64_t blind_ns, const char *noise);
