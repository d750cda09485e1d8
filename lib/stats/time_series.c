/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of level, trends, correlations and intervals of values in the order of time: see time_series.h. */
#include "lib/stats/time_series.h"

#include "lib/base/cleanup.h"
#include "lib/base/xalloc.h"
#include "lib/stats/summary.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 3 /* neighbours on either side that show an outlier */, MOST_ROUNDS = 50 };
static const double OUTLYING = 3 /* robust sd */, NORMAL_MAD = 1.4826;

/* What is assumed of the correlation of neighbours, and as how many values that counts: a few runs do not show it. */
static const double ASSUMED_LAG1 = 0.4, ASSUMED_VALUES = 12, MOST_LAG1 = 0.9;

/* By simulation: with these, at most one series in twenty whose level does not change shows a change, be its values normal, skewed, heavy-tailed
 * or alike (tests/bench/truth.py). FIRST times the variance times log n is the first penalty, which is too low. */
static const double ALPHA = 0.02, FIRST = 3, MOST_DF = 30 /* the mean of a few skewed values is not normal */;

/* Sorts them. */
static double median_of_doubles(double *values, size_t n)
{
	sort_doubles(values, n);
	return n > 0 ? (values[(n - 1) / 2] + values[n / 2]) / 2 : 0;
}

/* Hampel's identifier: no value is further from the median of its neighbours than OUTLYING robust sd. Only those of its level are
 * its neighbours; the levels end at `ends`, the last of them at n. */
static void clip_outliers(const double *values, const size_t *ends, size_t n, double *ret)
{
	_cleanup_(freep) double *off = xcalloc(2 * n + 1, sizeof(*off));
	double *middles = off + n, most;

	for (size_t i = 0, level = 0, begin = 0; i < n; i++) {
		double window[2 * AROUND + 1];
		size_t from, to;

		if (i == ends[level])
			begin = ends[level++];
		from = i > begin + AROUND ? i - AROUND : begin;
		to = i + AROUND + 1 < ends[level] ? i + AROUND + 1 : ends[level];
		memcpy(window, values + from, (to - from) * sizeof(*window));
		middles[i] = median_of_doubles(window, to - from);
		off[i] = fabs(values[i] - middles[i]);
	}
	most = OUTLYING * NORMAL_MAD * median_of_doubles(off, n);
	for (size_t i = 0; i < n; i++)
		ret[i] = most > 0 ? fmax(middles[i] - most, fmin(middles[i] + most, values[i])) : values[i];
}

/* One series and a division of it. */
struct division {
	const double *values;
	double *sums, *squares; /* of the first i values, less the first value */
	size_t n;
	size_t *ends; /* of its levels */
	size_t n_levels;
};

static double division_cost(const struct division *d, size_t first, size_t end)
{
	double sum = d->sums[end] - d->sums[first];

	return fmax(0, d->squares[end] - d->squares[first] - sum * sum / (double)(end - first));
}

static double level_mean(const struct division *d, size_t first, size_t end)
{
	return d->values[0] + (d->sums[end] - d->sums[first]) / (double)(end - first);
}

/* The division with the least sum of squares and penalties for its levels: costs[end] is that of the first `end` values, whose last
 * level begins at before[end], one of `starts`. */
static void divide_best(struct division *d, double penalty)
{
	size_t n = d->n, n_starts = 0, k = 0;
	_cleanup_(freep) size_t *starts = xcalloc(2 * (n + 1), sizeof(*starts));
	_cleanup_(freep) double *costs = xcalloc(n + 1, sizeof(*costs));
	size_t *before = starts + n + 1;

	for (size_t end = 1; end < CHANGE_POINTS_LEAST && end <= n; end++)
		costs[end] = INFINITY;
	for (size_t end = CHANGE_POINTS_LEAST; end <= n; end++) {
		size_t kept = 0,
		       last = end - CHANGE_POINTS_LEAST; /* where the shortest level before `end` begins */

		if (isfinite(costs[last]))
			starts[n_starts++] = last;
		costs[end] = INFINITY;
		for (size_t i = 0; i < n_starts; i++) {
			double all = costs[starts[i]] + division_cost(d, starts[i], end) + penalty;

			if (all < costs[end]) {
				costs[end] = all;
				before[end] = starts[i];
			}
		}
		/* no level of more values than `end` begins where it is cheaper to begin another at `last` (PELT) */
		for (size_t i = 0; i < n_starts; i++)
			if (last < starts[i] + CHANGE_POINTS_LEAST ||
				costs[starts[i]] + division_cost(d, starts[i], last) <= costs[last])
				starts[kept++] = starts[i];
		n_starts = kept;
	}
	for (size_t end = n; end > 0; end = before[end])
		k++;
	d->n_levels = k;
	for (size_t end = n; end > 0; end = before[end])
		d->ends[--k] = end;
}

