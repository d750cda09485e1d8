/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on a series: see trend_verdict.h. */
#include "lib/trend/trend_verdict.h"

#include <math.h>

enum { LAST = 5 };

static size_t level_of(const struct levels *levels, size_t value)
{
	size_t k = levels->n;

	while (k > 1 && levels->items[k - 1].first > value)
		k--;
	return k - 1;
}

/* A change that is none of steps, or of a drift, may be chance, whatever its interval. */
static enum comparison_verdict trend_verdict_of(
	const struct trend_judgement *j, const struct comparison_rules *rules)
{
	enum comparison_verdict verdict;

	if (!isfinite(j->change.half))
		return COMPARISON_CANNOT_TELL;
	verdict = comparison_rules_apply(rules, exp(j->change.by), exp(j->change.by - j->change.half),
		exp(j->change.by + j->change.half));
	return j->shown || verdict == COMPARISON_EQUAL ? verdict : COMPARISON_CANNOT_TELL;
}

struct trend_judgement trend_judge(
	const struct levels *levels, size_t reference, const struct comparison_rules *rules)
{
	struct trend_judgement j = {
		.verdict = COMPARISON_CANNOT_TELL, .change = {NAN, INFINITY}, .detectable = INFINITY};
	size_t n = levels->n_values;

	if (n < 2 * CHANGE_POINTS_LEAST)
		return j;
	j.shown = levels->drifts || level_of(levels, reference) < levels->n - 1;
	if (j.shown) {
		j.change = levels_between(levels, reference, n - 1);
	} else {
		j.of = levels->items[levels->n - 1].n;
		j.last = j.of / 2 < LAST ? j.of / 2 : LAST;
		j.change = levels_last(levels, j.of, j.last);
		j.detectable = expm1(levels_detectable(levels, j.of, j.last));
	}
	j.verdict = trend_verdict_of(&j, rules);
	return j;
}
