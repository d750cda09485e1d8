/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disturbance counters: counters of the system that changed in a run although they should not, and in which samples. */
#pragma once

#include "lib/base/error.h"
#include "lib/record/counters.h"

struct disturbance {
	enum counter which;
	uint32_t *samples; /* in which it changed enough to be reported */
	size_t n;
	int64_t total; /* in those; of the clock's rate: the greatest change */
};

/* Whether the kernel counts the time of interrupts as process time. */
enum interrupts_in_pt { INTERRUPTS_NOT_KNOWN, INTERRUPTS_IN_PT, INTERRUPTS_NOT_IN_PT };

struct disturbances {
	struct disturbance items[N_COUNTERS];
	size_t n;
	size_t n_samples;
	enum interrupts_in_pt interrupts; /* set by the caller, as is: */
	double pt_ns;                     /* the mean of all samples; 0: not known */
};

/* et_ns: a sample's usual length, for the limits that are proportional to it. Context switches are not reported:
 * every program has some. */
int disturbances_find(struct disturbances *ret, const struct sample_counters *samples, size_t n,
	int64_t et_ns, struct error *err);
void disturbances_clear(struct disturbances *disturbances);

/* "stolen CPU time", "swapping": the name of a counter for people. */
const char *disturbance_name(enum counter which);

/* "CPU time stolen by the hypervisor in 12 of 400 samples (3, 17, 18, 21, …), 340.0 ms"; "PT contains interrupts: 8.3 ms a
 * sample (15 %), in 5 of 5 samples (1, 2, 3, 4, …)"; the caller frees it. NULL: no memory. */
char *disturbance_description(const struct disturbances *disturbances, const struct disturbance *item);
