/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as plain structs: the cutoffs of daemons, the two runs that they come from, and what
 * these showed of the machine. */
#pragma once

#include "lib/record/run.h"

/* The cutoff of one daemon, in the profile's resolution. -1: none. */
struct cutoff {
	char *daemon;
	char *unit;        /* to act on; NULL: unknown */
	int64_t short_ns;  /* of the short run */
	int64_t long_ns;   /* of the long run */
	int64_t period_ns; /* 0: none found */
	bool firm;         /* see struct period */
	/* 5 % of the period; without one, between the lengths of both runs; 0: one cutoff for
	 * all */
	int64_t task_time_ns;
	int64_t below_ns;   /* for programs shorter than task_time */
	int64_t atleast_ns; /* for the others */
	uint32_t names;     /* of a family: see daemons.c; 0: it is a name */
	/* which part of the delay of the short run's L-samples it explains */
	int64_t short_share_ppm;
	int64_t long_share_ppm;
};

/* What programs are judged by, from both runs: each run's own cutoff on either side of task_time,
 * or the greater one for all. */
void cutoff_set_limits(struct cutoff *cutoff);

struct profile_run {
	char *program; /* "INC128" */
	int64_t run;   /* id in the book, 0: not in this book */
	int64_t samples;
	uint32_t *l_samples;
	size_t n_l_samples;
	/* shorter executions give no cutoff: see discard.h; 0: there is no floor */
	int64_t floor_ns;
};

/* The minimum detectable difference of a machine: the smallest between two means of this many
 * samples that would be found in four cases of five, as a share of the mean. */
struct mdd {
	int64_t samples;    /* 0: not known */
	double interleaved; /* if both programs take their samples in turn */
	double separate;    /* if they are measured one after the other */
	double duet;        /* if they alternate within each sample; 0: not known */
};

enum { N_MDD = 4 };
extern const int mdd_sizes[N_MDD];

/* The mark of a profile that was made of noisy runs, or was forced, and of what is judged by it. */
struct profile_mark {
	/* its runs were noisy and show no daemon that takes less; 0: they were not */
	int64_t blind_ns;
	/* what explains that: "steal 3.2 %", and "busy, forced" if so; NULL: neither, or not
	 * known */
	char *noise;
};

struct profile {
	int64_t id; /* in the book, 0: not stored */
	char *name;
	int64_t resolution_ns;
	int64_t made_ns;          /* since 1970; 0: unknown */
	int64_t retired_ns;       /* when it was replaced or removed; 0: it was not */
	int cpu;                  /* that its runs were pinned to; -1: none, or unknown */
	char *environment_digest; /* NULL: unknown */
	bool by_wait;             /* its L-samples were found by W */
	struct profile_run short_run, long_run;
	struct profile_mark mark;
	struct cutoff *cutoffs; /* by name */
	size_t n_cutoffs;
	struct mdd mdd[N_MDD];          /* of the machine, by the short run */
	struct correlation correlation; /* likewise */
	/* of the INC that showed mdd, correlation and, unless it is by_wait, the mark; NULL: not
	 * known */
	char *inc_digest;
	bool other_inc; /* these were dropped: see profile_for_inc */
};

/* Drops what another INC than that of this digest (NULL: not known) showed of the machine. The
 * cutoffs stay: they come from the waiting time and from the CPU times of other processes. */
void profile_for_inc(struct profile *profile, const char *inc_digest);

void profile_clear(struct profile *profile);

extern const struct field_table profile_table, profile_run_table, cutoff_table;
