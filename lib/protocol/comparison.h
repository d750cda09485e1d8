/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing two sets of samples: the times of the samples kept, in pairs if they were taken in turn, and the verdict.
 * The arithmetic is in lib/stats/compare.h, the output in lib/report/results.h. */
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
	const char *call;    /* equal: by one call of a tool, which took them in turn if they
				alternate; NULL: unknown */
	const char *machine; /* the digest of its fingerprint; NULL: unknown */
	int cpu;             /* that the program was pinned to; -1: none, or unknown */
};

struct comparison_side {
	struct comparison_time *items; /* in the order of n */
	size_t n;
	enum comparison_clock clock;
	bool duet;         /* from a run of a duet */
	bool unmeasurable; /* control groups held the program back for too long (HELD_TOO_LONG) */
	int64_t step_ns; /* of the clock; 0 or 1: not known */
	struct comparison_origin origin;
};

/* The samples that have no named cause to be discarded; of ET, those whose end was not seen
 * late. The discarding must outlive the side. */
struct comparison_side comparison_side_make(const struct discarding *discarding, const struct sample *samples,
	size_t n, enum comparison_clock clock);
void comparison_side_clear(struct comparison_side *side);

/* What is compared: a bit for each clock, 1 << COMPARISON_PT and so on. */
enum { COMPARE_DEFAULT, COMPARE_PT, COMPARE_ET, COMPARE_BOTH };

/* Of the default: PT; ET as well where one of the programs was not on exactly one CPU for 95 % of
 * ET or more, for example because it waits or has threads; ET where PT is not known. The sides of a
 * and b are by clock. In a duet ET is that of all programs: PT. PT also where most ends were seen
 * late. */
unsigned comparison_clocks(unsigned asked, const struct comparison_side *a, const struct comparison_side *b);

/* Samples of the same number are compared in pairs, if those of a and b were taken in turn: those
 * of each pair started before those of the next, and either one call took them all, or they are of
 * one machine and CPU and no two of them ran at the same time. By the ratio of each pair, if they
 * are of one duet. Otherwise they are from separate runs, and there is a verdict only if it is
 * known how those vary (variation->df > 0). */
int comparison_make(const struct comparison_side *a, const struct comparison_side *b,
	const struct run_variation *variation, struct comparison *ret, struct error *err);

enum comparison_verdict {
	COMPARISON_UNKNOWN, /* too few samples, or separate runs that vary by an unknown amount; or unmeasurable */
	COMPARISON_SAME, /* no difference shown */
	COMPARISON_FASTER,
	COMPARISON_SLOWER,
};

/* Of b against a, by the interval of the ratio. */
enum comparison_verdict comparison_verdict(const struct comparison *comparison);

/* 0, or COMPARISON_OVER_LIMIT with a sentence: unmeasurable; or b, of that name, is slower than a,
 * the reference, by more percent than are allowed (below 0: no limit), and the interval of the
 * ratio lies above 1. -ENODATA: there is a limit, and no verdict because it is not known how
 * separate runs vary. */
enum { COMPARISON_OVER_LIMIT = 1 };
int comparison_judge(const struct comparison *comparison, double percent, const char *reference,
	const char *name, struct error *err);
