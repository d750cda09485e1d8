/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing two sets of samples: the times of the samples kept, in pairs if they were taken in
 * turn, and the verdict. The arithmetic is in lib/stats/compare.h, the output in
 * lib/report/comparison_report.h. */
#pragma once

#include "lib/protocol/sample_size.h"
#include "lib/stats/compare.h"

struct comparison_time {
	uint32_t n;       /* number of the sample in its run */
	int64_t start_ns; /* since 1970; 0: unknown */
	int64_t time_ns;
	int64_t end_ns; /* since 1970; 0: unknown */
};

/* Where and by whom samples were taken. The strings are the caller's. */
struct comparison_origin {
	/* the same text: by one call of a tool, which took them in turn if they alternate; NULL:
	 * unknown */
	const char *call;
	const char *machine; /* the digest of its fingerprint; NULL: unknown */
	int cpu;             /* that the program was pinned to; -1: none, or unknown */
};

struct comparison_side {
	struct comparison_time *items; /* in the order of n */
	size_t n;
	enum comparison_clock clock;
	bool duet;                            /* from a run of a duet */
	enum unmeasurable_cause unmeasurable; /* its times mean too little for a verdict */
	const char *cpu_kind;                 /* see struct discarding; NULL: none, or not known */
	int64_t step_ns;                      /* of the clock; 0 or 1: not known */
	/* of the mean of the items, whose times are without the neighbour */
	struct mean_error error;
	/* of a duet: at most this share of the times is what sharing the CPU added; NAN: not
	 * known */
	double shared;
	double wait_ns;  /* mean W of the items, where it is exact; 0: not known */
	bool knows_wait; /* W of each item */
	struct comparison_origin origin;
	struct comparison_time *discarded; /* as items: the samples that are not compared */
	size_t n_discarded;
	size_t n_late; /* of the discarded: only because their end was seen late */
};

/* The cause for a program that was held back by this, as in run.held_back_by (NULL: not known). */
enum unmeasurable_cause comparison_held_back(const char *by);

/* Why the times of these samples, whatever they are compared by, mean too little for a verdict. */
enum unmeasurable_cause comparison_unmeasurable(
	const struct discarding *discarding, const struct sample *samples, size_t n);

/* The samples that have no named cause to be discarded; of ET, those whose end was not seen
 * late. The discarding must outlive the side. */
struct comparison_side comparison_side_make(const struct discarding *discarding,
	const struct sample *samples, size_t n, enum comparison_clock clock);
void comparison_side_clear(struct comparison_side *side);

/* What is compared: a bit for each clock, 1 << COMPARISON_PT and so on. */
enum { COMPARE_DEFAULT, COMPARE_PT, COMPARE_ET, COMPARE_BOTH };

/* Of the default: PT; ET as well where one of the programs was not on exactly one CPU, or ready to
 * run there, for 95 % of ET or more, for example because it waits or has threads; ET where PT is
 * not known. Where W is not known, samples may show that others kept the program from its CPU: in
 * two of them it was on the CPU for that share, so what it does needs no waiting. The sides of a
 * and b are by clock. In a duet on one CPU ET is that of all programs: PT, if one of both is of a
 * duet; both clocks, if both are of duets on several CPUs. PT also where most ends were seen
 * late. */
unsigned comparison_clocks(
	unsigned asked, const struct comparison_side *a, const struct comparison_side *b);

/* Samples of the same number are compared in pairs, if those of a and b were taken in turn: those
 * of each pair started before those of the next, and either one call took them all, or they are of
 * one machine and CPU and no two of them ran at the same time. By the ratio of each pair, if they
 * are of one duet. Otherwise they are from separate runs, and there is a verdict only if it is
 * known how those vary (variation->df > 0). A duet is unmeasurable, and has no interval, where one
 * side does not know what sharing the CPU added. */
int comparison_make(const struct comparison_side *a, const struct comparison_side *b,
	const struct run_variation *variation, struct comparison *ret, struct error *err);

/* False: all zeros, nothing was compared. */
static inline bool comparison_is_made(const struct comparison *c)
{
	return c->a.n > 0 || c->unmeasurable;
}

/* What is known of the work of two runs, by their program_digest and output_digest. What a program
 * wrote weighs more than what it consists of: a program may write something else each time. */
enum compared_work comparison_work(const struct run *a, const struct run *b);

/* "their outputs differ", "the output of 'b' varies", "--check failed for 'b'", if the verdict is
 * COMPARISON_DIFFERENT_WORK. NULL: it is not. The caller frees it. */
char *comparison_different_work(
	const struct comparison *c, const char *reference, const char *name);

/* Of b against a: by what is known of their work, by what makes the times meaningless, then by the
 * interval of the ratio and the rules. */
enum comparison_verdict comparison_verdict(const struct comparison *comparison);

/* The one of two comparisons that the last line and the exit status are about: that which fails, if
 * the other does not ("cannot tell" with strict, beside "slower" without a gate); else that whose
 * verdict weighs more; of one clock and verdict, that whose ratio is farther from 1. `a` if none of
 * this decides. If one of them is NULL or not made, it is the other one; NULL: both are. */
const struct comparison *comparison_worse(const struct comparison *a, const struct comparison *b);

/* With how many more samples of each the verdict will not be "cannot tell" in four cases of five,
 * by what these say of the ratio and of the noise, and how uncertain that is. INFINITY: more of
 * them do not help; NAN: it is not known how they vary. tests/bench/comparisons.c shows how often
 * they tell. */
double comparison_samples_missing(const struct comparison *comparison);

/* The exit status that the verdict has by the comparison's rules (comparison_verdict_status), with
 * a sentence where it is not STATUS_DONE: b, of that name, against a, the reference. */
enum status comparison_judge(const struct comparison *comparison, const char *reference,
	const char *name, struct error *err);
