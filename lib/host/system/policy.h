/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The policy on daemons: which to stop while programs are timed, and which must never be touched. Policies are text
 * files, one for each distribution, that the administrator can replace or extend.
 *
 *   [policy]     include = NAME   another policy that this one adds to
 *   [stop]       UNIT = why       services, timers, sockets, paths to stop; may be patterns ("nfs-*")
 *   [keep]       UNIT = why       exceptions from [stop]
 *   [never]      UNIT = why       never touched, whatever [stop] of any file says
 *   [loses]      UNIT = what      what is lost when it is stopped, for the plan of apply
 *   [processes]  NAME = UNIT      the name of a daemon's process, if it is not the unit's
 *   [kernel]     floor = RELEASE  the oldest kernel to time programs on
 */
#pragma once

#include "lib/host/system/machine.h"

struct policy {
	char *name, *path; /* the file that the first part came from */
	char *include;     /* NULL: none; likewise: */
	char *floor;
	struct policy_rule *rules;
	size_t n_rules;
};

/* The policy `name` (with a '/' in it: that file), or where that is NULL the one for this machine's
 * distribution (else for the one it is like, else "common"), from `directories` (ends with NULL), the first
 * that has it; NULL: the administrator's, then the shipped policies of the build tree of this program, or the installed
 * ones. -ENOENT: nowhere. */
int policy_load(struct policy **ret, const char *const *directories, const char *name,
	const struct machine *machine, struct error *err);
/* One policy out of text; `where` is for messages. include is not followed. */
int policy_parse(struct policy **ret, const char *text, const char *where, struct error *err);
void policy_free(struct policy *policy);
DEFINE_FREEP(policy)

/* Why `unit` is to be stopped; NULL if it is not. */
const char *policy_stop(const struct policy *policy, const char *unit);
/* Why it must never be touched; NULL if it may. */
const char *policy_never(const struct policy *policy, const char *unit);
/* What is lost when it is stopped; NULL: nothing is known. */
const char *policy_loses(const struct policy *policy, const char *unit);
/* Whether any list has it. */
bool policy_knows(const struct policy *policy, const char *unit);
/* The unit of [stop] that a process of this name belongs to; NULL if it is none. */
const char *policy_unit_of_process(const struct policy *policy, const char *process);
