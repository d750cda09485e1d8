/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the protocol, one form for every tool: as members of JSON documents, and as tables for
 * people. Comparisons are in comparison_report.h. */
#pragma once

#include "lib/base/json.h"
#include "lib/protocol/discard.h"
#include "lib/record/profile.h"

/* null: what too few samples do not say. */
json_t *summary_as_json(const struct summary *summary);

/* Of the samples kept, with the interval of their mean. */
json_t *kept_as_json(const struct clock_discarding *clock);

/* Other processes that used the CPU; or only those that are not in the profile and used 1 % of a
 * sample or more at least once. */
json_t *others_as_json(const struct daemons *others, bool unprofiled);

/* Adds profile_blind_ns and profile_noise, if the profile has such a mark. */
void noise_add_json(json_t *object, const struct profile_mark *mark);

/* by_cutoff, by_unprofiled, by_two_sd (of PT), incomplete, by_neighbour, and of a duet by_duet; pt
 * and et: summaries after both checks, as in the papers, and of the samples kept, with the
 * interval. */
json_t *discarding_as_json(const struct discarding *discarding);

/* The shape, the zooms and the samples outside the central cluster. */
json_t *analysis_as_json(const struct analysis *analysis);

/* A row for each daemon. `details`: the cutoffs as they are applied to programs below and above the
 * task time. */
void cutoffs_print(const struct profile *profile, bool details, FILE *file);

/* Who has no cutoff: "  kworker (3.2 %), sshd (0.8 %)", those that were left out (NULL: not known)
 * and what they explain; and which executions, if the profile has a floor. */
void cutoffs_print_omitted(
	const struct profile *profile, const struct cutoffs *left_out, FILE *file);

/* "backupd (backup.service)", "j-* (51 names)": a daemon or a family (names > 0), and its unit
 * (NULL: none or unknown). */
void daemon_print(FILE *file, const char *name, uint32_t names, const char *unit);
