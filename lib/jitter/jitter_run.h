/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a stored jitter run says: Table I of De, Kothari & Mann (2007), what keeps each source away,
 * and what differs from a baseline. */
#pragma once

#include "lib/jitter/jitter.h"

/* What a source took, on all CPUs together. */
struct jitter_row {
	const struct source *source;
	int64_t count, min_ns, max_ns, total_ns;
	double mean_ns;
	/* n - 1; 0 for one. The paper's column is something else: it exceeds the range */
	double sd_ns;
	double share;      /* of what events name (total_ns); 0 outside the kernel */
	int64_t period_ns; /* 0: none */
	double squares_ns2, rounds, round_squares_ns2,
		round_steps_ns2; /* see struct jitter_source; sums over CPUs */
};

struct jitter_table {
	struct jitter_row *rows; /* the largest total first */
	size_t n;
	int64_t total_ns; /* without SOURCE_OUTSIDE */
};

/* Of the level JITTER_FREQUENCY, or JITTER_TIME, in which combinations are sources. `sources` must
 * outlive it. -EBADMSG, with a sentence: a row's source is not among them. */
int jitter_table_make(struct jitter_table *ret, const struct jitter *jitter,
	enum jitter_level level, const struct sources *sources, struct error *err);

/* The interruptions of low_ns to high_ns, by source (level JITTER_TIME), from the buckets that
 * overlap that range, which is widened to their edges. Rows have count, total_ns, mean_ns and
 * share, of all; min_ns and max_ns are edges of buckets. */
struct jitter_peak {
	int64_t low_ns, high_ns; /* edges */
	struct jitter_table table;
	int64_t gaps, gaps_ns; /* that the loop saw of such a length, explained or not */
};

int jitter_peak_make(struct jitter_peak *ret, const struct jitter *jitter, int64_t low_ns,
	int64_t high_ns, const struct sources *sources, struct error *err);

void jitter_table_clear(struct jitter_table *table);

/* All CPUs together: sums; the coarsest threshold, and the greatest cost. .cpu is that of the only
 * one, or -1. */
struct jitter_cpu jitter_all_cpus(const struct jitter *jitter);

/* What keeps a source from interrupting a CPU: a command, an option of the kernel, or nothing. */
enum remedy_kind {
	REMEDY_NONE,
	REMEDY_POLICY,  /* the policy of emp-setup stops the unit */
	REMEDY_UNIT,    /* to stop by hand */
	REMEDY_ISOLATE, /* processes are kept off the CPU */
	REMEDY_IRQ,     /* interrupts go to another CPU */
	REMEDY_SETTING, /* of the kernel, by emp-setup */
	REMEDY_BOOT,    /* an option at boot */
	REMEDY_PROGRAM, /* in the measured program itself */
	N_REMEDY_KINDS
};

extern const char *const remedy_kind_names[N_REMEDY_KINDS];

struct remedy {
	enum remedy_kind kind;
	/* a command, a boot option, or a sentence (REMEDY_NONE, REMEDY_PROGRAM); names of units
	 * have 255 bytes at most */
	char how[512];
};

/* cpu: that was interrupted; -1: several. never: why the policy says that the unit must not be
 * stopped; NULL: it does not. listed: the policy stops the unit. */
struct remedy jitter_remedy(const struct source *source, int cpu, const char *never, bool listed);

struct policy;

/* A run of the book with its tables. */
struct jitter_run {
	struct run run;
	struct jitter jitter;
	struct sources sources;
	struct jitter_cpu all;         /* CPUs together */
	struct jitter_table frequency; /* Table I: single sources */
	struct jitter_table time;      /* combinations are sources */
	struct policy *policy;         /* of this machine; NULL: none, or the run is from another */
	json_t *context;               /* document.h */
};

/* A run against its baseline: which sources are new, gone, grown or shrunk. */
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
	/* in that: chance is shared out by the time in both runs, so that many short ones do not
	 * hide a long one */
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

/* A jitter run on the screen, as the documents of emp-documents(5), and in pictures. */

struct jitter_view {
	bool json;
	bool all; /* every source, however little it took */
	/* what emp-calibrate prints: the largest sources, and where the trace is */
	bool summary;
	const char *kept;        /* the file with the trace; NULL: none */
	bool combinations;       /* what several sources took together */
	int64_t low_ns, high_ns; /* only interruptions of these lengths; 0, 0: all */
	int64_t baseline;        /* what differs from this run; 0: none */
	double fail_if_new;      /* percent; below 0: not given */
	const char *output;      /* a picture instead, of the densities, or: */
	bool by_source, timeline;
	bool script; /* the gnuplot file is kept */
};

/* STATUS_NOT_FIT, with a sentence: new sources took more than view->fail_if_new. */
int jitter_show(struct book *book, int64_t run, const struct jitter_view *view, struct error *err);

/* A run and its baseline, with what differs. */
struct jitter_pair {
	const struct jitter_run *run, *baseline; /* baseline NULL: none */
	struct jitter_changes changes;
};

/* The picture. That of the densities prints the bandwidth; without a baseline they are the
 * user-level and the master distribution. */
int jitter_draw(const struct jitter_pair *pair, const struct jitter_view *view, struct error *err);

/* "0.034", "0.21", "4.90", "16". */
const char *jitter_ratio_text(double ratio);
/* "0.21 … 0.35"; without one of the bounds "< 0.35" or "> 4.90". */
const char *jitter_ratio_interval(const struct jitter_change *change);
