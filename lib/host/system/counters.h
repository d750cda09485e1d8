/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What should stand still while a sample is taken and cannot be held: read before and after, and only the
 * difference kept. None of it is ever set. What this machine does not have is "not known", never zero. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum counter {
	COUNTER_STEAL,     /* ns that the hypervisor gave to others: of the CPU, or of all where not pinned */
	COUNTER_THROTTLES, /* times a CPU was slowed down for heat; likewise */
	COUNTER_SWAPPED_IN,   /* pages */
	COUNTER_SWAPPED_OUT,  /* pages */
	COUNTER_MAJOR_FAULTS, /* pages that had to be fetched from a disk, by anybody */
	COUNTER_SUSPENDED,    /* ns that the machine slept */
	COUNTER_CLOCK_RATE, /* by how much NTP changed the clock's rate, in parts of 10^9; may be negative */
	COUNTER_CPU_PRESSURE, /* ns in which somebody had to wait for a CPU */
	COUNTER_VOLUNTARY,    /* context switches of the program */
	COUNTER_INVOLUNTARY,
	N_COUNTERS
};

struct counters {
	uint32_t known; /* 1 << sentinel */
	int64_t value[N_COUNTERS];
};

static inline void counters_set(struct counters *s, enum counter which, int64_t value)
{
	s->known |= UINT32_C(1) << which;
	s->value[which] = value;
}

static inline int counters_know(const struct counters *s, enum counter which)
{
	return s->known >> which & 1;
}

struct counter_reader; /* the files, open */

/* cpu -1: the program may run on any. root_fd as in lib/base/text.h. by_bpf: some may come by BPF
 * (counters_bpf.h), which costs some 30 ms now and spares 0.05 to 0.1 ms in each sample; they do
 * where the kernel and the capabilities allow it and what BPF tells agrees with /proc. */
int counters_open(struct counter_reader **ret, int root_fd, int cpu, bool by_bpf, struct error *err);
void counter_reader_free(struct counter_reader *reader);
DEFINE_FREEP(counter_reader)

/* Their counts up to now. The context switches are not among them: those are the program's, see spawn.h. */
void counters_read(struct counter_reader *reader, struct counters *ret);

/* What moved in between: known if it is in both. */
struct counters counters_between(const struct counters *before, const struct counters *after);
