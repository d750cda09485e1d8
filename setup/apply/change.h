/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrying out a plan, and taking it back. Every single change is a step (crash_point.h), and what a journal holds
 * can be taken back after a stop at any of them. */
#pragma once

#include "setup/apply/plan.h"

/* Carries out plan->order and tells what came of it. Only what keeps the journal from being written is an
 * error. */
int change_apply(struct plan *plan, struct units *units, struct report *report, struct error *err);

struct taking_back {
	bool force;   /* also what somebody else has changed since */
	bool forget;  /* what is left alone, or cannot be put back, is not remembered */
	size_t first; /* entries before this one stay applied */
};

/* Takes back what it can, and drops it from the journal in memory; what stays in there could not be put back
 * or was left alone. units may be NULL. */
void change_restore(
	struct journal *journal, const struct taking_back *how, struct units *units, struct report *report);
