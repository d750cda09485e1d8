/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other processes that used the CPU: a run's executions, summed up by the groups of names. discard.h uses it; it is
 * separate because it works without a profile too. */
#pragma once

#include "lib/protocol/name_groups.h"
#include "lib/record/run.h"

struct other {
	char *name;
	uint32_t names;       /* of a family (name_families.h): how many there are; 0: not a family */
	char *unit, *exe;     /* of the longest execution; NULL: none or unknown. exe: until others_finish */
	bool alone, returned; /* as struct family_member */
	size_t executions;
	pid_t pid; /* of the latest */
	bool profiled;
	const struct cutoff *cutoff; /* of the profile that others_add got; NULL: none */
	int64_t total_ns;            /* in all samples */
	int64_t max_ns;              /* of one execution */
	uint32_t max_sample;         /* with that execution */
	bool long_once;              /* one execution took 1 % of its sample's ET or more */
	int64_t disturbed_ns; /* the most that it can have taken from the program: in each sample, the smaller of
				 in_sample_ns and sample_taken_ns */
	int64_t in_sample_ns; /* in the current sample, on the program's CPU if that is known */
};

struct others {
	struct other *items;
	size_t n;
	uint32_t *of_daemon; /* by id: index into items + 1; 0: not seen yet */
	size_t n_daemons;
};

/* Adds one execution to its name's sums, and returns them; profile may be NULL. NULL: out of memory. */
struct other *others_add(struct others *others, const struct name_pattern *patterns,
	const struct profile *profile, const struct source *daemon, const struct execution *execution,
	int64_t et_ns);

/* Makes one of each family, and sorts by disturbed_ns, then by CPU time, the greatest first. Nothing can be added
 * afterwards, and the cutoffs are gone. -ENOMEM. */
int others_finish(struct others *others);
void others_clear(struct others *others);
