/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The means of samples taken in turn: see pairs.h. */
#include "lib/stats/pairs.h"

#include <math.h>

enum {
	LEAST_SLOPE = 6, /* pairs; below, a degree of freedom costs more than the drift */
	LEAST_INTERPOLATED = 5,
	LEAST_OF_EACH = 2, /* pairs that either program began */
};

static double lag_of(const struct sample_pair *p)
{
	return p->b_at - p->a_at;
}

/* `lost`: degrees of freedom that something else than the means took. */
static struct pair_means means_of_differences(
	const struct sample_pair *pairs, size_t n, double lost)
{
	struct pair_means m = {.df = (double)n - 1 - lost};
	double count = (double)n, divisor = m.df * count;

	for (size_t i = 0; i < n; i++) {
		m.a += pairs[i].a / count;
		m.b += pairs[i].b / count;
	}
	for (size_t i = 0; i < n; i++) {
		double of_a = pairs[i].a - m.a, of_b = pairs[i].b - m.b;

		m.variance_a += of_a * of_a / divisor;
		m.variance_b += of_b * of_b / divisor;
		m.covariance += of_a * of_b / divisor;
	}
	return m;
}

/* The line of the differences over the lags, by least squares: both of a pair are moved to the
 * middle between them. */
static struct pair_means means_by_slope(const struct sample_pair *pairs, size_t n)
{
	_cleanup_(freep) struct sample_pair *moved = xcalloc(n, sizeof(*moved));
	double lag = 0, difference = 0, squares = 0, products = 0, spread;
	struct pair_means m;

	for (size_t i = 0; i < n; i++) {
		lag += lag_of(&pairs[i]) / (double)n;
		difference += (pairs[i].b - pairs[i].a) / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		double off = lag_of(&pairs[i]) - lag;

		squares += off * off;
		products += off * (pairs[i].b - pairs[i].a - difference);
	}
	for (size_t i = 0; i < n; i++) {
		double half = products / squares * lag_of(&pairs[i]) / 2;

		moved[i] = (struct sample_pair){pairs[i].a + half, pairs[i].b - half};
	}
	m = means_of_differences(moved, n, 1);
	/* the error of the slope, where the lags do not cancel out */
	spread = (m.variance_a + m.variance_b - 2 * m.covariance) * (double)n * lag * lag / squares;
	m.variance_a += spread / 2;
	m.variance_b += spread / 2;
	return m;
}

/* One of the two (a_first: a) was the first of all pairs: its times are interpolated between its
 * sample and its next one.
 * Neighbouring differences share a sample, which the variance within them does not show: that is
 * added, by the differences of successive samples. */
static struct pair_means means_by_interpolation(
	const struct sample_pair *pairs, size_t n, bool a_first)
{
	_cleanup_(freep) struct sample_pair *at_once = xcalloc(n, sizeof(*at_once));
	double shared = 0, count = (double)n - 1;
	struct pair_means m;

	for (size_t i = 0; i + 1 < n; i++) {
		const struct sample_pair *p = &pairs[i], *next = p + 1;
		double before = a_first ? p->a : p->b, after = a_first ? next->a : next->b;
		double since = a_first ? next->a_at - p->a_at : next->b_at - p->b_at;
		double weight = fmin(1, fabs(lag_of(p)) / since);
		double value = before + weight * (after - before);

		shared += 2 * weight * (1 - weight) * (after - before) * (after - before) / 2 /
			  count;
		at_once[i] = (struct sample_pair){a_first ? value : p->a, a_first ? p->b : value};
	}
	m = means_of_differences(at_once, n - 1, 0);
	*(a_first ? &m.variance_a : &m.variance_b) += shared / count;
	return m;
}

struct pair_means pair_means_of(const struct sample_pair *pairs, size_t n)
{
	size_t a_first = 0, b_first = 0;

	for (size_t i = 0; i < n; i++) {
		a_first += pairs[i].a_at < pairs[i].b_at;
		b_first += pairs[i].a_at > pairs[i].b_at;
	}
	if (n >= LEAST_SLOPE && a_first >= LEAST_OF_EACH && b_first >= LEAST_OF_EACH)
		return means_by_slope(pairs, n);
	if (n >= LEAST_INTERPOLATED && (a_first == n || b_first == n))
		return means_by_interpolation(pairs, n, a_first == n);
	return means_of_differences(pairs, n, 0);
}

double pairs_freedom(size_t n)
{
	return (double)n - (n >= LEAST_SLOPE ? 2 : 1);
}
