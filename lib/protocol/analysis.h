/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the protocol reads in one run: the central cluster, the L-samples and their reasons, what each daemon
 * does in either, its period, and the cutoff that the run alone would give (EMP, steps 2 to 8).
 *
 * A reader is fed one execution at a time, in the order of samples, and holds in memory one row a daemon and
 * the executions of samples outside the central cluster. */
#pragma once

#include "lib/protocol/cluster.h"
#include "lib/protocol/name_groups.h"
#include "lib/protocol/period.h"

enum shape {
	SHAPE_L,        /* rare long samples, in the arms of an L, that daemons explain */
	SHAPE_CLEAN,    /* one cluster, and no daemon that explains what lies outside it */
	SHAPE_FREQUENT, /* long samples that daemons explain are so many that they meet in the upper right */
	SHAPE_DRIFT,    /* the speed of the machine wanders from beginning to end */
	SHAPE_STEP,     /* two speeds: it changed in between, or goes back and forth */
};

const char *shape_name(enum shape shape); /* "L", "clean", "frequent", "drift", "step" */

/* One execution in an L-sample that is long for its daemon (step 4). */
struct long_execution {
	uint32_t sample;
	int64_t pt_ns;
};

/* What one daemon does in one run. */
struct habit {
	char *name;
	char *unit;             /* of its longest execution; NULL: none or unknown */
	size_t n_central;       /* executions in central samples */
	int64_t central_max_ns; /* -1: none */
	double central_sd_ns;   /* n - 1; 0 for fewer than two */
	size_t n_outside;       /* executions in L-samples, long or not */
	struct long_execution *longs;
	size_t n_longs;
	int64_t long_min_ns; /* the least of them (min of L); -1: not infrequent */
	struct period period;
	int64_t cutoff_ns; /* step 8, of this run alone; -1: not infrequent */
	bool frequent;     /* one of those that a SHAPE_FREQUENT run has too much of */
};

/* Step 4: longer than the maximum and two sd of what is seen in the central cluster, or not seen there. */
static inline bool habit_is_long(const struct habit *habit, int64_t pt_ns)
{
	return habit->n_central == 0 ||
	       (double)pt_ns > (double)habit->central_max_ns + 2 * habit->central_sd_ns;
}

struct reading {
	struct run run;
	int64_t resolution_ns; /* of the PTs below */
	struct sample *samples;
	size_t n_samples;
	double spacing_ns; /* mean, from the start of a sample to the next one's */
	struct central central;
	enum shape shape;
	char why[400];       /* one sentence: what the shape was seen by */
	uint32_t *l_samples; /* ascending; above the central cluster, with a daemon that ran long */
	size_t n_l_samples;
	uint32_t *unexplained; /* above the central cluster, and no daemon ran long */
	size_t n_unexplained;
	struct habit *habits; /* by name; every daemon that was seen */
	size_t n_habits;
};

struct reading_options {
	int64_t resolution_ns;               /* PTs are rounded half up to it; 0: the run's own */
	int64_t central_max_ns;              /* the eye overruled; 0: it looks for itself */
	const struct name_pattern *patterns; /* must outlive the reader */
};

struct reader;

/* Takes the run and its samples over on success. daemons must outlive the reader. */
int reader_new(struct reader **ret, struct run *run, struct sample *samples, size_t n_samples,
	const struct daemons *daemons, const struct reading_options *options, struct error *err);
void reader_free(struct reader *reader);
DEFINE_FREEP(reader)

int reader_add(struct reader *reader, const struct execution *execution, struct error *err);
int reader_finish(struct reader *reader, struct reading *ret, struct error *err);

/* NULL: it was not seen. */
const struct habit *reading_habit(const struct reading *reading, const char *name);

void reading_clear(struct reading *reading);

static inline void reading_clearp(struct reading *reading)
{
	reading_clear(reading);
}
