/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in the order of time: see time_series.h. */
#include "lib/stats/time_series.h"

#include "lib/stats/rounding.h"

#include <gsl/gsl_cdf.h>

/* Trends: analysis of variance between blocks, and the two simplest trends, a line and one change
 * of level (found by the greatest sum of squares between the two sides, Sen & Srivastava 1975). */

enum { LEAST_VALUES = 12, LEAST_BLOCK = 4 };

/* `off`: the values less their mean; the sum of their squares. */
static double slow_share(const double *off, size_t n, double squares)
{
	size_t blocks = (size_t)lround(sqrt((double)n)), start = 0;
	double between = 0, within, f;

	if (blocks > n / LEAST_BLOCK)
		blocks = n / LEAST_BLOCK;
	for (size_t b = 0; b < blocks; b++) {
		size_t end = (b + 1) * n / blocks;
		double sum = 0;

		for (size_t i = start; i < end; i++)
			sum += off[i];
		between += sum * sum / (double)(end - start);
		start = end;
	}
	within = (squares - between) / (double)(n - blocks);
	if (within <= 0)
		return 1;
	f = between / (double)(blocks - 1) / within;
	if (gsl_cdf_fdist_Q(f, (double)(blocks - 1), (double)(n - blocks)) > 0.001)
		return 0;
	return 1 - within / (squares / (double)(n - 1));
}

static int64_t clamped(int64_t low, int64_t value, int64_t high)
{
	if (value < low)
		return low;
	return value > high ? high : value;
}

/* The change of level that explains most, with at least three values on either side. off[n]: the
 * values less their mean; `squares`: the sum of their squares. */
static void find_step(const double *off, size_t n, double squares, double mean, struct trend *trend)
{
	double best = -1, sum = 0;

	for (size_t i = 1; i + 3 <= n; i++) {
		double before = (double)i, after = (double)n - before, between;

		/* of the i values before the change; those after it sum to -sum */
		sum += off[i - 1];
		between = sum * sum * (1 / before + 1 / after);
		if (i < 3 || between <= best)
			continue;
		best = between;
		trend->change = i;
		trend->before = mean + sum / before;
		trend->after = mean - sum / after;
	}
	trend->step = best / squares;
}

struct trend trend_of(const int64_t *values, size_t n, int64_t low, int64_t high)
{
	/* Values are taken from the first one, so that no digits are lost. `low` and `high` may be
	 * those of the type. */
	const int64_t first = n > 0 ? clamped(low, values[0], high) : 0;
	_cleanup_(freep) double *off = xcalloc(n, sizeof(*off));
	double middle = ((double)n - 1) / 2, sum = 0, mean, squares = 0, along = 0, spread = 0;
	struct trend trend = {};

	for (size_t i = 0; i < n; i++) {
		off[i] = (double)(clamped(low, values[i], high) - first);
		sum += off[i];
	}
	mean = n > 0 ? sum / (double)n : 0;
	for (size_t i = 0; i < n; i++) {
		off[i] -= mean;
		squares += off[i] * off[i];
		along += ((double)i - middle) * off[i];
		spread += ((double)i - middle) * ((double)i - middle);
	}
	if (n < LEAST_VALUES || squares <= 0)
		return trend;
	trend.slow = slow_share(off, n, squares);
	trend.line = along * along / spread / squares;
	find_step(off, n, squares, (double)first + mean, &trend);
	return trend;
}

/* The index of the first of ascending values that is not below `value`. */
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

/* 1 - RVN / 2, where RVN is von Neumann's ratio (1941) of the ranks (Bartels 1982). Tied values
 * share their mean rank. */
double neighbours_alike(const int64_t *values, const int64_t *ascending, size_t n)
{
	double steps = 0, squares = 0, before = 0;

	for (size_t i = 0; i < n; i++) {
		size_t below = first_at_least(ascending, n, values[i]);
		size_t above = values[i] < INT64_MAX ? first_at_least(ascending, n, values[i] + 1)
						     : n;
		double rank = (double)(below + above) / 2 - (double)n / 2;

		steps += i > 0 ? (rank - before) * (rank - before) : 0;
		squares += rank * rank;
		before = rank;
	}
	return squares > 0 ? 1 - steps / squares / 2 : 0;
}

