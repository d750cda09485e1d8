/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing two sets of samples: the times of the clean samples, and the verdict. The arithmetic is in
 * lib/stats/compare.h, the output in lib/report/comparison_report.h. */
#pragma once

#include "lib/protocol/discard.h"
#include "lib/stats/compare.h"

enum comparison_clock { COMPARISON_PT, COMPARISON_ET };

/* The times of the samples that pass both checks; the caller frees the array. -ENOMEM. */
int comparison_times(const struct discarding *discarding, const struct sample *samples, size_t n,
	enum comparison_clock clock, int64_t **ret, size_t *ret_n);

enum comparison_verdict {
	COMPARISON_UNKNOWN, /* too few samples, or no variance */
	COMPARISON_SAME,    /* no difference shown */
	COMPARISON_FASTER,
	COMPARISON_SLOWER,
};

/* Of b against a, by the 95 % interval of the ratio. */
enum comparison_verdict comparison_verdict(const struct comparison *comparison);

struct comparison_limit {
	double percent; /* allowed; below 0: no limit */
	const char *reference, *name;
};

/* 0, or COMPARISON_OVER_LIMIT with a sentence: b is slower than a by more than is allowed, and the 95 %
 * interval of the ratio lies above 1. */
enum { COMPARISON_OVER_LIMIT = 1 };
int comparison_judge(
	const struct comparison *comparison, const struct comparison_limit *limit, struct error *err);
