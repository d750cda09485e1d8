/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on a series: see trend_verdict.h. */
#include "lib/trend/trend_verdict.h"

#include <math.h>

enum { LAST = 5 };
static const double EQUAL_WITHIN = 0.02; /* if no change is allowed or forbidden */

const char *const trend_verdict_names[N_TREND_VERDICTS] = {
	[TREND_CANNOT_TELL] = "cannot tell",
	[TREND_EQUAL] = "equal",
	[TREND_FASTER] = "faster",
	[TREND_SLOWER] = "slower",
};

static size_t level_of(const struct levels *levels, size_t value)
{
	size_t k = levels->n;

	while (k > 1 && levels->items[k - 1].first > value)
		k--;
	return k - 1;
}

static enum trend_verdict verdict_of(const struct trend_judgement *j, bool gate)
{
	double low = expm1(j->change.by - j->change.half), high = expm1(j->change.by + j->change.half);
	bool within = low >= -j->allowed && high <= j->allowed;

	if (!isfinite(j->change.half))
		return TREND_CANNOT_TELL;
	if (j->shown && high < 0)
		return TREND_FASTER;
	if (j->shown && low > 0 && (!gate || expm1(j->change.by) >= j->allowed))
		return TREND_SLOWER;
	return within ? TREND_EQUAL : TREND_CANNOT_TELL;
}

struct trend_judgement trend_judge(const struct levels *levels, size_t reference, double fail_if_slower)
{
	struct trend_judgement j = {
		.change = {NAN, INFINITY}, .detectable = INFINITY, .allowed = EQUAL_WITHIN};
	size_t n = levels->n_values;

	if (fail_if_slower >= 0)
		j.allowed = fail_if_slower;
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
	j.verdict = verdict_of(&j, fail_if_slower >= 0);
	return j;
}
