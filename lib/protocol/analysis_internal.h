/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of a feed, for the files that make an analysis: analysis_feed.c sums up, analysis_conclude.c concludes
 * with causes.c and shape.c. */
#pragma once

#include "lib/protocol/analysis.h"
#include "lib/protocol/name_families.h"
#include "lib/protocol/resolution.h"
#include "lib/stats/running.h"

/* The zone of a sample's ET. NEAR and FAR are the part of the central cluster beyond its core, below and above the
 * widest gap there, until it is known whether daemons explain it. */
enum zone { ZONE_BELOW, ZONE_CORE, ZONE_NEAR, ZONE_FAR, ZONE_ABOVE, N_ZONES };

#define IN(zone) (1U << (zone))

struct daemon_tally {
	const char *name; /* of the group; belongs to the daemons, the patterns or the families */
	uint32_t names;   /* of a family; 0: not a family */
	pid_t pid;        /* of its latest execution */
	bool returned;    /* as another process */
	uint32_t longest; /* the daemon of the longest execution, index into daemons */
	int64_t longest_ns;
	struct running seen[N_ZONES];
	struct long_execution *longs; /* beyond the core: those longer than all in it so far */
	size_t n_longs, capacity;
	uint32_t last; /* the last sample that it ran in, of those up to the bound of the central cluster */
	size_t n_present;    /* how many those are */
	double et_ns, pt_ns; /* and their ETs, beyond the central median, and its own time in them; sums */
	double extra; /* of the last causes_explained_share: time in the slow samples beyond the usual, in ns; or of
			 causes_share_out: how many long samples it explains */
};

struct analysis_feed {
	struct run run;
	struct sample *samples;
	size_t n_samples;
	int64_t resolution_ns;
	struct cluster central;
	bool other_cpus;
	int64_t *own_ns;    /* one a sample: ET - W; NULL: samples' et_ns is ET */
	int64_t *exact_ns;  /* one a sample: what its et_ns was rounded from; NULL likewise */
	struct sample_span *spans; /* one a sample; NULL: start times are missing */
	int64_t usual_ns;   /* the median of own_ns, which is part of every et_ns; 0: samples' et_ns is ET */
	size_t n_by_et;     /* of how many samples W is unknown */
	double material_ns; /* less makes no sample long; 0: samples' et_ns is ET */
	uint8_t *zones;     /* one a sample */
	double *extra_ns;   /* one a sample: of daemons that ran long in it, beyond what is usual for them */
	size_t cursor;      /* see analysis_feed_sample */
	const struct sources *daemons;
	struct daemon_tally *tallies; /* by name */
	size_t n_tallies;
	const struct daemon_tally *divides; /* see causes_dividing */
	uint32_t *tally_of;                 /* by index into daemons; until families_join */
	struct name_families families;
	const struct analysis *like[2]; /* as in the options */
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

/* Step 4, after the executions in the central cluster have been summed up. */
static inline bool running_is_long(const struct running *central, int64_t pt_ns)
{
	const struct daemon_statistics daemon = {
		.n_central = central->n,
		.central_max_ns = central->max_ns,
		.central_sd_ns = running_sd(central),
	};

	return daemon_statistics_is_long(&daemon, pt_ns);
}

/* analysis_families.c: one tally for all names of a family, after the tallies that never ran are dropped. */
int families_join(struct analysis_feed *feed);

/* causes.c: what makes long samples long, and which part of their extra time daemons account for. */

/* Fills in feed->extra_ns, from the samples beyond the core. */
void causes_add_up(struct analysis_feed *feed);

/* Whether daemons that ran long explain at least half of the time by which a sample (an index) is longer than the
 * median. After causes_add_up. */
bool causes_explain(const struct analysis_feed *feed, size_t sample);

/* The share of the extra time of the slow samples (a set of IN() zones) that daemons explain, compared with their
 * usual time in the fast samples. 0 if one of the two sets is empty. Fills in the tallies' extra. */
double causes_explained_share(struct analysis_feed *feed, unsigned fast, unsigned slow);

/* Shares out each long sample that daemons explain to those that ran long in it, however long the sample is. After the longs have gone to
 * `statistics`; fills in the tallies' extra. */
void causes_share_out(struct analysis_feed *feed, const struct daemon_statistics *statistics);

/* Fills in statistics' share. Where several ran longer together than the delay, each gets a part of the delay. After the longs
 * have gone to `statistics`. */
void causes_find_shares(struct analysis_feed *feed, struct daemon_statistics *statistics);

/* The daemon whose presence divides the samples into longer and shorter ones; NULL: there is none. Before zones
 * NEAR and FAR are dissolved. */
const struct daemon_tally *causes_dividing(const struct analysis_feed *feed);

/* The same, where W is known and does not contradict it: other processes made the sample long. */
static inline bool analysis_feed_explains(const struct analysis_feed *feed, size_t sample)
{
	const struct sample *s = &feed->samples[sample];
	int64_t longer_ns = s->et_ns - feed->central.median_ns;

	return causes_explain(feed, sample) && (s->wait_ns < 0 || s->wait_ns >= longer_ns / 2);
}

/* noise.c: what the central cluster hides; 1: other processes take a part of every sample, which is the verdict. */
int noise_find(const struct analysis_feed *feed, struct cluster_noise *ret);
bool noise_varies(const int64_t *ascending, size_t n); /* between their deciles, too much */
int noise_find_busy(const struct analysis_feed *feed, struct analysis *analysis);

/* shape.c. Fills in verdict, why and statistics[].frequent of an analysis in which everything else is filled in;
 * statistics[i] belongs to tallies[i]. */
int shape_judge(struct analysis_feed *feed, struct analysis *analysis);
