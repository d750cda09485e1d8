/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the protocol as tables for people, one form for every tool. */
#pragma once

#include "lib/base/table.h"
#include "lib/protocol/cutoffs.h"

/* Prints the cutoffs of a profile: a row for each daemon. `details`: its unit too, and the cutoffs as they are
 * applied to programs below and above the task time. */
int cutoffs_print(const struct profile *profile, bool details, FILE *file, struct error *err);

/* The line that says which executions give no cutoff; nothing if the profile has no floor. */
void cutoffs_print_floor(const struct profile *profile, FILE *file);

/* A line, "  kworker (3.2 %), sshd (0.8 %)": those who have them, and what they explain; nothing if there are none. */
void cutoffs_print_names(const struct cutoffs *cutoffs, FILE *file);
