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

/* The CPUs that a verb observes; the caller frees the array. */
struct calibrate_cpus {
	int *items;
	size_t n;
};

option_parser calibrate_cpus_option; /* into struct calibrate_cpus */
/* All that this process may use, if the option did not name any. */
int calibrate_cpus_default(struct calibrate_cpus *cpus, struct error *err);

/* The backends that observe daemons, in the order of enum accounting_backend; ends with NULL. */
extern const char *const calibrate_backends[];

/* An operand RUN|PROFILE (NULL: none given). A number is that of a run, another word the name of a
 * profile, and "last" neither: the latest. */
int calibrate_operand(
	const char *operand, int64_t *ret_run, const char **ret_profile, struct error *err);
