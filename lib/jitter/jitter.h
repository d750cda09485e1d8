/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a jitter run records: for each CPU how well it was observed, histograms, a row for each
 * source, and the longest interruptions with their parts. All lengths are ns.
 *
 * A gap is the time between two readings of the counter, if it is over the threshold. An interval
 * is the time in which a source had the CPU, from one event of the trace to another. In the time
 * domain, the intervals of one gap are one interruption, whose source may be a combination; in the
 * frequency domain each interval is counted singly, by its net time: that of an interrupt excludes
 * those nested in it. */
#pragma once

#include "lib/document/document.h"

enum jitter_level {
	JITTER_USER,      /* gaps */
	JITTER_MASTER,    /* interruptions, by what the trace saw of them */
	JITTER_TIME,      /* the same for each source; combinations are sources */
	JITTER_FREQUENCY, /* intervals of each single source */
	N_JITTER_LEVELS
};

/* explained + periodic + outside_kernel (if known) + unexplained are all gaps, by number and by
 * time. */
struct jitter_cpu {
	int cpu;
	int64_t rounds;
	int64_t wall_ns;    /* from the start of the first round to the end of the last */
	int64_t sampled_ns; /* of that, inside a round's loop */
	int64_t smallest_gap_ns, threshold_ns;
	int64_t gaps, gaps_ns;
	int64_t explained, explained_ns;
	int64_t chance, chance_ns; /* what a trace shifted at random would explain */
	int64_t periodic, periodic_ns;
	/* of the others: the kernel did not run; -1: not known where it does */
	int64_t outside_kernel, outside_kernel_ns;
	int64_t unexplained, unexplained_ns;
	int64_t steal_ns;      /* that the hypervisor reports, in ticks of 10 ms; -1: not known */
	int64_t smis;          /* interrupts of the firmware; -1: not known */
	int64_t events;        /* of the trace */
	int64_t lost;          /* events that the kernel's buffer did not keep */
	int64_t broken;        /* where sched_switch leaves another task than it last switched to */
	int64_t in_no_gap;     /* intervals of the trace that lie in no gap */
	int64_t event_cost_ns; /* that recording one event takes; 0: not known */
};

/* Gaps without an event that occur at one period. */
struct jitter_period {
	int cpu;
	uint32_t n; /* counts from 1 */
	int64_t period_ns;
	int64_t count, total_ns;
	bool outside_kernel; /* the kernel did not run in them; else it did, or that is not known */
};

/* A row of Table I. */
struct jitter_source {
	int cpu;
	enum jitter_level level; /* JITTER_TIME or JITTER_FREQUENCY */
	uint32_t source;         /* struct source's id */
	int64_t count, min_ns, max_ns, total_ns;
	double squares_ns2; /* the sum of the squares of the lengths */
	/* How its time varies from round to round, which shows whether two runs differ by more than
	 * chance. */
	int64_t rounds;           /* in which it occurs; 0: not known */
	double round_squares_ns2; /* the sum of the squares of its times in each round */
	/* the sum of the squares of the differences from its time in a round to that in the next */
	double round_steps_ns2;
	int64_t period_ns; /* from one to the next; 0: none found */
};

/* low_ns <= length < high_ns. The edges are the same on every level, CPU and run; only buckets that
 * hold something are kept. */
struct jitter_bucket {
	int cpu;
	enum jitter_level level;
	uint32_t source; /* 0 on the levels JITTER_USER and JITTER_MASTER, which have all */
	int64_t low_ns, high_ns;
	int64_t count, total_ns;
};

/* How far gaps of this length can be attributed. */
struct jitter_match {
	int cpu;
	int64_t low_ns, high_ns;
	int64_t gaps, matched; /* those with an event in them */
	int64_t chance;        /* the same after a random shift of the trace */
};

/* One of the longest. */
struct interruption {
	int cpu;
	int64_t start_ns; /* since 1970 */
	int64_t length_ns;
	uint32_t source; /* in the time domain; 0: no event explains it */
};

/* An interval of it; parts that are nested lie inside others. */
struct interruption_part {
	int cpu;
	int64_t start_ns; /* of its interruption */
	uint32_t n;       /* counts from 1 */
	int64_t offset_ns, length_ns, net_ns;
	uint32_t source;
};

/* A combination is made of others, in this order. */
struct combination_part {
	uint32_t combination, n, source; /* n counts from 1 */
};

struct jitter {
	struct jitter_cpu *cpus; /* by CPU */
	size_t n_cpus;
	struct jitter_period *periods; /* by CPU and n */
	size_t n_periods;
	struct jitter_source *sources; /* grouped by level and CPU; by id */
	size_t n_sources;
	struct jitter_bucket *buckets; /* grouped by level, CPU and source; by length */
	size_t n_buckets;
	struct jitter_match *matches; /* by CPU and length */
	size_t n_matches;
	struct interruption *longest; /* the longest first */
	size_t n_longest;
	struct interruption_part *parts; /* by CPU, start of the interruption, and n */
	size_t n_parts;
	struct combination_part *combinations; /* of the sources above, by combination and n */
	size_t n_combinations;
};

extern const struct field_table jitter_cpu_table, jitter_source_table, jitter_bucket_table;

void jitter_clear(struct jitter *jitter);

/* In the lab book. Names of sources are those of book_source() and book_sources(). */

extern const struct document_feature jitter_feature;

/* All of the run so far, in place of what was stored for it before, in one transaction.
 * `combinations` are added; a combination that is stored already keeps its parts. */
int book_put_jitter(struct book *book, int64_t run, const struct jitter *jitter, struct error *err);
/* -ENOENT, with a sentence, if the run has none; jitter_clear() frees it. */
int book_get_jitter(struct book *book, int64_t run, struct jitter *ret, struct error *err);
