/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile applied to a run: first out go the samples in which a daemon ran longer than its cutoff, then,
 * once, those more than two standard deviations from the mean of the rest (EMP, steps 10 and 11). */
#pragma once

#include "lib/protocol/cutoffs.h"
#include "lib/stats/summary.h"

/* One execution over its daemon's cutoff. A sample with several has several. */
struct over_cutoff {
	uint32_t sample;
	char *daemon; /* the name that it counts under */
	char *unit;   /* NULL: none or unknown */
	int64_t pt_ns, cutoff_ns;
};

/* One clock (ET or PT) through both checks. */
struct clock_discarding {
	struct summary raw, by_cutoff, clean; /* of all samples; after the first check; after both */
	uint32_t *by_two_sd;                  /* the samples that the second check takes, ascending */
	size_t n_by_two_sd;
};

struct discarding {
	struct run run;
	int64_t resolution_ns;
	int64_t mean_et_ns;
	struct over_cutoff *over; /* by sample, then as recorded */
	size_t n_over;
	uint32_t *by_cutoff; /* the samples that the first check takes, ascending, each once */
	size_t n_by_cutoff;
	uint32_t *incomplete; /* samples whose executions may be missing: taken with the first check */
	size_t n_incomplete;
	struct clock_discarding pt, et; /* the second check looks at each clock by itself */
};

/* The second check, for one time among those that the first has left. */
static inline bool beyond_two_sd(const struct summary *left, int64_t time_ns)
{
	double off = (double)time_ns - left->mean_ns;

	return off > 2 * left->sd_ns || off < -2 * left->sd_ns;
}

struct discarder;

/* Takes the run and its samples over on success. profile NULL: nothing is discarded for a named cause. The
 * names of daemons are grouped as those of the profile were. */
int discarder_new(struct discarder **ret, struct run *run, struct sample *samples, size_t n_samples,
	const struct daemons *daemons, const struct profile *profile, const struct name_pattern *patterns,
	struct error *err);
void discarder_free(struct discarder *discarder);
DEFINE_FREEP(discarder)

int discarder_add(struct discarder *discarder, const struct execution *execution, struct error *err);
int discarder_finish(struct discarder *discarder, struct discarding *ret, struct error *err);

void discarding_clear(struct discarding *discarding);

static inline void discarding_clearp(struct discarding *discarding)
{
	discarding_clear(discarding);
}