static size_t level_first(const struct division *d, size_t level)
{
	return level > 0 ? d->ends[level - 1] : 0;
}

static void find_noise(const struct division *d, struct levels *ret)
{
	double n = (double)d->n, levels = (double)d->n_levels, known = n - 4 * levels;
	double squares = 0, products = 0, inflation, df; /* residual, within the levels; at lag 1 */

	for (size_t k = 0; k < d->n_levels; k++) {
		double mean = level_mean(d, level_first(d, k), d->ends[k]), before = 0;

		for (size_t i = level_first(d, k); i < d->ends[k]; i++) {
			double off = d->values[i] - mean;

			squares += off * off;
			products += off * before;
			before = off;
		}
	}
	/* that of the values, corrected for its bias in each level (Marriott & Pope 1954), beside the assumed one */
	ret->lag1 = ASSUMED_LAG1;
	if (known > 0 && squares > 0) {
		double lag1 = (n * products / squares + levels) / known;

		ret->lag1 = fmax(0, fmin(MOST_LAG1, (known * lag1 + ASSUMED_VALUES * ASSUMED_LAG1) /
							    (known + ASSUMED_VALUES)));
	}
	inflation = (1 + ret->lag1) / (1 - ret->lag1);
	df = fmax(n - levels * inflation, (n - levels) / 3);
	ret->sd = sqrt(squares / df);
	ret->variance = squares / df * inflation;
	ret->df = fmax(1, n / inflation - levels);
}

/* From many levels to as few as the noise that they leave demands: each division leaves more noise than the one before. */
static void settle_levels(struct division *d, struct levels *noise)
{
	_cleanup_(freep) size_t *ends = xcalloc(d->n + 1, sizeof(*ends));
	_cleanup_(freep) double *off = xcalloc(d->n, sizeof(*off));
	double n = (double)d->n, least = 1e-12 * division_cost(d, 0, d->n) / n, sd, penalty;

	/* at first by the differences of neighbours, whose variance needs no level to be known */
	for (size_t i = 1; i < d->n; i++)
		off[i - 1] = fabs(d->values[i] - d->values[i - 1]);
	sd = NORMAL_MAD * median_of_doubles(off, d->n - 1);
	penalty = fmax(least, FIRST * (sd * sd / 2) * log(n));
	for (int round = 0; round < MOST_ROUNDS; round++) {
		size_t n_levels = d->n_levels;
		double inflation, t;

		memcpy(ends, d->ends, n_levels * sizeof(*ends));
		divide_best(d, penalty);
		find_noise(d, noise);
		/* the square of what Student's t of two levels does not exceed at any of n places by chance */
		inflation = (1 + noise->lag1) / (1 - noise->lag1);
		t = gsl_cdf_tdist_Qinv(ALPHA / 2 / n, fmax(1, fmin(MOST_DF, n / inflation - 2)));
		penalty = fmax(penalty, t * t * noise->variance);
		if (d->n_levels == n_levels && !memcmp(d->ends, ends, n_levels * sizeof(*ends)))
			break;
	}
	noise->penalty = penalty;
}

