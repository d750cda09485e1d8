/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of emp-calibrate that its verbs share, and the operand RUN|PROFILE. */
#pragma once

#include "lib/base/tool.h"
#include "lib/host/accounting/accounting.h"

struct calibrate_options {
	const char *db;
	bool json;
	bool quiet;
	bool verbose;
	int cpu; /* -1: not pinned */
	enum accounting_backend backend;
	bool ignore_audit;   /* run although the machine is not fit */
	bool ignore_changes; /* resume although the environment has changed */
	bool anyway;         /* both, in 0.1.0 */
};

extern struct calibrate_options calibrate_options;

/* The backends that observe daemons, in the order of enum accounting_backend; ends with NULL. */
extern const char *const calibrate_backends[];

/* An operand RUN|PROFILE (NULL: none given). A number is that of a run, another word the name of a
 * profile, and "last" neither: the latest. */
int calibrate_operand(
	const char *operand, int64_t *ret_run, const char **ret_profile, struct error *err);
