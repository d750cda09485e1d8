/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that make an analysis share: analysis.c takes the executions and concludes on
 * daemons, verdict.c on the run. */
#pragma once

#include "lib/protocol/analysis.h"

struct analysis_feed {
	/* as far as it is known; the daemons are in it after the last execution */
	struct analysis analysis;
	struct analysis_options options;
	const struct sources *sources;
	int64_t *ets_ns;   /* one a sample, as recorded */
	int64_t *rests_ns; /* one a sample, by W: ET - W; otherwise NULL */
	double least_ns;   /* by W: less makes no sample long; otherwise 0 */
	uint8_t *zones;    /* one a sample */
	/* one a sample: beyond the core, also if the central cluster reaches further */
	bool *beyond_core;
	/* one a sample: of daemons that ran long in it, beyond what is usual for them */
	double *extra_ns;
	size_t at; /* the index of the sample whose executions are being added */
	struct daemons daemons;
	struct daemon_statistics *divides; /* see find_dividing */
};

/* By how much an execution is longer than usual. A process that runs all the time runs longer in a
 * longer sample without being its cause: its usual time grows with the sample. */
double analysis_beyond_usual(const struct analysis_feed *feed,
	const struct daemon_statistics *daemon, const struct long_execution *execution);

/* Whether daemons that ran long explain at least half of the time by which a sample (an index) is
 * longer than the median. */
bool analysis_explains(const struct analysis_feed *feed, size_t sample);

/* Of an analysis whose lists of samples are complete: fills in its verdict, why, and noise, and of
 * each daemon whether it is frequent. */
void verdict_find(struct analysis_feed *feed);
