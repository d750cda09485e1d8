/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One audit: every check decided, and what follows from all of them. */
#pragma once

#include "setup/audit/check_rows.h"

#include <jansson.h>

struct audit {
	const struct facts *facts; /* borrowed */
	bool all;                  /* rows of level C are shown too */
	struct finding *findings;  /* one for each row */
	int n_off, n_unknown;      /* of level A */
};

/* `files`: of check_rows_read. */
int audit_decide(struct audit *ret, const struct facts *facts, const struct setting_files *files, bool all,
	struct error *err);
void audit_clear(struct audit *audit);

/* Whether row i is shown. */
bool audit_shows(const struct audit *audit, size_t i);

bool audit_is_fit(const struct audit *audit);

/* An emp-audit document; NULL: no memory. The caller drops it. */
json_t *audit_json(const struct audit *audit);

/* How to get what is wanted, and how to undo it; the caller frees it. */
char *audit_how(const struct check *check, const struct finding *finding);
char *audit_undo(const struct check *check, const struct finding *finding);
