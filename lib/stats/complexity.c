/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How times grow with size: see complexity.h. */
#include "lib/stats/complexity.h"

#include <math.h>

enum {
	LEAST_SIZES = 3,
	N_CONSTANTS = 61, /* the first is 0 */
	N_DEVIATIONS = 13,
	N_EXPONENTS = 226,
};

/* The constant as a share of factor * growth at the smallest size: its order of magnitude is not
 * known beforehand. */
static const double least_constant = 1e-4, most_constant = 1e2;
/* By how much a size deviates from any formula, on the log scale: neither is its order. */
static const double least_deviation = 1e-3, most_deviation = 0.5;
static const double most_exponent = 4.5;

/* By simulation: so probable that it is wrong in fewer than one of a hundred. */
static const double known_probability = 0.99;
/* Caches alone make 0.4 of what grows as n^3: MATC where a column no longer fits. */
static const double other_residual = 0.5;

const char *const growth_names[N_GROWTHS] = {"n", "n log n", "n^2", "n^3"};

static double growth_at(enum growth growth, double size)
{
	switch (growth) {
	case GROWTH_N:
		return size;
	case GROWTH_N_LOG_N:
		return size * log2(size);
	case GROWTH_N2:
		return size * size;
	default:
		return size * size * size;
	}
}

double growth_curve_at(const struct growth_curve *curve, enum growth growth, double size)
{
	return curve->constant + curve->factor * growth_at(growth, size);
}

/* The i-th of n values from `least` to `most`, evenly on the log scale. */
static double log_grid(double least, double most, size_t i, size_t n)
{
	return least * pow(most / least, (double)i / (double)(n - 1));
}

static double grid_constant(size_t i)
{
	return i == 0 ? 0 : log_grid(least_constant, most_constant, i - 1, N_CONSTANTS - 1);
}

/* The times, and what each deviation makes of their errors. */
struct observed_times {
	size_t n;
	double smallest;            /* size */
	double *sizes, *logs;       /* of the times */
	double *weights;            /* [N_DEVIATIONS][n]: 1 / variance */
	double sums[N_DEVIATIONS];  /* of the weights */
	double norms[N_DEVIATIONS]; /* the part of the log likelihood that no formula changes */
};

static void observed_times_clear(struct observed_times *o)
{
	free(o->sizes);
	free(o->logs);
	free(o->weights);
}

static struct observed_times observed_times_of(const struct sized_time *times, size_t n)
{
	struct observed_times o = {
		.n = n,
		.smallest = INFINITY,
		.sizes = xcalloc(n, sizeof(*o.sizes)),
		.logs = xcalloc(n, sizeof(*o.logs)),
		.weights = xcalloc(n * N_DEVIATIONS, sizeof(*o.weights)),
	};

	for (size_t i = 0; i < n; i++) {
		o.sizes[i] = times[i].size;
		o.logs[i] = log(times[i].time);
		o.smallest = fmin(o.smallest, times[i].size);
	}
	for (size_t k = 0; k < N_DEVIATIONS; k++) {
		double deviation = log_grid(least_deviation, most_deviation, k, N_DEVIATIONS);

		for (size_t i = 0; i < n; i++) {
			double error = times[i].error / times[i].time;
			double variance = error * error + deviation * deviation;

			o.weights[k * n + i] = 1 / variance;
			o.sums[k] += 1 / variance;
			o.norms[k] -= log(variance) / 2;
		}
		o.norms[k] -= log(o.sums[k]) / 2;
	}
	return o;
}

/* A point of the grid, and how likely it makes the times. */
struct fitted_point {
	double constant; /* of a shape that is 1 at the smallest size */
	size_t deviation;
	double factor, log_likelihood;
};

/* log(time) is log(factor) + log(constant + shape), and an error. The factor may have any order of
 * magnitude, and is integrated out: the likelihood is that of all, `factor` the most probable. */
