/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the protocol, one form for every tool: as members of JSON documents, and as tables for people. */
#pragma once

#include "lib/base/json.h"
#include "lib/book/book.h"
#include "lib/protocol/analysis.h"
#include "lib/protocol/discard.h"

#include <stdio.h>

json_t *summary_as_json(const struct summary *summary);

/* Other processes that used the CPU; or only those that are not in the profile and used 1 % of a sample or more at
 * least once. */
json_t *others_as_json(const struct daemons *others, bool unprofiled);

/* Adds profile_blind_ns and profile_noise, if the profile has such a mark (see noise_marked). */
void profile_noise_add_json(json_t *object, int64_t blind_ns, const char *noise);

/* by_cutoff, by_unprofiled, by_two_sd (of PT), incomplete; pt and et: summaries after both checks, as in the papers, and
 * of the samples kept, with the interval. */
json_t *discarding_as_json(const struct discarding *discarding);

/* The shape, the zooms and the samples outside the central cluster. */
json_t *analysis_as_json(const struct analysis *analysis);

/* Prints the cutoffs of a profile: a row for each daemon. `details`: its unit too, and the cutoffs as they are
 * applied to programs below and above the task time. */
void cutoffs_print(const struct profile *profile, bool details, FILE *file);

/* The line that says which executions give no cutoff; nothing if the profile has no floor. */
void cutoffs_print_floor(const struct profile *profile, FILE *file);

/* A line, "  kworker (3.2 %), sshd (0.8 %)": those who have them, and what they explain; nothing if there are none. */
void cutoffs_print_names(const struct cutoffs *cutoffs, FILE *file);

/* The daemons that made samples long: for each, its executions in each run, what starts it, and how to stop it. The
 * last two come from this machine (systemd, the policy of emp-setup), and are omitted for runs of another. */

/* Of one run or several. */
int daemon_causes_print(
	struct book *book, const struct analysis *const analyses[], size_t n, FILE *file, struct error *err);
