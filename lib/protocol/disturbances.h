/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disturbance counters: counters of the system that changed in a run although they should not, and in which samples. */
#pragma once

#include "lib/record/sample_counters.h"

struct disturbance {
	enum counter which;
	uint32_t *samples; /* in which it changed enough to be reported */
	size_t n;
	int64_t total; /* in those; of the clock's rate: the greatest change */
};

struct disturbances {
	struct disturbance items[N_COUNTERS];
	size_t n;
	size_t n_samples;
};

/* et_ns: a sample's usual length, for the limits that are proportional to it. Context switches are not reported:
 * every program has some. */
int disturbances_find(struct disturbances *ret, const struct sample_counters *samples, size_t n,
	int64_t et_ns, struct error *err);
void disturbances_clear(struct disturbances *disturbances);

/* "stolen CPU time", "swapping": the name of a counter for people. */
const char *disturbance_name(enum counter which);

/* "CPU time stolen by the hypervisor in 12 of 400 samples (3, 17, 18, 21, …), 340.0 ms"; the caller frees it. NULL: no memory. */
char *disturbance_description(const struct disturbances *disturbances, const struct disturbance *item);