static struct fitted_point point_of(
	const struct observed_times *o, const double *off, double constant, size_t deviation)
{
	const double *weights = o->weights + deviation * o->n;
	double sum = 0, squares = 0;

	for (size_t i = 0; i < o->n; i++) {
		sum += weights[i] * (off[i] - off[0]);
		squares += weights[i] * (off[i] - off[0]) * (off[i] - off[0]);
	}
	return (struct fitted_point){
		.constant = constant,
		.deviation = deviation,
		.factor = exp(off[0] + sum / o->sums[deviation]),
		.log_likelihood = o->norms[deviation] -
				  (squares - sum * sum / o->sums[deviation]) / 2,
	};
}

/* A sum of exponentials that neither overflows nor vanishes. */
struct log_sum {
	double highest, sum;
};

static void log_sum_add(struct log_sum *s, double log_value)
{
	if (log_value > s->highest) {
		s->sum = s->sum * exp(s->highest - log_value) + 1;
		s->highest = log_value;
	} else {
		s->sum += exp(log_value - s->highest);
	}
}

/* off[i] = log(time) - log(constant + shape) */
static void take_shape(
	const struct observed_times *o, const double *shape, double constant, double *off)
{
	for (size_t i = 0; i < o->n; i++)
		off[i] = o->logs[i] - log(constant + shape[i]);
}

/* The log of the likelihood of a shape with any constant and any deviation, up to a number that is
 * the same for all shapes; and its most probable point. */
static double shape_likelihood(
	const struct observed_times *o, const double *shape, struct fitted_point *ret)
{
	_cleanup_(freep) double *off = xcalloc(o->n, sizeof(*off));
	struct log_sum all = {.highest = -INFINITY};

	ret->log_likelihood = -INFINITY;
	for (size_t c = 0; c < N_CONSTANTS; c++) {
		take_shape(o, shape, grid_constant(c), off);
		for (size_t k = 0; k < N_DEVIATIONS; k++) {
			struct fitted_point point = point_of(o, off, grid_constant(c), k);

			log_sum_add(&all, point.log_likelihood);
			if (point.log_likelihood > ret->log_likelihood)
				*ret = point;
		}
	}
	return all.highest + log(all.sum);
}

/* The constant between the neighbours of the best one on the grid. */
static void refine_constant(
	const struct observed_times *o, const double *shape, struct fitted_point *best)
{
	enum { STEPS = 40 };
	_cleanup_(freep) double *off = xcalloc(o->n, sizeof(*off));
	const double step = log_grid(least_constant, most_constant, 1, N_CONSTANTS - 1) /
			    least_constant;
	const double middle = best->constant;

	for (size_t i = 0; middle > 0 && i < STEPS; i++) {
		double constant = log_grid(middle / step, middle * step, i, STEPS);
		struct fitted_point point;

		take_shape(o, shape, constant, off);
		point = point_of(o, off, constant, best->deviation);
		if (point.log_likelihood > best->log_likelihood)
			*best = point;
	}
}

static size_t count_sizes(const struct observed_times *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++) {
		bool seen = false;

		for (size_t k = 0; k < i; k++)
			seen |= o->sizes[k] == o->sizes[i];
		n += !seen;
	}
	return n;
}

static double residual_sd_of(
	const struct observed_times *o, const struct growth_curve *curve, enum growth growth)
{
	double squares = 0;

	for (size_t i = 0; i < o->n; i++) {
		double off = o->logs[i] - log(growth_curve_at(curve, growth, o->sizes[i]));

		squares += off * off;
	}
	return sqrt(squares / ((double)o->n - 2)); /* the constant and the factor are fitted */
}

