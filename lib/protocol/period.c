/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a daemon is periodic: see period.h. The papers' rule counts samples: all gaps are equal
 * to their median within one sample or 5 %, whichever is more, and the run neither starts more than
 * a period before the first occurrence nor ends more than one after the last.
 *
 * On a machine whose speed changes, samples are no measure of time. In time, an occurrence is known
 * to be between the start and the end of its sample: each gap has a least and a greatest length,
 * and one period must fit all of them within 5 %. An occurrence between two samples is not seen; as
 * many may be missing as the share of that time explains.
 *
 * Few occurrences meet the rule by chance: two do in a third of all cases. How often is counted on
 * occurrences drawn at random, always the same ones. */
#include "lib/protocol/period.h"

#include "lib/stats/summary.h"

#include <gsl/gsl_cdf.h>

/* More occurrences are missing than the time between samples explains, if so many are this
 * improbable. */
static const double IMPROBABLE = 0.05;

/* A run: of n samples, and when they were; samples NULL: that does not count. */
struct timeline {
	size_t n;
	const struct sample_span *samples;
	double unseen; /* the share of the time that is between samples */
};

/* The papers' rule. 0: no period. */
static double period_in_numbers(const uint32_t *at, size_t count, size_t n)
{
	_cleanup_(freep) int64_t *gaps = xcalloc(count, sizeof(*gaps));
	double period, slack;

	if (count < 2)
		return 0;
	for (size_t i = 1; i < count; i++)
		gaps[i - 1] = at[i] - at[i - 1];
	period = median_of(gaps, count - 1);
	slack = fmax(1, PERIOD_SLACK * period);
	for (size_t i = 0; i + 1 < count; i++)
		if (fabs((double)gaps[i] - period) > slack)
			return 0;
	if ((double)at[0] - period >= 1 + slack ||
		(double)at[count - 1] + period <= (double)n - slack)
		return 0;
	return period;
}

/* The time between two samples, from the end of the first, and from its start to the end of the
 * second. */
static double least_gap(const struct sample_span *a, const struct sample_span *b)
{
	return (double)(b->from_ns - a->to_ns);
}

static double greatest_gap(const struct sample_span *a, const struct sample_span *b)
{
	return (double)(b->to_ns - a->from_ns);
}

/* The period that fits the gaps between all occurrences; if none does, because the daemon is now
 * early and now late, their mean. turns[i]: how many periods the i-th occurrence is after the
 * first. */
static double fitting_period(
	const uint32_t *at, size_t count, const struct sample_span *samples, const double *turns)
{
	enum { MANY = 1000 };
	const struct sample_span *first = &samples[at[0]], *last = &samples[at[count - 1]];
	double low = 0, high = INFINITY;

	for (size_t i = 0; i < count && i < MANY; i++) /* those far apart say most */
		for (size_t j = count > i + 1 + MANY ? count - MANY : i + 1; j < count; j++) {
			const struct sample_span *a = &samples[at[i]], *b = &samples[at[j]];

			low = fmax(low, least_gap(a, b) / (turns[j] - turns[i]));
			high = fmin(high, greatest_gap(a, b) / (turns[j] - turns[i]));
		}
	if (low <= high)
		return (low + high) / 2;
	return (least_gap(first, last) + greatest_gap(first, last)) / 2 / turns[count - 1];
}

/* In ns; 0: no period. */
static double period_in_time(const uint32_t *at, size_t count, const struct timeline *t)
{
	_cleanup_(freep) int64_t *gaps = xcalloc(count, sizeof(*gaps));
	_cleanup_(freep) double *turns = xcalloc(count, sizeof(*turns));
	double usual, low = 0, high = INFINITY, period, missing = 0;

	if (count < 2)
		return 0;
	for (size_t i = 1; i < count; i++) {
		const struct sample_span *a = &t->samples[at[i - 1]], *b = &t->samples[at[i]];

		gaps[i - 1] = (b->from_ns - a->from_ns + b->to_ns - a->to_ns) / 2;
	}
	usual = median_of(gaps, count - 1);
	for (size_t i = 1; i < count; i++) {
		const struct sample_span *a = &t->samples[at[i - 1]], *b = &t->samples[at[i]];
		double times = fmax(1, round((double)gaps[i - 1] / usual));

		low = fmax(low, least_gap(a, b) / times / (1 + PERIOD_SLACK));
		high = fmin(high, greatest_gap(a, b) / times / (1 - PERIOD_SLACK));
		missing += times - 1;
		turns[i] = turns[i - 1] + times;
	}
	if (low > high)
		return 0;
	period = fitting_period(at, count, t->samples, turns);
	missing += floor(fmax(0, least_gap(&t->samples[0], &t->samples[at[0]])) / period /
			 (1 + PERIOD_SLACK));
	missing += floor(fmax(0, least_gap(&t->samples[at[count - 1]], &t->samples[t->n - 1])) /
			 period / (1 + PERIOD_SLACK));
	missing = fmin(missing, INT32_MAX);
	if (missing > 0 && gsl_cdf_binomial_Q((unsigned)missing - 1, t->unseen,
				   (unsigned)missing + (unsigned)count) < IMPROBABLE)
		return 0;
	return period;
}

static double period_among(const uint32_t *at, size_t count, const struct timeline *t)
{
	return t->samples ? period_in_time(at, count, t) : period_in_numbers(at, count, t->n);
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Of more than MANY occurrences none of the draws is periodic. */
static double period_by_chance(size_t count, const struct timeline *t)
{
	enum { DRAWS = 2000, MANY = 30 };
	uint64_t random = 1;
	uint32_t at[MANY], first = t->samples ? 0 : 1;
	int periodic = 0;

	count = count < MANY ? count : MANY;
	for (int i = 0; i < DRAWS; i++) {
		for (size_t k = 0; k < count; k++)
			at[k] = (uint32_t)(random_next(&random) % t->n) + first;
		qsort(at, count, sizeof(*at), ascending);
		periodic += period_among(at, count, t) > 0;
	}
	return (double)periodic / DRAWS;
}

struct period period_find(
	const uint32_t *at, size_t count, const struct sample_span *samples, size_t n)
{
	_cleanup_(freep) uint32_t *firsts = xcalloc(count, sizeof(*firsts));
	double seen = 0, all = samples ? greatest_gap(&samples[0], &samples[n - 1]) : 0, period;
	struct timeline t = {n, samples, 0};
	struct period found = {.occurrences = count};

	for (size_t i = 0; samples && i < n; i++)
		seen += (double)(samples[i].to_ns - samples[i].from_ns);
	if (all > seen)
		t.unseen = 1 - seen / all;
	period = period_among(at, count, &t);
	/* An execution across the border of two samples counts once: if there is no period
	 * otherwise, of consecutive samples only the first is kept. */
	if (!(period > 0)) {
		found.occurrences = 0;
		for (size_t i = 0; i < count; i++)
			if (i == 0 || at[i] != at[i - 1] + 1)
				firsts[found.occurrences++] = at[i];
		period = period_among(firsts, found.occurrences, &t);
	}
	if (!(period > 0))
		return found;
	*(samples ? &found.ns : &found.samples) = period;
	found.chance = period_by_chance(found.occurrences, &t);
	found.firm = found.occurrences >= 3 && found.chance < 0.05;
	return found;
}
