/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU that programs will be timed on, and what shares it: the other thread of its core, interrupts, the limits of
 * control groups. */
#pragma once

#include "lib/host/process/cgroup.h"

#include <stddef.h>

struct cpu_state {
	int cpu;      /* that one: asked for, else the first isolated one; -1: none */
	int *threads; /* it and the other threads of its core */
	size_t n_threads;
	char *online; /* "0-3"; NULL: not known, like the others */
	char *isolated; /* no tasks come to these by themselves: isolcpus, and isolated partitions of cgroup v2 */
	char *nohz_full; /* these have no tick while one task runs */
	struct cgroup_limits limits;
	int limits_error; /* why these are not known, negative */
};

void cpu_state_read(struct cpu_state *ret, int root_fd, int cpu);
void cpu_state_clear(struct cpu_state *state);

/* What an interrupt's list of CPUs, or the mask of new ones, should be: without the core that programs are timed on;
 * all others where nothing would remain. The caller frees it. NULL: no such CPU is known. */
char *cpu_state_irq_list(const struct cpu_state *state, const char *list);
char *cpu_state_irq_mask(const struct cpu_state *state, const char *mask);