/* Fits all four; their probabilities, if they are equally probable beforehand. */
static void fit_growths(const struct observed_times *o, struct complexity *ret)
{
	_cleanup_(freep) double *shape = xcalloc(o->n, sizeof(*shape));
	struct log_sum all = {.highest = -INFINITY};
	double likelihoods[N_GROWTHS];

	for (enum growth growth = 0; growth < N_GROWTHS; growth++) {
		const double unit = growth_at(growth, o->smallest);
		struct fitted_point best;

		for (size_t i = 0; i < o->n; i++)
			shape[i] = growth_at(growth, o->sizes[i]) / unit;
		likelihoods[growth] = shape_likelihood(o, shape, &best);
		log_sum_add(&all, likelihoods[growth]);
		refine_constant(o, shape, &best);
		ret->curves[growth].constant = best.factor * best.constant;
		ret->curves[growth].factor = best.factor / unit;
		if (likelihoods[growth] > likelihoods[ret->best])
			ret->best = growth;
	}
	for (enum growth growth = 0; growth < N_GROWTHS; growth++)
		ret->curves[growth].probability = exp(likelihoods[growth] - all.highest) / all.sum;
}

/* Of a probability density on the grid of exponents. */
static double exponent_quantile(const double *densities, double share)
{
	double sum = 0, reached = 0;
	size_t i = 0;

	for (size_t k = 0; k < N_EXPONENTS; k++)
		sum += densities[k];
	while (i < N_EXPONENTS - 1 && (reached += densities[i]) < share * sum)
		i++;
	return most_exponent * (double)i / (N_EXPONENTS - 1);
}

static void fit_exponent(const struct observed_times *o, struct complexity *ret)
{
	_cleanup_(freep) double *shape = xcalloc(o->n, sizeof(*shape));
	double densities[N_EXPONENTS], highest = -INFINITY;
	struct fitted_point best;

	for (size_t k = 0; k < N_EXPONENTS; k++) {
		double exponent = most_exponent * (double)k / (N_EXPONENTS - 1);

		for (size_t i = 0; i < o->n; i++)
			shape[i] = pow(o->sizes[i] / o->smallest, exponent);
		densities[k] = shape_likelihood(o, shape, &best);
		highest = fmax(highest, densities[k]);
	}
	for (size_t k = 0; k < N_EXPONENTS; k++)
		densities[k] = exp(densities[k] - highest);
	ret->exponent = exponent_quantile(densities, 0.5);
	ret->exponent_low = exponent_quantile(densities, 0.025);
	ret->exponent_high = exponent_quantile(densities, 0.975);
}

static double mean_error_of(const struct sized_time *times, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += times[i].error / times[i].time / (double)n;
	return sum;
}

int complexity_of(
	const struct sized_time *times, size_t n, struct complexity *ret, struct error *err)
{
	struct complexity c = {.exponent = NAN, .exponent_low = NAN, .exponent_high = NAN};
	_cleanup_(observed_times_clear) struct observed_times o = {};

	if (n == 0)
		return error_say(err, -EINVAL, "there are no times");
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(times[i].size) || times[i].size < 2)
			return error_say(err, -EINVAL, "size %g is below 2", times[i].size);
		if (!isfinite(times[i].time) || times[i].time <= 0)
			return error_say(
				err, -EINVAL, "the time for size %g is not above 0", times[i].size);
	}

	o = observed_times_of(times, n);
	fit_growths(&o, &c);
	if (count_sizes(&o) < LEAST_SIZES) {
		c.verdict = COMPLEXITY_CANNOT_TELL;
		for (enum growth growth = 0; growth < N_GROWTHS; growth++) {
			c.possible[growth] = true;
			c.curves[growth].residual_sd = NAN;
		}
		*ret = c;
		return 0;
	}

	fit_exponent(&o, &c);
	for (enum growth growth = 0; growth < N_GROWTHS; growth++) {
		c.curves[growth].residual_sd = residual_sd_of(&o, &c.curves[growth], growth);
		c.possible[growth] = c.curves[growth].probability > 1 - known_probability;
	}
	if (c.curves[c.best].residual_sd > fmax(other_residual, 2 * mean_error_of(times, n)))
		c.verdict = COMPLEXITY_OTHER;
	else if (c.curves[c.best].probability >= known_probability)
		c.verdict = COMPLEXITY_KNOWN;
	else
		c.verdict = COMPLEXITY_CANNOT_TELL;
	*ret = c;
	return 0;
}
