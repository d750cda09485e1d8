/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The types of cores of a hybrid processor, out of /sys: the same work takes more CPU time on a
 * slow one. Reading only, below a root descriptor. */
#pragma once

#include "lib/base/base.h"

struct core_type {
	/* "P-core"; where the kernel has no names what tells them apart: "capacity 1024",
	 * "performance 255", "2400 MHz" */
	char *name;
	char *cpus;    /* "0-7" */
	int64_t speed; /* that number; 0: the type has a name */
};

struct core_types {
	/* the fastest first; none if all cores are alike, or nothing tells them apart */
	struct core_type *items;
	size_t n;
};

void core_types_read(struct core_types *ret, int root_fd);
void core_types_clear(struct core_types *types);

/* The type of a CPU; NULL: not known, or all are alike. */
const struct core_type *core_types_of(const struct core_types *types, int cpu);

/* "P-core (CPU 0-7), E-core (CPU 8-15)"; "" if there are none. The caller frees it. */
char *core_types_text(const struct core_types *types);
