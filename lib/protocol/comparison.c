/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing two sets of samples: see comparison.h. */
#include "lib/protocol/comparison.h"

#include <errno.h>
#include <math.h>

int comparison_times(const struct discarding *d, const struct sample *samples, size_t n,
	enum comparison_clock which, int64_t **ret, size_t *ret_n)
{
	const struct clock_discarding *clock = which == COMPARISON_PT ? &d->pt : &d->et;
	int64_t *times = calloc(n ?: 1, sizeof(*times));
	size_t kept = 0;

	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (clock->kept[i])
			times[kept++] = which == COMPARISON_PT ? samples[i].pt_ns : samples[i].et_ns;
	*ret = times;
	*ret_n = kept;
	return 0;
}

enum comparison_verdict comparison_verdict(const struct comparison *c)
{
	if (isnan(c->ratio_low))
		return COMPARISON_UNKNOWN;
	if (c->ratio_low > 1)
		return COMPARISON_SLOWER;
	return c->ratio_high < 1 ? COMPARISON_FASTER : COMPARISON_SAME;
}

int comparison_judge(const struct comparison *c, const struct comparison_limit *limit, struct error *err)
{
	if (limit->percent < 0 || !(c->ratio > 1 + limit->percent / 100) || !(c->ratio_low > 1))
		return 0;
	return error_say(err, COMPARISON_OVER_LIMIT,
		"'%s' is slower than '%s' by %.2f %% (95 %% confidence: %.2f to %.2f %%), more than %g %%",
		limit->name, limit->reference, 100 * (c->ratio - 1), 100 * (c->ratio_low - 1),
		100 * (c->ratio_high - 1), limit->percent);
}
