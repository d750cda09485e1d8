/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel counts of the machine as a whole, read in a microsecond or two: /proc/vmstat and /proc/stat
 * tell the same and take 20-30 us each, more with more CPUs and interrupts, for all the rest that they tell.
 */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct machine_counter; /* the BPF programs, loaded */

struct machine_counts {
	int64_t user_ns, steal_ns; /* CPU time of programs; what the hypervisor gave to others */
	int64_t swapped_in, swapped_out, major_faults; /* pages */
};

/* `cpu`: whose times are counted; -1: those of all. -EPERM or -ENOTSUP where privileges or the kernel do not
 * allow it. Whether the counts are those of /proc is for the caller to see before it trusts them: places in
 * the kernel's memory are computed. */
int machine_counter_open(struct machine_counter **ret, int cpu, struct error *err);
void machine_counter_free(struct machine_counter *counts);
DEFINE_FREEP(machine_counter)

int machine_counter_read(struct machine_counter *counts, struct machine_counts *ret, struct error *err);

/* Whether a count can be what /proc (times in ticks) told `before` and `after` it. A wrong place would hold
 * something else, or nothing: where programs have had no time yet, or no page was ever fetched, nothing is
 * proved. */
bool machine_counts_agree(const struct machine_counts *count, const struct machine_counts *before,
	const struct machine_counts *after, int64_t tick_ns);
