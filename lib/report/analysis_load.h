/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The protocol applied to runs that are in the book: one walk over a run's executions each. What every tool
 * that makes or uses a profile calls. */
#pragma once

#include "lib/protocol/cutoffs.h"
#include "lib/record/book/book.h"

/* options->patterns NULL: those of names_load. */
int analysis_load(struct book *book, int64_t run, const struct analysis_options *options,
	struct analysis *ret, struct error *err);

enum { PROFILE_REFUSED = 1 }; /* a run is no L: the sentence says which shape it has, and by what */

struct profile_request {
	const char *name;                                  /* of the profile; NULL: "unnamed" */
	int64_t resolution_ns;                             /* 0: the coarser of the two runs' own */
	bool force;                                        /* whatever the shapes */
	int64_t short_central_max_ns, long_central_max_ns; /* the eye overruled; 0: not */
	/* The readings behind the profile, filled in even where it is refused, if they are not NULL. */
	struct analysis *short_analysis, *long_analysis;
};

/* 0, PROFILE_REFUSED with a sentence, or a failure. The profile is not stored: book_put_profile does that. */
int profile_from_runs(struct book *book, int64_t short_run, int64_t long_run,
	const struct profile_request *making, struct profile *ret, struct error *err);
