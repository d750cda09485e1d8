/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the disturbance counters counted in one sample: counters of the kernel that should not change meanwhile. A counter that a
 * machine does not have is "not known", never zero. */
#pragma once

#include "lib/record/fields.h"

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
	uint32_t sample;           /* its n in the book */
	int64_t value[N_COUNTERS]; /* INT64_MIN: not known */
};

#define COUNTERS_NONE ((struct counters){.value = {[0 ... N_COUNTERS - 1] = INT64_MIN}})

extern const struct field_table counters_table;

static inline bool counters_know(const struct counters *counters, enum counter which)
{
	return counters->value[which] != INT64_MIN;
}

static inline bool counters_know_any(const struct counters *counters)
{
	for (enum counter i = 0; i < N_COUNTERS; i++)
		if (counters_know(counters, i))
			return true;
	return false;
}
