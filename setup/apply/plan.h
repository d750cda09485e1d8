/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply will change, in this order: made before anything is changed. */
#pragma once

#include "setup/apply/journal.h"

struct plan {
	struct journal journal; /* what was open before, and the new entries behind it */
	size_t *order;          /* entries to carry out, by index */
	size_t n_order;
};

/* The entry to carry out at place i. */
static inline struct entry *plan_entry(const struct plan *plan, size_t i)
{
	return &plan->journal.entries[plan->order[i]];
}

/* Takes `entry` over. If the journal has one of this name, that keeps its old value and gets the new wish. */
int plan_add(struct plan *plan, struct entry *entry, struct error *err);
void plan_clear(struct plan *plan);