/* The correlation is taken to fall geometrically (AR(1)), and the variance of a mean is that of
 * such a process, by generalised least squares (Aitken 1935). Ten values hardly show their
 * correlation. If the machine's is known, the estimate from the values, corrected for its bias,
 * counts beside it, and Student's t has n - 1 degrees of freedom.
 *
 * If it is not known, the values alone show it, corrected for the bias of both the correlation
 * (Marriott & Pope 1954) and the variance, and t has as many degrees of freedom as there are
 * effective values (Bayley & Hammersley 1946), but at least LEAST_EFFECTIVE. An interval of that
 * kind would often reach beyond all values, and hardly ever for a reason: it is bounded by the
 * least and the greatest of them. The mean of independent values lies beyond them with a
 * probability of 2^(1 - n), if they are not skewed.
 *
 * From LEAST_VALUES on, t is corrected for the skewness of the values by Hall's transformation
 * (1992), which reaches further on the side of the long tail. The bounds are those of the logarithm
 * of the mean, whose standard error is that of the mean divided by the mean: a time is never below
 * 0, and intervals of a few skewed values then miss their mean less often. tests/bench/truth.py
 * shows what these intervals cover and how wide they are. */

enum { INTERVAL_LEAST_VALUES = 8, LEAST_EFFECTIVE = 3 };
/* Where the machine is known, the range of at least this number of effective values bounds the
 * interval; the mean of fewer may lie outside their range. */
static const double LEAST_BOUNDING = 4;
/* The machine's correlation counts as if it came from at most this number of values: the program
 * need not behave like INC. */
enum { MOST_MACHINE_VALUES = 100 };
static const double INTERVAL_MOST_LAG1 = 0.95;

double correlation_inflation(double lag1, double n)
{
	/* the sum of 1 + 2 (1 - k/n) lag1^k over k = 1 … n - 1, in closed form */
	return (1 + lag1) / (1 - lag1) -
	       2 * lag1 * (1 - pow(lag1, n)) / (n * (1 - lag1) * (1 - lag1));
}

/* The standardised mean with this quantile if the mean's distribution has this skewness, where t is
 * that without (Hall 1992, On the removal of skewness by transformation). */
static double hall(double t, double skewness)
{
	if (fabs(skewness) < 1e-6)
		return t;
	return 3 / skewness * (cbrt(1 + skewness * (t - skewness / 6)) - 1);
}

/* The least argument of the cube root in hall(), whose derivative diverges at 0: near it, a little
 * more skewness would reach twice as far. The interval of values that are so skewed does not miss
 * their mean more often: their standard deviation is great, too. */
static const double LEAST_ARGUMENT = 0.05;

/* How many standard errors the interval reaches on the side of the long tail; skewness < 0: on the
 * other side. */
static double reach(double t, double skewness)
{
	double most = 3 * (sqrt(t * t + (1 - LEAST_ARGUMENT) * 2 / 3) - t);

	return skewness < 0 ? hall(t, -skewness) : -hall(-t, fmin(skewness, most));
}

/* The standard error of the mean if neighbours have this correlation, or the nearest one within the
 * limits. The values are taken for those of an AR(1) process, whose variance follows from the
 * differences that the correlation does not explain. */
static double error_by_lag1(const int64_t *values, size_t n, double lag1, struct interval *interval)
{
	double weights = 0, sum = 0, mean, before, squares, inflation;

	interval->lag1 = lag1 = fmax(0, fmin(lag1, INTERVAL_MOST_LAG1));
	inflation = correlation_inflation(lag1, (double)n);
	interval->effective_n = (double)n / inflation;
	for (size_t i = 0; i < n; i++) {
		double weight = i == 0 || i == n - 1 ? 1 : 1 - lag1;

		weights += weight;
		sum += weight * (double)(values[i] - values[0]);
	}
	mean = (double)values[0] + sum / weights;
	before = (double)values[0] - mean;
	squares = (1 - lag1 * lag1) * before * before;
	for (size_t i = 1; i < n; i++) {
		double off = (double)values[i] - mean, fresh = off - lag1 * before;

		squares += fresh * fresh;
		before = off;
	}
	return sqrt(squares / (double)(n - 1) / (1 - lag1 * lag1) * inflation / (double)n);
}

/* The lag-1 autocorrelation, with a bias of about -(1 + 4 lag1) / n; NAN: the values are all the
 * same. */
static double lag1_of(const int64_t *values, size_t n, double mean)
{
	double products = 0, squares = 0, before = 0;

	for (size_t i = 0; i < n; i++) {
		double off = (double)values[i] - mean;

		squares += off * off;
		products += off * before;
		before = off;
	}
	return squares > 0 ? products / squares : NAN;
}

/* The standard error of the mean, by what is known of the correlation; fills that in. *ret_freedom:
 * the degrees of freedom of t. */
