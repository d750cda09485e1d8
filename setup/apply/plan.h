/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply will change, in this order: made out of what an audit gathered, before anything is
 * changed; and what became of it. */
#pragma once

#include "setup/apply/journal.h"
#include "setup/apply/report.h"
#include "setup/audit/facts.h"

struct plan {
	struct facts facts;
	struct units *units;    /* NULL: systemd does not answer */
	struct journal journal; /* what was open before, and the new entries behind it */
	size_t n_open;          /* entries that were applied before */
	bool continued;         /* one of these has an owner */
	char *owner;            /* of what is added */
	size_t *order;          /* entries to carry out, by index */
	size_t n_order;
	struct unit_reasons busy; /* units that are not to be interrupted */
	struct report report;
};

/* The entry to carry out at place i. */
static inline struct entry *plan_entry(const struct plan *plan, size_t i)
{
	return &plan->journal.entries[plan->order[i]];
}

/* Adds what is to be changed to the open entries, and reports what will not be done. */
int plan_make(struct plan *plan, struct error *err);
void plan_clear(struct plan *plan);

/* For the files that add to a plan. */

/* Whether an entry of this name is to be carried out. */
bool plan_has(const struct plan *plan, const char *name);
/* The owner of what is added, which the plan keeps. */
const char *plan_owner(struct plan *plan);
/* Takes `entry` over. If the journal has one of this name, that one keeps its old value, and gets
 * what is wanted now. */
void plan_add(struct plan *plan, struct entry *entry);
