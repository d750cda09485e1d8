/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply will change, in this order: made out of what an audit gathered, before anything is changed. */
#pragma once

#include "setup/apply/journal.h"
#include "setup/apply/report.h"
#include "setup/audit/audit.h"

/* Which checks an apply is to make. */
struct request {
	const char *only; /* comma-separated ids; NULL: all of levels A and B that can surely be restored */
	const char *skip; /* likewise; NULL: none */
	bool isolate;     /* the core of facts->cpus gets a partition of its own, and no interrupts */
	bool persistent;  /* services and timers stay stopped after a reboot */
};

/* -EINVAL if a name in the lists is no check that can be applied. */
int request_validate(const struct request *request, struct error *err);
bool request_takes(const struct request *request, const struct check *check);

/* What a plan is made of. */
struct planning {
	const struct facts *facts;
	const struct request *request;
	struct units *units;   /* NULL: systemd does not answer */
	struct report *report; /* gets what will not be done */
};

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

/* `open`: the journal of what is applied already (empty if nothing is), taken over. */
int plan_make(struct plan *ret, struct journal *open, const struct planning *from, struct error *err);
void plan_clear(struct plan *plan);

/* Takes `entry` over. If the journal has one of this name, that keeps its old value and gets the new wish. */
int plan_add(struct plan *plan, struct entry *entry, struct error *err);
