/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that make an analysis share: analysis.c takes the executions and concludes with causes.c and verdict.c. */
#pragma once

#include "lib/protocol/analysis.h"

#define ZONE_BIT(zone) (1U << (zone))

struct analysis_feed {
	struct run run;
	struct sample *samples;
	size_t n_samples;
	int64_t resolution_ns;
	struct cluster central;
	bool other_cpus;
	int64_t *et_minus_wait_ns; /* one a sample; NULL: samples' et_ns is ET */
	int64_t *exact_ns;         /* one a sample: what its et_ns was rounded from; NULL likewise */
	int64_t median_rest_ns; /* of et_minus_wait_ns, which is part of every et_ns; 0: samples' et_ns is ET */
	size_t n_by_et;         /* of how many samples W is unknown */
	double least_ns;        /* less makes no sample long; 0: samples' et_ns is ET */
	struct sample_span *spans; /* one a sample; NULL: start times are missing */
	uint8_t *zones;            /* one a sample */
	double *extra_ns; /* one a sample: of daemons that ran long in it, beyond what is usual for them */
	size_t cursor;    /* see analysis_feed_sample */
	const struct sources *sources;
	const struct name_pattern *patterns;
	struct daemons daemons;
	const struct daemon_statistics *divides; /* see causes_dividing */
	const struct analysis *family_reference[2];
};

/* The index of the sample with this number; n_samples: there is none. Numbers in ascending order are found
 * at once; cursor = 0 begins a new search. */
static inline size_t analysis_feed_sample(struct analysis_feed *feed, uint32_t number)
{
	while (feed->cursor < feed->n_samples && feed->samples[feed->cursor].n < number)
		feed->cursor++;
	if (feed->cursor < feed->n_samples && feed->samples[feed->cursor].n == number)
		return feed->cursor;
	return feed->n_samples;
}

/* causes.c: what makes long samples long, and which part of their extra time daemons account for. */

/* Fills in feed->extra_ns, from the samples beyond the core. */
void causes_add_up(struct analysis_feed *feed);

/* Whether daemons that ran long explain at least half of the time by which a sample (an index) is longer than the
 * median. After causes_add_up. */
bool causes_explain(const struct analysis_feed *feed, size_t sample);

/* The share of the extra time of the slow samples (a set of ZONE_BIT()) that daemons explain, compared with their usual
 * time in the fast samples. 0 if one of the two sets is empty. Each daemon's `extra` is its time in the slow samples
 * beyond the usual, in ns. */
double causes_explained_share(struct analysis_feed *feed, unsigned fast, unsigned slow);

/* Divides each long sample that daemons explain among those that ran long in it, however long the sample is. Each daemon's
 * `extra` is how many samples it explains. */
void causes_attribute(struct analysis_feed *feed);

/* Fills in each daemon's `share`. Where several ran longer together than the delay, each gets a part of the delay. */
void causes_find_shares(struct analysis_feed *feed);

/* The daemon whose presence divides the samples into longer and shorter ones; NULL: there is none. Before zones
 * NEAR and FAR are dissolved. */
const struct daemon_statistics *causes_dividing(const struct analysis_feed *feed);

/* verdict.c: fills in verdict, why, noise and the daemons' `frequent` of an analysis in which the lists of samples are
 * complete. */
void verdict_find(struct analysis_feed *feed, struct analysis *analysis);
