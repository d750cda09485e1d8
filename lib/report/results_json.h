/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the protocol as the members of JSON documents, one form for every tool. NULL: out of memory;
 * json_print reports it. */
#pragma once

#include "lib/base/json.h"
#include "lib/protocol/discard.h"

json_t *summary_as_json(const struct summary *summary);

/* Other processes that used the CPU; or only those that are not in the profile and used 1 % of a sample or more at
 * least once. */
json_t *others_as_json(const struct daemons *others, bool unprofiled);

/* Adds profile_blind_ns and profile_noise, if the profile has such a mark (see noise_load.h). */
void profile_noise_add_json(json_t *object, int64_t blind_ns, const char *noise);

/* by_cutoff, by_unprofiled, by_two_sd (of PT), incomplete; pt and et: summaries after both checks, as in the papers, and
 * of the samples kept, with the interval. */
json_t *discarding_as_json(const struct discarding *discarding);

/* The shape, the zooms and the samples outside the central cluster. */
json_t *analysis_as_json(const struct analysis *analysis);