void change_points_find(const double *values, size_t n, struct levels *ret)
{
	struct levels levels = {
		.clipped = xcalloc(n + 1, sizeof(double)), .in_level = xcalloc(n + 1, sizeof(double))};
	_cleanup_(freep) double *sums = xcalloc(2 * (n + 1), sizeof(*sums));
	_cleanup_(freep) size_t *ends = xcalloc(n + 1, sizeof(*ends));
	struct division d = {levels.clipped, sums, sums + n + 1, n, ends, n > 0};
	bool enough = n >= 2 * CHANGE_POINTS_LEAST;
	double t;

	ends[0] = n;
	clip_outliers(values, ends, n, levels.clipped);
	for (size_t i = 0; i < n; i++) {
		double off = d.values[i] - d.values[0];

		d.sums[i + 1] = d.sums[i] + off;
		d.squares[i + 1] = d.squares[i] + off * off;
	}
	levels.sd = NAN;
	if (n >= 2)
		find_noise(&d, &levels);
	if (enough)
		settle_levels(&d, &levels);
	clip_outliers(values, ends, n, levels.in_level);
	t = enough ? gsl_cdf_tdist_Pinv(0.975, levels.df) : INFINITY;
	levels.items = xcalloc(d.n_levels + 1, sizeof(*levels.items));
	levels.n = d.n_levels;
	for (size_t k = 0; k < d.n_levels; k++) {
		size_t first = level_first(&d, k), count = ends[k] - first;

		levels.items[k] = (struct level){first, count, level_mean(&d, first, ends[k]),
			enough ? t * sqrt(levels.variance / (double)count) : INFINITY};
	}
	*ret = levels;
}

void levels_clear(struct levels *levels)
{
	free(levels->items);
	free(levels->clipped);
	free(levels->in_level);
	*levels = (struct levels){};
}

double levels_detectable(const struct levels *levels, size_t n, size_t after)
{
	double count = (double)n, weight = n > after ? (count - (double)after) * (double)after / count : 0;
	double normal = sqrt(levels->penalty) + gsl_cdf_ugaussian_Pinv(0.8) * sqrt(levels->variance);

	if (n < CHANGE_POINTS_DETECTABLE || after < CHANGE_POINTS_LEAST || n < after + CHANGE_POINTS_LEAST)
		return INFINITY;
	return normal / sqrt(weight) * (1 + 9 / count); /* the noise is not known; by simulation */
}

struct level_change levels_change(const struct levels *levels, size_t i)
{
	const struct level *before = &levels->items[i - 1], *after = &levels->items[i];

	return (struct level_change){after->mean - before->mean, hypot(before->half, after->half)};
}

/* Analysis of variance between blocks, and the two
 * simplest trends, a line and one change of level (found by the greatest sum of squares between the two sides,
 * Sen & Srivastava 1975). */

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

struct trend trend_of(const int64_t *values, size_t n, int64_t low, int64_t high)
{
	_cleanup_(freep) double *off = xcalloc(n, sizeof(*off));
	double middle = ((double)n - 1) / 2, sum = 0, mean, squares = 0, along = 0, spread = 0, best = -1;
	struct trend trend = {};

