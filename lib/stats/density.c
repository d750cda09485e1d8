/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Densities by Parzen windows: see density.h. */
#include "lib/stats/density.h"

#include <math.h>

enum { CELLS = 512, STAGES = 7 };

/* The values on a grid as the coefficients of a cosine series. */
struct series {
	double squares[CELLS]; /* of the k-th coefficient; that of 0 is not used */
	double range, n;
};

static void make_series(
	struct series *series, const struct density_point *points, size_t n, double low, double range)
{
	double cells[CELLS] = {};

	*series = (struct series){.range = range};
	for (size_t i = 0; i < n; i++) {
		cells[(size_t)((points[i].at - low) / range * CELLS)] += points[i].weight;
		series->n += points[i].weight;
	}
	for (size_t k = 1; k < CELLS; k++) {
		double sum = 0;

		for (size_t j = 0; j < CELLS; j++)
			if (cells[j] > 0)
				sum += cells[j] * cos(M_PI * (double)k * ((double)j + 0.5) / (double)CELLS);
		series->squares[k] = sum / series->n * (sum / series->n);
	}
}

/* The squared norm of the density's derivative number s, after smoothing by t. */
static double norm(const struct series *series, int s, double t)
{
	double sum = 0;

	for (size_t k = 1; k < CELLS; k++) {
		double k2 = (double)(k * k);

		sum += pow(k2, s) * series->squares[k] * exp(-k2 * M_PI * M_PI * t);
	}
	return 2 * pow(M_PI, 2 * s) * sum;
}

/* t less what the norms of all stages say that t should be; the root is the bandwidth (Botev et al., equation 28). */
static double excess(const struct series *series, double t)
{
	double f = norm(series, STAGES, t);

	for (int s = STAGES - 1; s >= 2; s--) {
		double odd = 1, constant = (1 + pow(0.5, s + 0.5)) / 3;

		for (int i = 3; i < 2 * s; i += 2)
			odd *= i;
		f = norm(series, s,
			pow(2 * constant * odd / sqrt(2 * M_PI) / series->n / f, 2 / (3.0 + 2 * s)));
	}
	return t - pow(2 * series->n * sqrt(M_PI) * f, -0.4);
}

/* The least root; that of a normal density if there is none. */
static double root(const struct series *series)
{
	double low = 1e-9, high = low;

	while (high < 0.1 && !(excess(series, high) > 0)) {
		low = high;
		high *= 1.5;
	}
	if (high >= 0.1)
		return 0.28 * pow(series->n, -0.4);
	while (high > low * 1.001) {
		double middle = sqrt(low * high);

		if (excess(series, middle) > 0)
			high = middle;
		else
			low = middle;
	}
	return high;
}

double density_bandwidth(const struct density_point *points, size_t n)
{
	double low = INFINITY, high = -INFINITY, widest = 0, values = 0, margin;
	struct series series;

	for (size_t i = 0; i < n; i++) {
		low = fmin(low, points[i].at);
		high = fmax(high, points[i].at);
		widest = fmax(widest, 1.5 * points[i].width);
		values += points[i].weight;
	}
	if (values < 2 || high <= low)
		return widest;
	margin = (high - low) / 10;
	make_series(&series, points, n, low - margin, high - low + 2 * margin);
	return fmax(sqrt(root(&series)) * series.range, widest);
}

double density_at(const struct density_point *points, size_t n, double bandwidth, double x)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double h2 = bandwidth * bandwidth + points[i].width * points[i].width / 12;
		double off = x - points[i].at;

		sum += points[i].weight * exp(-off * off / (2 * h2)) / sqrt(2 * M_PI * h2);
	}
	return sum;
}
