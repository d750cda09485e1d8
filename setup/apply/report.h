/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of each change, or will: rows for people or for programs. */
#pragma once

#include "lib/base/cleanup.h"
#include "setup/apply/journal.h"

#include <jansson.h>
#include <stdio.h>

enum outcome {
	OUTCOME_WILL_CHANGE, /* of a plan */
	OUTCOME_STAYS,       /* of a plan: it is as wanted */
	OUTCOME_CHANGED,
	OUTCOME_ALREADY, /* it was as wanted before */
	OUTCOME_ABSENT,  /* this machine has no such thing */
	OUTCOME_REFUSED, /* by the kernel, by systemd, or by the policy */
	OUTCOME_CLAMPED, /* accepted, but the kernel set another value */
	OUTCOME_RESTORED,
	OUTCOME_LEFT_ALONE, /* somebody else has changed it since */
	OUTCOME_FAILED,     /* it could not be restored */
	OUTCOME_FORGOTTEN,  /* either of the two with --forget: it is of no journal any more */
	OUTCOME_DIFFERENT,  /* after a restore: not as it was before the first apply */
};

struct report;

int report_new(struct report **ret, struct error *err);
void report_free(struct report *report);
DEFINE_FREEP(report)

/* before and now may be NULL; note is NULL or says why. A failure is kept and returned by report_print. */
void report_add(struct report *report, const char *id, const char *name, enum outcome outcome,
	const char *before, const char *now, const char *note);
/* The same for an entry, the values of a setting with their units. */
void report_entry(struct report *report, const struct entry *entry, enum outcome outcome, const char *before,
	const char *now, const char *note);

/* Whether a row of this name says that it was left alone or failed, or has a note. */
bool report_explains(const struct report *report, const char *name);

size_t report_count(const struct report *report, enum outcome outcome);

/* Files of one kind with equal results share a row; what is as wanted or does not exist is left out unless
 * `all`. True if anything was printed. */
int report_print(const struct report *report, FILE *file, bool all, bool *ret_any, struct error *err);
json_t *report_json(const struct report *report); /* an array; NULL: no memory */