	for (size_t i = 0; i < n; i++) {
		off[i] = (double)((values[i] < low ? low : values[i] > high ? high : values[i]) - low);
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
	/* the best change leaves at least three values on either side */
	sum = 0;
	for (size_t i = 1; i + 3 <= n; i++) {
		double before = (double)i, after = (double)n - before, between;

		sum += off[i - 1]; /* of the i values before the change; those after it sum to -sum */
		between = sum * sum * (1 / before + 1 / after);
		if (i < 3 || between <= best)
			continue;
		best = between;
		trend.change = i;
		trend.before = (double)low + mean + sum / before;
		trend.after = (double)low + mean - sum / after;
	}
	trend.step = best / squares;
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

/* If both are series whose neighbours are alike, their coefficient of correlation varies by chance as that of fewer independent
 * pairs would: n / (1 + 2 sum of a_k b_k), where a_k and b_k are their autocorrelations at a distance of k (Bartlett 1935). These are
 * estimated from the values; if they fall geometrically, from those of neighbours, with a correction for their bias (Marriott &
 * Pope 1954). The greater of both sums counts. tests/unit/test_pearson.c shows how often this calls related what is not. */

enum { PEARSON_LEAST = 5 };

static const double PEARSON_MOST_LAG1 = 0.95;

/* The sum of the products, b being `lag` values later. */
static double lagged_products(const double *a, const double *b, size_t n, size_t lag)
{
	double sum = 0;

	for (size_t i = lag; i < n; i++)
		sum += a[i - lag] * b[i];
	return sum;
}

struct pearson pearson_of(const double *x, const double *y, size_t n)
{
	_cleanup_(freep) double *room = xcalloc(2 * n, sizeof(*room));
	double *off[] = {room, room + n}, squares[2], lag1[2], both, sum = 1, r, freedom, half;
	struct pearson c = {n, NAN, (double)n, NAN, NAN, NAN};

	if (n < PEARSON_LEAST)
		return c;
	for (int k = 0; k < 2; k++) {
		const double *values = k == 0 ? x : y;
		double mean = gsl_stats_mean(values, 1, n), rounding = 1e-12 * mean;

		for (size_t i = 0; i < n; i++)
			off[k][i] = values[i] - mean;
		squares[k] = lagged_products(off[k], off[k], n, 0);
		if (!(squares[k] > (double)n * rounding * rounding)) /* they vary by no more than rounding */
			return c;
		lag1[k] = ((double)n * (lagged_products(off[k], off[k], n, 1) / squares[k]) + 1) /
			  ((double)n - 4);
	}
	c.r = lagged_products(off[0], off[1], n, 0) / sqrt(squares[0]) / sqrt(squares[1]);
	/* by how much the variance of r grows */
	both = fmax(0, fmin(lag1[0], PEARSON_MOST_LAG1)) * fmax(0, fmin(lag1[1], PEARSON_MOST_LAG1));
	for (size_t lag = 1; lag <= n / 4; lag++)
		sum += 2 * (1 - (double)lag / (double)n) *
		       (lagged_products(off[0], off[0], n, lag) / squares[0]) *
		       (lagged_products(off[1], off[1], n, lag) / squares[1]);
	c.effective_n = (double)n / fmax((1 + both) / (1 - both), sum);
	if (c.effective_n <= 4)
		return c;
	r = fmin(fabs(c.r), 1 - 1e-12);
	freedom = c.effective_n - 2;
	half = gsl_cdf_ugaussian_Pinv(0.975) / sqrt(c.effective_n - 3);
	c.p = 2 * gsl_cdf_tdist_Q(r * sqrt(freedom / (1 - r * r)), freedom);
	c.low = tanh(atanh(copysign(r, c.r)) - half);
	c.high = tanh(atanh(copysign(r, c.r)) + half);
	return c;
}

/* The correlation is taken to fall geometrically (AR(1)), and the variance of a mean is that of such a process, by
 * generalised least squares (Aitken 1935). Ten values hardly show their correlation. If the machine's is known, the estimate
 * from the values, corrected for its bias, counts beside it, and Student's t has n - 1 degrees of freedom.
 *
 * If it is not known, the values alone show it, corrected for the bias of both the correlation (Marriott & Pope 1954) and
 * the variance, and t has as many degrees of freedom as there are effective values (Bayley & Hammersley 1946), but at least
 * LEAST_EFFECTIVE. An interval of that kind would often reach beyond all values, and hardly ever for a reason: it is bounded by the
 * least and the greatest of them. The mean of independent values lies beyond them with a probability of 2^(1 - n), if they
 * are not skewed.
 *
 * From LEAST_VALUES on, t is corrected for the skewness of the values by Hall's transformation (1992), which reaches further
 * on the side of the long tail. The bounds are those of the logarithm of the mean, whose standard error is that of the mean
 * divided by the mean: a time is never below 0, and intervals of a few skewed values then miss their mean less often.
 * tests/bench/truth.py shows what these intervals cover and how wide they are. */

enum { INTERVAL_LEAST_VALUES = 8, LEAST_EFFECTIVE = 3 };
/* Where the machine is known, the range of at least this number of effective values bounds the interval; the mean of
 * fewer may lie outside their range. */
static const double LEAST_BOUNDING = 4;
/* The machine's correlation counts as if it came from at most this number of values: the program need not behave like INC. */
enum { MOST_MACHINE_VALUES = 100 };
static const double INTERVAL_MOST_LAG1 = 0.95;

double correlation_inflation(double lag1, double n)
{
	/* the sum of 1 + 2 (1 - k/n) lag1^k over k = 1 … n - 1, in closed form */
	return (1 + lag1) / (1 - lag1) - 2 * lag1 * (1 - pow(lag1, n)) / (n * (1 - lag1) * (1 - lag1));
}

/* The standardised mean with this quantile if the mean's distribution has this skewness, where t is that without
 * (Hall 1992, On the removal of skewness by transformation). */
static double hall(double t, double skewness)
{
	if (fabs(skewness) < 1e-6)
		return t;
	return 3 / skewness * (cbrt(1 + skewness * (t - skewness / 6)) - 1);
}

/* Of the cube root's argument: the root is vertical at 0, where a little more skewness would reach twice as far. The mean of
 * values that are so skewed is not missed more often: their standard deviation is great, too. */
static const double LEAST_ARGUMENT = 0.05;

/* How many standard errors the interval reaches on the side of the long tail; skewness < 0: on the other side. */
static double reach(double t, double skewness)
{
	double most = 3 * (sqrt(t * t + (1 - LEAST_ARGUMENT) * 2 / 3) - t);

	return skewness < 0 ? hall(t, -skewness) : -hall(-t, fmin(skewness, most));
}

/* If neighbours have this correlation, or one within the limits: the standard error of the mean, by the variance of the values of
 * an AR(1) process, which the differences that the correlation does not explain show. */
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

struct interval interval_of_mean(
	const int64_t *values, size_t n_values, double level, const struct known_correlation *machine)
{
	struct summary s = summary_of(values, n_values);
	double n = (double)n_values, products = 0, squares = 0, before = 0, cubes = 0, skewness = 0;
	struct interval interval = {.low_ns = NAN, .high_ns = NAN, .lag1 = NAN, .effective_n = n};
	double error, freedom = n - 1, t;

	if (n_values < 2)
		return interval;
	interval.low_ns = interval.high_ns = s.mean_ns;
	for (size_t i = 0; i < n_values; i++) {
		double off = (double)values[i] - s.mean_ns;

		squares += off * off;
		products += off * before;
		before = off;
	}
	if (squares <= 0)
		return interval;
	interval.lag1 = products / squares; /* with a bias of about -(1 + 4 lag1) / n */
	interval.calibrated = machine && machine->values > 0;
	interval.assumed = !interval.calibrated && n_values < INTERVAL_LEAST_VALUES;
	if (interval.calibrated) {
		double weight = fmin((double)machine->values, MOST_MACHINE_VALUES);
		double unbiased = interval.lag1 + (1 + 4 * machine->lag1) / n;

		error = error_by_lag1(
			values, n_values, (n * unbiased + weight * machine->lag1) / (n + weight), &interval);
	} else if (interval.assumed) {
		interval.lag1 = NAN;
		error = s.sd_ns / sqrt(n);
	} else {
		error = error_by_lag1(values, n_values, (n * interval.lag1 + 1) / (n - 4), &interval);
		interval.effective_n = fmax(interval.effective_n, LEAST_EFFECTIVE);
		freedom = fmin(n - 1, interval.effective_n);
	}
	t = gsl_cdf_tdist_Pinv(0.5 + level / 2, freedom);
	if (n_values >= INTERVAL_LEAST_VALUES) { /* that of the mean; corrected for its bias */
		for (size_t i = 0; i < n_values; i++)
			cubes += pow(((double)values[i] - s.mean_ns) / s.sd_ns, 3);
		skewness = n / (n - 1) / (n - 2) * cubes / sqrt(interval.effective_n);
	}
	interval.low_ns *= exp(-reach(t, -skewness) * error / s.mean_ns);
	interval.high_ns *= exp(reach(t, skewness) * error / s.mean_ns);
	if (n_values >= INTERVAL_LEAST_VALUES &&
		(!interval.calibrated || interval.effective_n >= LEAST_BOUNDING)) {
		interval.low_ns = fmax(interval.low_ns, (double)s.min_ns);
		interval.high_ns = fmin(interval.high_ns, (double)s.max_ns);
	}
	return interval;
}

/* Whether something that comes in bursts takes more of the time in one run than in another, by more than
 * chance. Bursts make counts vary far more than Poisson's, so the time is counted in rounds: how it
 * varies from round to round, and how much a round is like the next, shows how much chance can explain. */

/* The mean of at least this number of independent rounds is about normal; with fewer, only their number counts. */
static const double ENOUGH = 8;
/* A source in this share of the rounds of one run, and in none of the other, is permanent: its rounds are not one long burst. */
static const double PERMANENT = 0.6;
static const double RATE_CHANGE_MOST_LAG1 = 0.99;

static double rate_mean(const struct rate *r)
{
	return r->n > 0 ? r->total_ns / r->n : 0;
}

static double rate_variance(const struct rate *r) /* n - 1 */
{
	return r->n > 1 ? fmax(r->squares - r->total_ns * rate_mean(r), 0) / (r->n - 1) : 0;
}

/* So many rounds are worth one, because neighbours are alike: a burst over ten rounds is one burst. The correlation of
 * neighbours is estimated by their differences (von Neumann 1941), which what happens at the ends of the run does not bias. */
static double rate_inflation(const struct rate *r)
{
	double variance = rate_variance(r), lag1;

	if (r->n < 3 || variance <= 0)
		return 1;
	lag1 = 1 - r->steps / (2 * (r->n - 1) * variance);
	lag1 = fmin(lag1 + 4 * fmax(lag1, 0) / r->n, RATE_CHANGE_MOST_LAG1); /* its bias, about */
	return lag1 > 0 ? fmin(correlation_inflation(lag1, r->n), r->n) : 1;
}

double rate_ratio(const struct rate *a, const struct rate *b)
{
	double of_a = a->time_ns > 0 ? a->total_ns / a->time_ns : 0;
	double of_b = b->time_ns > 0 ? b->total_ns / b->time_ns : 0;

	return of_a > 0 ? of_b / of_a : of_b > 0 ? INFINITY : 1;
}

/* Given so many rounds with it in both, how many of them b has by chance is binomial. k is rounded down, and at least k
 * of k + n at random means a beta distribution of the share. */
static double rate_by_number(
	double k, double others, double margin, const struct rate *a, const struct rate *b)
{
	double share = margin * b->time_ns / (a->time_ns + margin * b->time_ns);

	return k >= 1 ? gsl_cdf_beta_P(share, floor(k), ceil(others) + 1) : 1;
}

/* The p-value of ratio <= margin. */
static double p_of_ratio(const struct rate *a, const struct rate *b, double margin)
{
	/* of two runs of the same source, which should be the same */
	double inflation = fmax(rate_inflation(a), rate_inflation(b));
	double k = b->with / inflation, others = a->with / inflation;
	double n_a = a->n / inflation, n_b = b->n / inflation, scale, of_a, of_b, off, freedom;

	if (b->total_ns <= 0 || a->time_ns <= 0 || b->time_ns <= 0)
		return 1;
	if (a->with <= 0)
		return rate_by_number(b->with >= PERMANENT * b->n ? b->with : k, 0, margin, a, b);
	if (k < ENOUGH || others < ENOUGH)
		return rate_by_number(k, others, margin, a, b);
	/* Welch's test of mean(b) <= margin mean(a), with as many values as are independent */
	scale = b->n / b->time_ns * a->time_ns / a->n; /* rounds of the two may not be equally long */
	of_a = margin * margin * rate_variance(a) / n_a;
	of_b = scale * scale * rate_variance(b) / n_b;
	off = scale * rate_mean(b) - margin * rate_mean(a);
	if (of_a + of_b <= 0)
		return off > 0 ? 0 : 1;
	freedom = (of_a + of_b) * (of_a + of_b) /
		  (of_a * of_a / fmax(n_a - 1, 1) + of_b * of_b / fmax(n_b - 1, 1));
	return gsl_cdf_tdist_Q(off / sqrt(of_a + of_b), freedom);
}

double rate_more(const struct rate *a, const struct rate *b, double margin)
{
	return p_of_ratio(a, b, a->with > 0 ? margin : 1);
}

/* The ratio is above it with a probability of 97.5 %; 0: no bound. */
static double lower_bound(const struct rate *a, const struct rate *b)
{
	const double P = 0.025, LEAST = 1e-6;
	double low = log(LEAST), high = -low;

	if (p_of_ratio(a, b, LEAST) > P)
		return 0;
	for (int i = 0; i < 50; i++) {
		double middle = (low + high) / 2;

		*(p_of_ratio(a, b, exp(middle)) > P ? &high : &low) = middle;
	}
	return exp(low);
}

void rate_ratio_interval(const struct rate *a, const struct rate *b, double *ret_low, double *ret_high)
{
	*ret_low = lower_bound(a, b);
	*ret_high = 1 / lower_bound(b, a);
}
