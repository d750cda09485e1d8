/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply will change, in the order in which it will: made before anything is changed. */
#pragma once

#include "setup/audit/check.h"
#include "setup/apply/journal.h"
#include "setup/apply/report.h"

struct request {
	const char *
		only; /* ids with commas between; NULL: all of levels A and B that can be put back for sure */
	const char *skip; /* likewise; NULL: none */
	bool for_good;    /* services and timers stay silent after a reboot */
};

struct plan {
	struct journal journal; /* what was open before, and the new entries behind it */
	size_t *order;          /* entries to carry out, first one first */
	size_t n_order;
};

/* `open`: the journal of what is applied already (empty if nothing is), taken over. An entry that it has
 * keeps its old value, whatever the machine holds now. What will not be done is told in `report`. `units` may
 * be NULL. */
int plan_make(struct plan *ret, struct journal *open, const struct facts *facts,
	const struct request *request, struct units *units, struct report *report, struct error *err);
void plan_clear(struct plan *plan);

/* -EINVAL if a name in the lists is no check that can be applied. */
int request_check(const struct request *request, struct error *err);
bool request_takes(const struct request *request, const struct check *check);

/* Adds an entry, or puts a new wish into the one that is there, and gives its place in the journal. `entry`
 * is taken over. */
int plan_add(struct plan *plan, struct entry *entry, struct error *err);

/* A row of a report, its values with their units. */
void report_file(struct report *report, const struct entry *e, const char *outcome, const char *before,
	const char *now, const char *note);

/* Puts the units of a plan, its only entries so far, into the order in which they are to be stopped:
 * plan_order.c. */
int plan_order_units(struct plan *plan, struct units *units, struct error *err);

/* The units of the policy: plan_units.c. */
int plan_units(struct plan *plan, const struct facts *facts, const struct request *request,
	struct units *units, struct report *report, struct error *err);
