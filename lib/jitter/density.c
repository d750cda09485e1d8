/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Densities: see density.h. */
#include "lib/jitter/density.h"

#include <math.h>

enum { CELLS = 512, STAGES = 7 };

/* The values on a grid as the coefficients of a cosine series. */
struct cosine_series {
	double squares[CELLS]; /* of the k-th coefficient; that of 0 is not used */
	double range, n;
};

/* The squared norm of the density's derivative number s, after smoothing by t. */
static double derivative_norm(const struct cosine_series *series, int s, double t)
{
	double sum = 0;

	for (size_t k = 1; k < CELLS; k++) {
		double k2 = (double)(k * k);

		sum += pow(k2, s) * series->squares[k] * exp(-k2 * M_PI * M_PI * t);
	}
	return 2 * pow(M_PI, 2 * s) * sum;
}

/* The difference between t and the value that the norms of all stages give for it; the bandwidth is
 * its root (Botev et al., equation 28). */
static double bandwidth_excess(const struct cosine_series *series, double t)
{
	double f = derivative_norm(series, STAGES, t);

	for (int s = STAGES - 1; s >= 2; s--) {
		double odd = 1, constant = (1 + pow(0.5, s + 0.5)) / 3;

		for (int i = 3; i < 2 * s; i += 2)
			odd *= i;
		f = derivative_norm(series, s,
			pow(2 * constant * odd / sqrt(2 * M_PI) / series->n / f,
				2 / (3.0 + 2 * s)));
	}
	return t - pow(2 * series->n * sqrt(M_PI) * f, -0.4);
}

/* A cosine series of the cells: its coefficients are those of a discrete cosine transform. */
static void fill_cosine_series(struct cosine_series *series, const double *cells)
{
	for (size_t k = 1; k < CELLS; k++) {
		double sum = 0;

		for (size_t i = 0; i < CELLS; i++) {
			double x = ((double)i + 0.5) / (double)CELLS;

			if (cells[i] > 0)
				sum += cells[i] * cos(M_PI * (double)k * x);
		}
		series->squares[k] = sum / series->n * (sum / series->n);
	}
}

/* The least root; that of a normal density if there is none. */
static double bandwidth_root(const struct cosine_series *series)
{
	double low = 1e-9, high = low;

	while (high < 0.1 && !(bandwidth_excess(series, high) > 0)) {
		low = high;
		high *= 1.5;
	}
	if (high >= 0.1)
		return 0.28 * pow(series->n, -0.4);
	while (high > low * 1.001) {
		double middle = sqrt(low * high);

		*(bandwidth_excess(series, middle) > 0 ? &high : &low) = middle;
	}
	return high;
}

double density_bandwidth(const struct density_point *points, size_t n)
{
	double first = INFINITY, last = -INFINITY, widest = 0, margin, cells[CELLS] = {};
	struct cosine_series series = {};

	for (size_t i = 0; i < n; i++) {
		first = fmin(first, points[i].at);
		last = fmax(last, points[i].at);
		widest = fmax(widest, 1.5 * points[i].width);
		series.n += points[i].weight;
	}
	if (series.n < 2 || last <= first)
		return widest;

	margin = (last - first) / 10;
	series.range = last - first + 2 * margin;
	for (size_t i = 0; i < n; i++) {
		double share = (points[i].at - (first - margin)) / series.range;

		cells[(size_t)(share * CELLS)] += points[i].weight;
	}
	fill_cosine_series(&series, cells);
	return fmax(sqrt(bandwidth_root(&series)) * series.range, widest);
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
