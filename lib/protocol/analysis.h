/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The analysis of one run: the central cluster, the L-samples and their causes, the statistics of each daemon in
 * both, its period, and the cutoff from this run alone (EMP, steps 2 to 8). analysis_feed.h makes it. */
#pragma once

#include "lib/protocol/cluster.h"
#include "lib/protocol/daemon_statistics.h"
#include "lib/protocol/name_groups.h"
#include "lib/protocol/verdict.h"

struct analysis {
	struct run run;
	int64_t resolution_ns; /* of the PTs below */
	struct sample *samples;
	size_t n_samples;
	double spacing_ns; /* mean, from the start of a sample to the next one's */
	struct cluster central;
	enum verdict verdict;
	char why[400];       /* the reason for the verdict */
	uint32_t *l_samples; /* ascending; above the central cluster, with a daemon that ran long */
	size_t n_l_samples;
	uint32_t *unexplained; /* above the central cluster, and no daemon ran long */
	size_t n_unexplained;
	struct daemon_statistics *statistics; /* by name; every daemon that was seen */
	size_t n_statistics;
};

struct analysis_options {
	int64_t resolution_ns;               /* PTs are rounded half up to it; 0: the run's own */
	int64_t central_max_ns;              /* the longest central ET, set by hand; 0: detect it */
	const struct name_pattern *patterns; /* must outlive the analysis */
};

/* NULL: it did not run. */
const struct daemon_statistics *analysis_daemon(const struct analysis *analysis, const char *name);

void analysis_clear(struct analysis *analysis);
