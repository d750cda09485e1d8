/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disturbance counters: counters of the system that changed in a run although they should not, and
 * in which samples. And samples whose PT cannot be right. */
#pragma once

#include "lib/record/run.h"
#include "lib/stats/comparison_verdict.h"

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

/* et_ns: a sample's usual length, for the limits that are proportional to it. Context switches are
 * not reported: every program has some. */
struct disturbances disturbances_find(const struct counters *samples, size_t n, int64_t et_ns);
void disturbances_clear(struct disturbances *disturbances);

/* "stolen CPU time", "swapping": the name of a counter for people. */
const char *disturbance_name(enum counter which);

/* "CPU time stolen by the hypervisor in 12 of 400 samples (3, 17, 18, 21, …), 340.0 ms"; "PT
 * contains interrupts: 8.3 ms a sample (15 %), in 5 of 5 samples (1, 2, 3, 4, …)"; the caller frees
 * it. */
char *disturbance_description(const struct disturbances *disturbances, size_t i);

/* How long control groups held a program back in all samples. The share is of its time: of ET, or
 * of PT and this for a program with several tasks. */
struct held_time {
	int64_t ns;
	double share;
};

struct held_time held_time_of(const struct sample *samples, size_t n);

/* Above the first share, there is a warning; above the second, there is no verdict: a program that
 * is stopped so often finds its caches cold, and its ET is that of the quota. */
#define HELD_WORTH_NOTING 0.01
#define HELD_TOO_LONG 0.10

/* How long somebody used the other hardware thread of the core, in all samples that were probed. */
struct neighbour_time {
	size_t n_probed;  /* samples */
	size_t n_beside;  /* those that had a neighbour for more of their time than the limit */
	double share;     /* of the time of all that were probed; NAN: there are none */
	int64_t probe_ns; /* CPU time of the probes */
};

/* Below this, a neighbour is a detail. */
#define NEIGHBOUR_WORTH_NOTING 0.01

struct neighbour_time neighbour_time_of(const struct sample *samples, size_t n, int64_t limit_ppm);

/* What the counters say against any verdict: more CPU time stolen than this share of ET, or a CPU
 * whose clock stepped from one speed to another in the middle. */
#define STOLEN_TOO_LONG 0.10
enum unmeasurable_cause counters_unmeasurable(
	const struct counters *counters, size_t n, const struct sample *samples, size_t n_samples);

/* A sample whose PT cannot be right. The kernel makes PT from its clock, and takes away what the
 * hypervisor says that it gave to others (steal). If that is too much, PT is too short; but PT, W
 * and steal add up to ET all the same, because PT was made from them. So a PT that is too short
 * only shows beside those of the other samples. */
struct impossible_pt {
	size_t n; /* how many there are; of the first: */
	uint32_t sample;
	int64_t pt_ns;
	/* PT above ET: that; otherwise the least PT of the samples without steal */
	int64_t limit_ns;
};

/* Longer than ET, by more than a program of one CPU needs to start and to end; or less than half of
 * the least PT of at least ten samples without steal, where the steal of the sample explains what
 * is missing, and its ET without W is long enough for the usual PT. Counters in the order of
 * samples; a sample without steal of its own is not judged by it. */
struct impossible_pt impossible_pt_find(const struct run *run, const struct sample *samples,
	size_t n, const struct counters *counters, size_t n_counters);
