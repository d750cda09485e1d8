/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times in whole units of a resolution, rounded half up as the papers' tables are. */
#pragma once

#include <stdint.h>

static inline int64_t resolution_round(int64_t ns, int64_t resolution_ns)
{
	return (ns + resolution_ns / 2) / resolution_ns * resolution_ns;
}

/* Halfway between two times that are in whole units already. */
static inline int64_t resolution_midpoint(int64_t a_ns, int64_t b_ns, int64_t resolution_ns)
{
	return (a_ns + b_ns + resolution_ns) / (2 * resolution_ns) * resolution_ns;
}
