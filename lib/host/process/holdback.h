/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delays and kills by the control groups above a program, for which no process is to blame: a quota
 * of CPU time that is used up (cpu.max, cpu.cfs_quota_us), memory.high, which delays allocations, a
 * freezer, and the memory limit, which kills. The kernel counts this for each group; the files stay
 * open and are read before and after each sample.
 *
 * Not visible: groups above a container's own root, except to the accounting with BPF; and freezers
 * of version 1, which count nothing. */
#pragma once

#include "lib/base/base.h"

struct holdback;

/* For a group that a container does not see. */
#define HOLD_NOT_VISIBLE ""

/* root_fd as in lib/base/paths.h. Never NULL: without control groups, nothing is held back. */
struct holdback *holdback_open(int root_fd);
void holdback_free(struct holdback *holdback);
DEFINE_FREEP(holdback)

enum hold { HOLD_QUOTA, HOLD_MEMORY, HOLD_FREEZER, N_HOLDS };

/* Between the two readings. Names are valid as long as the holdback. */
struct held_back {
	struct {
		const char *of; /* the group that did it, or did most of it; NULL: none */
		/* for how long, in all groups; of quotas the sum over all CPUs and all processes */
		int64_t ns;
	} by[N_HOLDS];
};

void holdback_begin(struct holdback *holdback);
struct held_back holdback_end(const struct holdback *holdback);

/* After a program was killed: by which limit, "the memory limit of /docker/4f2a1b (512 MB)", or
 * "the kernel, which had run out of memory,", as counted since holdback_begin. Valid as a
 * text_brief(). NULL: by none. */
const char *holdback_killer(const struct holdback *holdback);

/* The same of a program that was not killed itself: whether this process's own group, in which the
 * program runs, has lost a process to a limit. NULL: none, or not known. */
const char *holdback_killed_here(const struct holdback *holdback);

/* "the quota of /docker/4f2a1b and memory.high of /docker": who held back, as text that can be
 * stored; NULL: nobody. Valid as a text_brief(). */
const char *held_back_text(const struct held_back *held);

/* The first group above this process with cpu.idle, whose processes run only where no others want
 * to; NULL: none. The caller frees it. */
char *holdback_idle(int root_fd);
