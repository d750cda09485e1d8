/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two sets of samples beside each other: what is left of a run's times to compare, and a comparison as a row
 * for people, as JSON, and as a verdict. The arithmetic is in lib/stats/compare.h. */
#pragma once

#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/protocol/discard.h"
#include "lib/stats/compare.h"

enum comparison_clock { COMPARISON_PT, COMPARISON_ET };

/* The times of the samples that both checks leave; the caller frees the array. -ENOMEM. */
int comparison_times(const struct discarding *discarding, const struct sample *samples, size_t n,
	enum comparison_clock clock, int64_t **ret, size_t *ret_n);

/* "slower", "faster", "no difference shown", "cannot be told": b beside a, by the 95 % interval of the
 * ratio. */
const char *comparison_verdict(const struct comparison *comparison);

int comparison_table_new(struct table **ret, struct error *err);
int comparison_table_print(struct table *table, struct error *err); /* with what its columns are */
void comparison_row(struct table *table, const char *name, const struct comparison *comparison);

/* NULL: no memory. */
json_t *comparison_as_json(const char *reference, const char *name, const struct comparison *comparison);

struct comparison_limit {
	double percent; /* allowed; below 0: no limit */
	const char *reference, *name;
};

/* 0, or COMPARISON_SLOWER with a sentence: b is slower than a by more than is allowed, and not by chance. */
enum { COMPARISON_SLOWER = 1 };
int comparison_judge(
	const struct comparison *comparison, const struct comparison_limit *limit, struct error *err);
