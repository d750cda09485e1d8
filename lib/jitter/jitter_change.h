/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run against its baseline: which sources are new, gone, grown or shrunk. */
#pragma once

#include "lib/jitter/jitter_table.h"

enum jitter_change_kind {
	CHANGE_NONE,    /* or by less than half, or by no more than chance */
	CHANGE_NEW,     /* in the run, and not in the baseline, which would have seen it */
	CHANGE_GONE,    /* the reverse */
	CHANGE_GROWN,   /* at least JITTER_MARGIN times as much of the time */
	CHANGE_SHRUNK,  /* the reverse */
	CHANGE_UNCLEAR, /* in one run only, but too rarely to say that chance is not the reason */
	N_CHANGE_KINDS
};

extern const char *const jitter_change_names[N_CHANGE_KINDS];

/* Lengths of the same work differ from run to run (frequency, caches), so that less is not a
 * change. */
#define JITTER_MARGIN 1.5

struct jitter_change {
	const struct source *source;
	const struct jitter_row *before, *after; /* NULL: the source is not in that run */
	enum jitter_change_kind kind;
	double before_share, after_share; /* of the sampled time */
	double ratio;                     /* of these; INFINITY, or 0, if it is in one run only */
	double low, high; /* its 95 % interval, of this source alone; INFINITY: no upper bound */
	double p;         /* adjusted for the number of sources (Holm 1979) */
	/* in that adjustment: it grows with the time in both runs, so that many short sources do
	 * not hide a long one */
	double weight;
};

struct jitter_changes {
	struct jitter_change *items; /* the largest difference of shares first */
	size_t n;
	double new_share; /* of what all sources of the run took: those that are new */
};

/* Both tables of one level and one book, which must outlive it. In 19 of 20 comparisons of a
 * machine that has not changed, no source at all is new, gone, grown or shrunk. */
struct jitter_changes jitter_changes_make(const struct jitter_table *before,
	const struct jitter_cpu *before_cpus, const struct jitter_table *after,
	const struct jitter_cpu *after_cpus);
void jitter_changes_clear(struct jitter_changes *changes);

/* "0.034", "0.21", "4.90", "16". */
const char *jitter_ratio_text(double ratio);
/* "0.21 … 0.35"; without one of the bounds "< 0.35" or "> 4.90". */
const char *jitter_ratio_interval(const struct jitter_change *change);
