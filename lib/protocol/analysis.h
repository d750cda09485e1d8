/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The analysis of one run: the central cluster, the L-samples and their causes, the statistics of
 * each daemon in both, its period, and the cutoff from this run alone (EMP, steps 2 to 8). */
#pragma once

#include "lib/protocol/cluster.h"
#include "lib/protocol/daemons.h"
#include "lib/protocol/verdict.h"

/* Times in whole units of a resolution, rounded half up as the papers' tables are. */
static inline int64_t resolution_round(int64_t ns, int64_t resolution_ns)
{
	return (ns + resolution_ns / 2) / resolution_ns * resolution_ns;
}

/* Halfway between two times that are in whole units already. */
static inline int64_t resolution_midpoint(int64_t a_ns, int64_t b_ns, int64_t resolution_ns)
{
	return (a_ns + b_ns + resolution_ns) / (2 * resolution_ns) * resolution_ns;
}

struct analysis {
	struct run run;
	int64_t resolution_ns;  /* of the PTs below */
	struct sample *samples; /* by_wait: et_ns is W and the usual ET - W */
	size_t n_samples;
	bool by_wait;
	int64_t median_rest_ns; /* by_wait: the median ET - W; otherwise 0 */
	/* by_wait: how many samples have no known W, and are judged by their ET */
	size_t n_by_et;
	double spacing_ns; /* mean, from the start of a sample to the next one's */
	struct cluster central;
	enum verdict verdict;
	struct cluster_noise noise;
	char *why;           /* the reason for the verdict, and whether it is noisy */
	uint32_t *l_samples; /* ascending; above the central cluster, because daemons ran long */
	size_t n_l_samples;
	/* above the central cluster, and no daemons explain it; where noise.n_long > 0, all of
	 * those */
	uint32_t *unexplained;
	size_t n_unexplained;
	struct daemon_statistics *statistics; /* by name; every daemon that was seen */
	size_t n_statistics;
};

struct analysis_options {
	int64_t resolution_ns;  /* PTs are rounded half up to it; 0: the run's own */
	int64_t central_max_ns; /* the longest central ET, set by hand; 0: detect it */
	/* counts what daemons used on other CPUs, too; false: only if the CPU is not known */
	bool other_cpus;
	int clock; /* enum execution_clock; the caller adds executions with their times by it */
	/* L-samples are those with a long waiting time W, whatever the program itself took */
	bool by_wait;
	/* by_wait, if W is exact and known of nine in ten samples; otherwise by ET, as in the
	 * papers */
	bool by_wait_if_exact;
	const struct name_pattern *patterns; /* must outlive the analysis */
	/* Other runs whose families of names are also families here; they must outlive the feed.
	 * NULL: none. */
	const struct analysis *family_reference[2];
};

/* NULL: it did not run. */
const struct daemon_statistics *analysis_daemon(const struct analysis *analysis, const char *name);

/* The interval at which it runs long; 0: no period was found. A period that does not fit into an
 * int64_t, of samples that take years, is the longest that does. */
double analysis_period_ns(const struct analysis *analysis, const struct daemon_statistics *daemon);

/* "every 112 samples = 4 h 0 min, firm (7 times; by chance in under 0.1 %)" */
const char *analysis_period_text(
	const struct analysis *analysis, const struct daemon_statistics *daemon);

/* Whether cutoffs may be made from this run: its verdict gives them, or a person set the bound of
 * its cluster. */
static inline bool analysis_gives_cutoffs(const struct analysis *analysis)
{
	return verdict_gives_cutoffs(analysis->verdict) || analysis->central.by_hand;
}

void analysis_clear(struct analysis *analysis);

/* Makes an analysis of a run from its executions, one at a time and in the order of samples. It
 * keeps in memory one row for each daemon, and the executions of samples outside the central
 * cluster. */
struct analysis_feed;

/* Takes the run and its samples over on success. `sources` and the patterns must outlive the feed.
 * -EINVAL: the run has no samples, or none at or below options->central_max_ns. */
int analysis_feed_new(struct analysis_feed **ret, struct run *run, struct sample *samples,
	size_t n_samples, const struct sources *sources, const struct analysis_options *options,
	struct error *err);
void analysis_feed_free(struct analysis_feed *feed);
DEFINE_FREEP(analysis_feed)

/* A book_each. Executions after the last sample are ignored: they were added after the samples were
 * read. -EINVAL: a sample or a source that does not exist. */
int analysis_feed_add(void *feed, const struct execution *execution, struct error *err);

/* The analysis; nothing can be added afterwards. */
struct analysis analysis_feed_finish(struct analysis_feed *feed);
