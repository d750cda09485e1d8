/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The policy on daemons: which to stop while programs are timed, and which must never be touched.
 * Policies are text files, one for each distribution, that the administrator can replace or extend.
 *
 *   [policy]     include = NAME   another policy that this one adds to
 *   [stop]       UNIT = why       services, timers, sockets, paths to stop; may be patterns
 *                                 ("nfs-*")
 *   [keep]       UNIT = why       exceptions from [stop]
 *   [ask]        UNIT = what      what is lost when it is stopped: it is stopped only if it is
 *                                 asked for by name
 *   [never]      UNIT = why       never touched, whatever [stop] of any file says
 *   [loses]      UNIT = what      what is lost when it is stopped, for the plan of apply
 *   [processes]  NAME = UNIT      the name of a daemon's process, if it is not the unit's
 *   [kernel]     floor = RELEASE  the oldest kernel to time programs on
 *
 * The policy "protected" is part of every policy, so that no file can forget it. A unit is asked
 * for by name if a rule of [stop] has its whole name and comes before that of [ask], or if
 * policy_request() named it. */
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
 * distribution (else for the one it is like, else "common"), from `directories` (ends with NULL),
 * the first that has it; NULL: the administrator's, then the shipped policies of the build tree of
 * this program, or the installed ones. -ENOENT: nowhere. */
int policy_load(struct policy **ret, const char *const *directories, const char *name,
	const struct machine *machine, struct error *err);
/* One policy out of text; `where` is for messages. include is not followed. */
int policy_parse(struct policy **ret, const char *text, const char *where, struct error *err);
void policy_free(struct policy *policy);
DEFINE_FREEP(policy)

/* Asks for units by name: "postgresql,cups.socket"; one without a suffix is a service. -EINVAL: it
 * is no name. */
int policy_request(struct policy *policy, const char *names, struct error *err);
/* The i-th of these names; NULL after the last. */
const char *policy_requested(const struct policy *policy, size_t i);
/* Whether it is one of them. */
bool policy_requests(const struct policy *policy, const char *unit);

/* Why `unit` is to be stopped; NULL if it is not. */
const char *policy_stop(const struct policy *policy, const char *unit);
/* Why it must never be touched; NULL if it may. */
const char *policy_never(const struct policy *policy, const char *unit);
/* What is lost if it is stopped, for which nobody has asked by name; NULL: it need not be asked
 * for. */
const char *policy_ask(const struct policy *policy, const char *unit);
/* Why it must keep running, for any of the reasons above; NULL: it need not. */
const char *policy_protects(const struct policy *policy, const char *unit);
/* What is lost when it is stopped; NULL: nothing is known. */
const char *policy_loses(const struct policy *policy, const char *unit);
/* Whether a list says to stop or to keep it. */
bool policy_knows(const struct policy *policy, const char *unit);
/* The unit of [stop] that a process of this name belongs to; NULL if it is none. */
const char *policy_unit_of_process(const struct policy *policy, const char *process);
