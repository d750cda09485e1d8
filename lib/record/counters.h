/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the disturbance counters counted in one sample: counters of the kernel that should not change meanwhile. A counter that a
 * machine does not have is "not known", never zero. */
#pragma once

#include "lib/base/base.h"

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

struct sample_counters {
	uint32_t sample; /* its n */
	struct counters changes;
};
