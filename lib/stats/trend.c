/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trend, step and slow variation in a series: see trend.h. Analysis of variance between blocks, and the two
 * simplest trends, a line and one change of level (found by the greatest sum of squares between the two sides,
 * Sen & Srivastava 1975). */
#include "lib/stats/trend.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

enum { LEAST_VALUES = 12, LEAST_BLOCK = 4 };

static double clamped(int64_t value, int64_t low, int64_t high)
{
	return (double)((value < low ? low : value > high ? high : value) - low);
}

struct series_view {
	const int64_t *values;
	size_t n;
	int64_t low, high;
	double mean, squares; /* sum of squares about the mean */
};

static double at(const struct series_view *v, size_t i)
{
	return clamped(v->values[i], v->low, v->high) - v->mean;
}

static struct series_view view_of(const int64_t *values, size_t n, int64_t low, int64_t high)
{
	struct series_view v = {.values = values, .n = n, .low = low, .high = high};
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += at(&v, i);
	v.mean = n > 0 ? sum / (double)n : 0;
	for (size_t i = 0; i < n; i++)
		v.squares += at(&v, i) * at(&v, i);
	return v;
}

static double slow_share(const struct series_view *v)
{
	size_t blocks = (size_t)lround(sqrt((double)v->n)), start = 0;
	double between = 0, within, f;

	if (blocks > v->n / LEAST_BLOCK)
		blocks = v->n / LEAST_BLOCK;
	for (size_t b = 0; b < blocks; b++) {
		size_t end = (b + 1) * v->n / blocks;
		double sum = 0;

		for (size_t i = start; i < end; i++)
			sum += at(v, i);
		between += sum * sum / (double)(end - start);
		start = end;
	}
	within = (v->squares - between) / (double)(v->n - blocks);
	if (within <= 0)
		return 1;
	f = between / (double)(blocks - 1) / within;
	if (gsl_cdf_fdist_Q(f, (double)(blocks - 1), (double)(v->n - blocks)) > 0.001)
		return 0;
	return 1 - within / (v->squares / (double)(v->n - 1));
}

static double line_share(const struct series_view *v)
{
	double middle = ((double)v->n - 1) / 2, sum = 0, spread = 0;

	for (size_t i = 0; i < v->n; i++) {
		sum += ((double)i - middle) * at(v, i);
		spread += ((double)i - middle) * ((double)i - middle);
	}
	return sum * sum / spread / v->squares;
}

/* The best change leaves at least three values on either side. */
static void find_step(const struct series_view *v, struct trend *trend)
{
	double sum = 0, best = -1, n = (double)v->n;

	for (size_t i = 1; i + 3 <= v->n; i++) {
		double between;

		sum += at(v, i - 1); /* of the i values before the change; those after it sum to -sum */
		between = sum * sum * (1 / (double)i + 1 / (n - (double)i));
		if (i < 3 || between <= best)
			continue;
		best = between;
		trend->change = i;
		trend->before = (double)v->low + v->mean + sum / (double)i;
		trend->after = (double)v->low + v->mean - sum / (n - (double)i);
	}
	trend->step = best / v->squares;
}

struct trend trend_of(const int64_t *values, size_t n, int64_t low, int64_t high)
{
	struct series_view v = view_of(values, n, low, high);
	struct trend trend = {};

	if (n < LEAST_VALUES || v.squares <= 0)
		return trend;
	trend.slow = slow_share(&v);
	trend.line = line_share(&v);
	find_step(&v, &trend);
	return trend;
}

/* The index of the first that is not below `value`. */
static size_t first_at_least(const int64_t *ascending, size_t n, int64_t value)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ascending[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* 1 - RVN / 2, where RVN is von Neumann's ratio (1941) of the ranks (Bartels 1982). Tied values share their mean rank. */
double neighbours_alike(const int64_t *values, const int64_t *ascending, size_t n)
{
	double steps = 0, squares = 0, before = 0;

	for (size_t i = 0; i < n; i++) {
		size_t below = first_at_least(ascending, n, values[i]);
		size_t above = values[i] < INT64_MAX ? first_at_least(ascending, n, values[i] + 1) : n;
		double rank = (double)(below + above) / 2 - (double)n / 2;

		steps += i > 0 ? (rank - before) * (rank - before) : 0;
		squares += rank * rank;
		before = rank;
	}
	return squares > 0 ? 1 - steps / squares / 2 : 0;
}
