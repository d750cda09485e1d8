/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What came of each change, or will: rows for people, or for programs. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct report;

int report_new(struct report **ret, struct error *err);
void report_free(struct report *report);
DEFINE_FREEP(report)

/* outcome: a word ("changed", "already", "absent", "refused", "clamped"…); before and now may be NULL; note
 * is NULL or tells why. A failure is kept and told by report_print. */
void report_add(struct report *report, const char *id, const char *name, const char *outcome,
	const char *before, const char *now, const char *note);

size_t report_count(const struct report *report, const char *outcome);

/* Files of one kind that fared alike are one row; what was so already or is not there is left out unless
 * `all`. */
int report_print(struct report *report, FILE *file, bool all, struct error *err);
json_t *report_json(const struct report *report); /* an array; NULL: no memory */
