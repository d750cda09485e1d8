/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Analyses a run from its executions, one at a time and in the order of samples. It keeps in memory one row for
 * each daemon, and the executions of samples outside the central cluster. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/protocol/analysis.h"

struct analysis_feed;

/* Takes the run and its samples over on success. `sources` and the patterns must outlive the feed. -EINVAL: the
 * run has no samples, or none at or below options->central_max_ns. */
int analysis_feed_new(struct analysis_feed **ret, struct run *run, struct sample *samples, size_t n_samples,
	const struct sources *sources, const struct analysis_options *options, struct error *err);
void analysis_feed_free(struct analysis_feed *feed);
DEFINE_FREEP(analysis_feed)

/* Executions after the last sample are ignored: they were added after the samples were read. -EINVAL: a sample or a
 * source that does not exist. */
int analysis_feed_add(struct analysis_feed *feed, const struct execution *execution, struct error *err);
int analysis_feed_finish(struct analysis_feed *feed, struct analysis *ret, struct error *err);
