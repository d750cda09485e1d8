/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a daemon is periodic: see period.h. The rule: all gaps are equal to their median
 * within one sample or 5 %, whichever is more, and the run neither starts more than a period before the
 * first occurrence nor ends more than one after the last.
 *
 * Few occurrences meet the rule by chance: two do in a third of all cases. How often is counted on occurrences drawn at
 * random, always the same ones. */
#include "lib/protocol/period.h"

#include "lib/base/cleanup.h"
#include "lib/base/random.h"
#include "lib/stats/robust.h"

#include <math.h>
#include <stdio.h>

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
	return (struct period){.occurrences = count, .samples = period};
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

static struct period look_twice(const uint32_t *at, size_t count, size_t n)
{
	_cleanup_(freep) uint32_t *firsts = reallocarray(NULL, count + 1, sizeof(*firsts));
	struct period found = look(at, count, n);

	if (found.samples > 0 || !firsts)
		return found;
	return look(firsts, first_of_each_row(firsts, at, count), n);
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Of more than MANY occurrences none of the draws is periodic. */
static double chance_of(size_t count, size_t n)
{
	enum { DRAWS = 2000, MANY = 30 };
	uint64_t random = 1;
	uint32_t at[MANY];
	int periodic = 0;

	count = count < MANY ? count : MANY;
	for (int i = 0; i < DRAWS; i++) {
		for (size_t k = 0; k < count; k++)
			at[k] = (uint32_t)(random_next(&random) % n) + 1;
		qsort(at, count, sizeof(*at), ascending);
		periodic += look(at, count, n).samples > 0;
	}
	return (double)periodic / DRAWS;
}

struct period period_find(const uint32_t *at, size_t count, size_t n)
{
	struct period found = look_twice(at, count, n);

	if (found.samples == 0)
		return found;
	found.chance = chance_of(found.occurrences, n);
	found.firm = found.occurrences >= 3 && found.chance < 0.05;
	return found;
}

char *period_why(char buffer[PERIOD_WHY_SIZE], const struct period *p)
{
	char chance[32] = "under 0.1 %";

	if (p->chance >= 0.001)
		snprintf(chance, sizeof(chance), "%.2g %%", 100 * p->chance);
	snprintf(buffer, PERIOD_WHY_SIZE, "%s (%zu times; by chance in %s)", p->firm ? "firm" : "tentative",
		p->occurrences, chance);
	return buffer;
}
