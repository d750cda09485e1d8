/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a daemon is periodic: see period.h. The rule: all gaps are equal to their median
 * within one sample or 5 %, whichever is more, and the run neither starts more than a period before the
 * first occurrence nor ends more than one after the last. */
#include "lib/protocol/period.h"

#include "lib/base/cleanup.h"
#include "lib/stats/robust.h"

#include <math.h>

static double slack(double period)
{
	return fmax(1, 0.05 * period);
}

static bool is_periodic(const uint32_t *at, size_t count, size_t n, double period)
{
	for (size_t i = 1; i < count; i++)
		if (fabs((double)(at[i] - at[i - 1]) - period) > slack(period))
			return false;
	return (double)at[0] - period < 1 + slack(period) &&
	       (double)at[count - 1] + period > (double)n - slack(period);
}

static struct period look(const uint32_t *at, size_t count, size_t n)
{
	struct period none = {.occurrences = count};
	_cleanup_(freep) int64_t *gaps = count > 1 ? reallocarray(NULL, count - 1, sizeof(*gaps)) : NULL;
	double period;

	if (!gaps)
		return none;
	for (size_t i = 1; i < count; i++)
		gaps[i - 1] = at[i] - at[i - 1];
	period = median_of(gaps, count - 1);
	if (!is_periodic(at, count, n, period))
		return none;
	return (struct period){.occurrences = count, .samples = period, .firm = count >= 3};
}

/* An execution across the border of two samples counts once: of consecutive samples only the first is kept. */
static size_t first_of_each_row(uint32_t *into, const uint32_t *at, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (i == 0 || at[i] != at[i - 1] + 1)
			into[kept++] = at[i];
	return kept;
}

struct period period_find(const uint32_t *at, size_t count, size_t n)
{
	_cleanup_(freep) uint32_t *firsts = reallocarray(NULL, count + 1, sizeof(*firsts));
	struct period found = look(at, count, n);

	if (found.samples > 0 || !firsts)
		return found;
	return look(firsts, first_of_each_row(firsts, at, count), n);
}
