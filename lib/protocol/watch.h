/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of a reader, for the three files that make it: reader.c feeds it, reading.c draws up what it
 * holds, shape.c judges that. */
#pragma once

#include "lib/protocol/reading.h"
#include "lib/protocol/resolution.h"
#include "lib/stats/running.h"

/* Where a sample's ET lies. NEAR and FAR are the part of the central cluster beyond its core, below and above
 * the widest gap there, until it is known whether daemons account for it. */
enum zone { ZONE_BELOW, ZONE_CORE, ZONE_NEAR, ZONE_FAR, ZONE_ABOVE, N_ZONES };

#define IN(zone) (1U << (zone))

struct watch {
	const char *name; /* of the group; belongs to the daemons or the patterns */
	uint32_t longest; /* the daemon of the longest execution, index into daemons; its unit is the habit's
			   */
	int64_t longest_ns;
	struct running seen[N_ZONES];
	struct long_execution *longs; /* beyond the core: those longer than all in it so far */
	size_t n_longs, room;
	double extra_ns; /* of the last explained_share: time in the slow samples beyond the usual */
};

struct reader {
	struct run run;
	struct sample *samples;
	size_t n_samples;
	int64_t resolution_ns;
	struct central central;
	uint8_t *zones;   /* one a sample */
	double *extra_ns; /* one a sample: of daemons that ran long in it, beyond what is usual for them */
	size_t cursor;    /* see reader_sample */
	const struct daemons *daemons;
	struct watch *watches; /* by name */
	size_t n_watches;
	uint32_t *watch_of; /* by index into daemons */
};

/* The index of the sample with this number; n_samples if there is none. Those asked for in ascending order
 * are found at once; a search from the start needs cursor = 0. */
size_t reader_sample(struct reader *reader, uint32_t number);

/* Whether daemons that ran long account for at least half of the time by which a sample is longer than the
 * median. */
bool reader_explains(const struct reader *reader, size_t sample);

/* The share of the extra time of the slow samples (a set of IN() zones) that daemons account for, where
 * the fast ones show what is usual. 0 where one of the two sets is empty. */
double explained_share(struct reader *reader, unsigned fast, unsigned slow);

/* Fills in shape, why and habits[].frequent of a reading that is complete otherwise. habits[i] is of
 * watches[i]. */
int shape_judge(struct reader *reader, struct reading *reading);
