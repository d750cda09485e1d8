/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules by which emp-measure discarded samples of a run, so that the stored run is judged by the same. */
#pragma once

#include "lib/protocol/discard.h"
#include "lib/book/book.h"

#include <stdio.h>

enum { RUN_RULES_TEXT_SIZE = 64 };

struct run_rules {
	struct discard_rules rules; /* without a profile if the run has none, or if the book no longer has it */
	struct names names; /* today's */
	struct profile profile;     /* rules.profile points to it: do not copy the struct */
	bool missing;               /* the run's profile is no longer in the book */
};

/* profile: the name of one to use instead of the run's own, and it must be in the book (-ENOENT); NULL: the run's own, as
 * it was when the run was measured. `today`: the profile of that name and the correlation that the book has now. */
int run_rules_load(struct book *book, const struct run *run, const char *profile, bool today,
	struct run_rules *ret, struct error *err);
/* Prints a line for each input of the run's result that today's rules change. */
void run_rules_print_changes(FILE *file, const struct run *run, const struct run_rules *today);
/* "Run 3 was interrupted after 16 samples"; nothing if it is done. */
void run_state_print(FILE *file, const struct run *run);
/* "--other-cpus --discard-unprofiled 5%": the rules beside the profile, as options of emp-measure; "": none. */
char *run_rules_options(char buffer[RUN_RULES_TEXT_SIZE], const struct run *run);
void run_rules_clear(struct run_rules *rules);
