/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What EMP's processes leave behind if they are killed together with what cleans up after them:
 * private traces, cgroups and the directories of loads. Each is named so that nothing else has such
 * a name, and its owner has it locked (flock), which shows in every namespace and ends with the
 * owner. */
#pragma once

#include "lib/base/base.h"

#include <sys/types.h>

enum leftover_kind { LEFTOVER_TRACE, LEFTOVER_CGROUP, LEFTOVER_DIRECTORY, N_LEFTOVER_KINDS };

extern const char *const leftover_kind_names[N_LEFTOVER_KINDS];

struct leftovers {
	struct leftover {
		enum leftover_kind kind;
		char *path; /* of a trace: its name */
	} * items;
	size_t n;
};

/* All whose owners have ended, as far as this user sees them. */
void leftovers_find(struct leftovers *ret);
void leftovers_clear(struct leftovers *leftovers);

/* If this is root, removes them, with the processes in the cgroups. Others remove their own where
 * they make new ones. Traces slow down each switch of tasks: only they take some 20 us. */
void leftovers_remove(bool only_traces);

/* A new directory below another, after those of dead owners of this user there are removed. The
 * caller frees its path, without links, and owns it as long as the descriptor is open. */
int leftover_directory_make(const char *below, char **ret_path, int *ret_fd, struct error *err);
/* All but what is mounted below. */
void leftover_directory_remove(const char *path);

/* The name of the trace of a process; the caller frees it. */
char *leftover_trace_name(pid_t pid);
