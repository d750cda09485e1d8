/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of a reader, for the three files that make it: analysis_feed.c feeds it, analysis.c draws up what it
 * holds, verdict.c judges that. */
#pragma once

#include "lib/protocol/analysis.h"
#include "lib/protocol/resolution.h"
#include "lib/stats/running.h"

/* Where a sample's ET lies. NEAR and FAR are the part of the central cluster beyond its core, below and above
 * the widest gap there, until it is known whether daemons account for it. */
enum zone { ZONE_BELOW, ZONE_CORE, ZONE_NEAR, ZONE_FAR, ZONE_ABOVE, N_ZONES };

#define IN(zone) (1U << (zone))

struct daemon_tally {
	const char *name; /* of the group; belongs to the daemons or the patterns */
	uint32_t longest; /* the daemon of the longest execution, index into daemons; its unit is the habit's
			   */
	int64_t longest_ns;
	struct running seen[N_ZONES];
	struct long_execution *longs; /* beyond the core: those longer than all in it so far */
	size_t n_longs, capacity;
	uint32_t last;       /* the last sample that it ran in, of those up to the bound of the eye */
	size_t n_present;    /* how many those are */
	double et_ns, pt_ns; /* and their ETs, beyond the central median, and its own time in them; sums */
	double extra_ns;     /* of the last explained_share: time in the slow samples beyond the usual */
};

struct analysis_feed {
	struct run run;
	struct sample *samples;
	size_t n_samples;
	int64_t resolution_ns;
	struct cluster central;
	uint8_t *zones;   /* one a sample */
	double *extra_ns; /* one a sample: of daemons that ran long in it, beyond what is usual for them */
	size_t cursor;    /* see analysis_feed_sample */
	const struct sources *daemons;
	struct daemon_tally *tallies; /* by name */
	size_t n_tallies;
	const struct daemon_tally *divides; /* see find_dividing */
	uint32_t *tally_of;                 /* by index into daemons */
};

/* The index of the sample with this number; n_samples if there is none. Those asked for in ascending order
 * are found at once; a search from the start needs cursor = 0. */
size_t analysis_feed_sample(struct analysis_feed *feed, uint32_t number);

/* Step 4, where the executions in the central cluster have been summed up. */
static inline bool running_is_long(const struct running *central, int64_t pt_ns)
{
	const struct daemon_statistics daemon = {
		.n_central = central->n,
		.central_max_ns = central->max_ns,
		.central_sd_ns = running_sd(central),
	};

	return daemon_statistics_is_long(&daemon, pt_ns);
}

/* Fills in extra_ns. */
void add_up_extra(struct analysis_feed *feed);

/* Whether daemons that ran long account for at least half of the time by which a sample is longer than the
 * median. */
bool analysis_feed_explains(const struct analysis_feed *feed, size_t sample);

/* The share of the extra time of the slow samples (a set of IN() zones) that daemons account for, where
 * the fast ones show what is usual. 0 where one of the two sets is empty. */
double explained_share(struct analysis_feed *feed, unsigned fast, unsigned slow);

/* The daemon whose running or not divides the samples into longer and shorter ones; NULL: there is none.
 * Before the tail is settled. */
const struct daemon_tally *find_dividing(const struct analysis_feed *feed);

/* Fills in shape, why and habits[].frequent of a reading that is complete otherwise. habits[i] is of
 * watches[i]. */
int verdict_judge(struct analysis_feed *feed, struct analysis *analysis);
