/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One audit: every check decided, and what follows from all of them. */
#pragma once

#include "setup/audit/check.h"

#include <jansson.h>
#include <stdio.h>

struct audit {
	const struct facts *facts; /* not ours */
	bool all;                  /* rows of level C are shown too */
	struct finding *findings;  /* one for each row of checks[] */
	int n_off, n_unknown;      /* of level A */
};

int audit_decide(struct audit *ret, const struct facts *facts, bool all, struct error *err);
void audit_clear(struct audit *audit);

/* Whether row i is shown. */
bool audit_shows(const struct audit *audit, size_t i);

bool audit_is_fit(const struct audit *audit);

/* The whole audit for people, with all columns of the rows where `details`. */
int audit_print(const struct audit *audit, FILE *file, bool details, struct error *err);

/* The document of interchange: {"checks": […], "verdict": …}; NULL: no memory. The caller drops it. */
json_t *audit_json(const struct audit *audit);

/* How to get there and back again; the caller frees it. */
char *audit_how(const struct check *check, const struct finding *finding);
char *audit_undo(const struct check *check, const struct finding *finding);
