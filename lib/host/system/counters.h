/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disturbance counters: counters of the kernel that should not change during a sample. A counter that this machine
 * does not have is "not known", never zero.
 *
 * They are read once in 100 ms, not with every short sample. The first sample that ends 100 ms or more after the last reading gets
 * what they counted since then. A sample of 100 ms or more therefore has its own counts; of shorter samples,
 * the last of each 100 ms has the counts of all, and of the time between them. The others have none. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stdint.h>

enum counter {
	COUNTER_STEAL,        /* ns that the hypervisor gave to others: of the CPU, or of all if not pinned */
	COUNTER_THROTTLES,    /* times a CPU was throttled for heat; likewise */
	COUNTER_SWAPPED_IN,   /* pages */
	COUNTER_SWAPPED_OUT,  /* pages */
	COUNTER_MAJOR_FAULTS, /* pages fetched from a disk, for any process */
	COUNTER_SUSPENDED,    /* ns that the machine was suspended */
	COUNTER_CLOCK_RATE, /* by how much NTP changed the clock's rate, in parts of 10^9; may be negative */
	COUNTER_CPU_PRESSURE, /* ns in which some process waited for a CPU */
	COUNTER_VOLUNTARY,    /* context switches of the program */
	COUNTER_INVOLUNTARY,
	COUNTER_INTERRUPTS, /* ns that interrupts took from the program, on the CPU that it is pinned to */
	/* Of the CPU that programs are pinned to, where its registers (/dev/cpu/N/msr) or a sensor can be read: */
	COUNTER_SMIS,        /* interrupts of the firmware */
	COUNTER_TEMPERATURE, /* change of the processor's temperature, in thousandths of a degree; may be negative */
	COUNTER_SPEED, /* how far its actual clock is from the base frequency, in parts of 10^6; may be negative */
	N_COUNTERS
};

struct counters {
	uint32_t known; /* 1 << counter */
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

/* cpu -1: the program may run on any. root_fd as in lib/base/text.h. */
int counters_open(struct counter_reader **ret, int root_fd, int cpu, struct error *err);
void counter_reader_free(struct counter_reader *reader);
DEFINE_FREEP(counter_reader)

/* Before and after a sample. They do not include those of the program itself: its context switches and
 * interrupts. */
void counters_begin(struct counter_reader *reader);
struct counters counters_end(struct counter_reader *reader);