static double error_of_mean(const int64_t *values, const struct summary *s,
	const struct known_correlation *machine, struct interval *interval, double *ret_freedom)
{
	double n = (double)s->n, own = interval->lag1, error;

	*ret_freedom = n - 1;
	interval->calibrated = machine && machine->values > 0;
	interval->assumed = !interval->calibrated && s->n < INTERVAL_LEAST_VALUES;
	if (interval->calibrated) {
		double weight = fmin((double)machine->values, MOST_MACHINE_VALUES);
		double unbiased = own + (1 + 4 * machine->lag1) / n;
		double lag1 = (n * unbiased + weight * machine->lag1) / (n + weight);

		return error_by_lag1(values, s->n, lag1, interval);
	}
	if (interval->assumed) {
		interval->lag1 = NAN;
		return s->sd_ns / sqrt(n);
	}
	error = error_by_lag1(values, s->n, (n * own + 1) / (n - 4), interval);
	interval->effective_n = fmax(interval->effective_n, LEAST_EFFECTIVE);
	*ret_freedom = fmin(n - 1, interval->effective_n);
	return error;
}

/* The skewness of the distribution of the mean, corrected for its bias. */
static double skewness_of_mean(const int64_t *values, const struct summary *s, double effective_n)
{
	double n = (double)s->n, cubes = 0;

	for (size_t i = 0; i < s->n; i++)
		cubes += pow(((double)values[i] - s->mean_ns) / s->sd_ns, 3);
	return n / (n - 1) / (n - 2) * cubes / sqrt(effective_n);
}

struct interval interval_of_mean(const int64_t *values, size_t n_values,
	const struct known_correlation *machine, int64_t step_ns)
{
	struct summary s = summary_of(values, n_values);
	double n = (double)n_values, error, freedom, t, skewness = 0;
	struct interval interval = {.low_ns = NAN, .high_ns = NAN, .lag1 = NAN, .effective_n = n};
	bool many = n_values >= INTERVAL_LEAST_VALUES;
	struct rounding rounding;

	if (n_values < 2)
		return interval;
	step_ns = rounding_step(values, n_values, NULL, 0, step_ns);
	rounding = rounding_of(values, n_values, step_ns);
	interval.step_ns = (double)step_ns;
	interval.bias_ns = rounding.bias_ns;
	interval.lag1 = lag1_of(values, n_values, s.mean_ns);
	if (isnan(interval.lag1)) {
		double half = gsl_cdf_tdist_Pinv(0.975, n - 1) * sqrt(rounding.variance) +
			      rounding.bias_ns;

		interval.low_ns = fmax(0, s.mean_ns - half);
		interval.high_ns = s.mean_ns + half;
		return interval;
	}

	error = error_of_mean(values, &s, machine, &interval, &freedom);
	error = fmax(error, sqrt(rounding.variance));
	t = gsl_cdf_tdist_Pinv(0.975, freedom);
	if (many)
		skewness = skewness_of_mean(values, &s, interval.effective_n);
	interval.low_ns = s.mean_ns * exp(-reach(t, -skewness) * error / s.mean_ns);
	interval.high_ns = s.mean_ns * exp(reach(t, skewness) * error / s.mean_ns);

	if (many && (!interval.calibrated || interval.effective_n >= LEAST_BOUNDING)) {
		interval.low_ns = fmax(interval.low_ns, (double)s.min_ns);
		interval.high_ns = fmin(interval.high_ns, (double)s.max_ns);
	}
	interval.low_ns = fmax(0, interval.low_ns - rounding.bias_ns);
	interval.high_ns += rounding.bias_ns;
	return interval;
}

/* The variance of the means of separate runs is that between runs and that within them. Where this
 * run has fewer values, its own interval makes up for them; where it has more, the interval is
 * wider than need be. The squares of both are added, so that each keeps the degrees of freedom that
 * it has. */
struct run_interval interval_between_runs(const struct interval *within, double mean_ns, size_t n,
	const struct run_variation *variation)
{
	double half = gsl_cdf_tdist_Pinv(0.975, variation->df) * variation->sd * mean_ns;
	double missing = fmax(0, 1 - (double)n / variation->n_samples);
	double low_ns = hypot(half, sqrt(missing) * (mean_ns - within->low_ns));
	double high_ns = hypot(half, sqrt(missing) * (within->high_ns - mean_ns));

	return (struct run_interval){
		.low_ns = fmin(within->low_ns, mean_ns * exp(-low_ns / mean_ns)),
		.high_ns = fmax(within->high_ns, mean_ns * exp(high_ns / mean_ns)),
		.variation = *variation,
	};
}
