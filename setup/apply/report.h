/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of each change: the rows that apply and restore show, as a table and as a
 * document. */
#pragma once

#include "lib/base/json.h"
#include "setup/apply/journal.h"

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
	N_OUTCOMES,
};

struct report {
	struct report_row {
		enum outcome outcome;
		char *id, *name, *before, *now, *note;
	} * rows;
	size_t n;
	size_t count[N_OUTCOMES];
};

void report_clear(struct report *report);

/* before and now may be NULL; note is NULL or says why. */
void report_add(struct report *report, const char *id, const char *name, enum outcome outcome,
	const char *before, const char *now, const char *note);
/* The same for an entry, the values of a setting with their units. */
void report_entry(struct report *report, const struct entry *entry, enum outcome outcome,
	const char *before, const char *now, const char *note);

/* Where apply and restore print: the standard output of apply --for belongs to its command. */
FILE *report_file(void);
/* Prints a table and an empty line, or nothing where it has no rows. Files of one kind with equal
 * results share a row; what is as wanted or does not exist is left out unless `all`. */
void report_print(const struct report *report, FILE *file, bool all);
/* The document of apply and restore, with these members before the changes, which are taken over;
 * the caller owns it. */
json_t *report_document(const struct report *report, json_t *members);
