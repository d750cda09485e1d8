/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that make an analysis share: analysis.c takes the executions and concludes with causes.c and verdict.c. */
#pragma once

#include "lib/protocol/analysis.h"

struct analysis_feed {
	struct analysis analysis;  /* as far as it is known; the daemons are in it after the last execution */
	int64_t *ets_ns;           /* one a sample, as recorded */
	int64_t *rests_ns;         /* one a sample, by W: ET - W; otherwise NULL */
	double least_ns;           /* by W: less makes no sample long; otherwise 0 */
	struct sample_span *spans; /* one a sample; NULL: start times are missing */
	uint8_t *zones;            /* one a sample */
	double *extra_ns; /* one a sample: of daemons that ran long in it, beyond what is usual for them */
	size_t at;        /* the index of the sample whose executions are being added */
	bool other_cpus;
	const struct sources *sources;
	const struct name_pattern *patterns;
	struct daemons daemons;
	struct daemon_statistics *divides; /* see causes_dividing */
	const struct analysis *family_reference[2];
};

/* causes.c: what makes long samples long, and which part of their extra time daemons account for. */

/* Fills in feed->extra_ns, from the samples beyond the core. */
void causes_add_up(struct analysis_feed *feed);

/* Whether daemons that ran long explain at least half of the time by which a sample (an index) is longer than the
 * median. After causes_add_up. */
bool causes_explain(const struct analysis_feed *feed, size_t sample);

/* The part of the delay of its samples that a daemon explains; NAN: it did not run long. Where several ran longer together than the
 * delay, each gets a part of the delay. */
double causes_share(const struct analysis_feed *feed, const struct daemon_statistics *daemon);

/* Divides each long sample that daemons explain among those that ran long in it, however long the sample is. Each daemon's
 * `extra` is how many samples it explains. */
void causes_attribute(struct analysis_feed *feed);

/* If the usual samples are those below the central cluster: the share of the extra time of all others that daemons explain. Each
 * daemon's `extra` is its time in those others beyond the usual, in ns. */
double causes_of_usual_length(struct analysis_feed *feed);

/* The daemon whose presence divides the samples into longer and shorter ones; NULL: there is none. Before zones
 * NEAR and FAR are dissolved. */
struct daemon_statistics *causes_dividing(const struct analysis_feed *feed);

/* verdict.c: fills in verdict, why, noise and the daemons' `frequent` of an analysis in which the lists of samples are
 * complete. */
void verdict_find(struct analysis_feed *feed);
