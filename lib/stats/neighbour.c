/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slope of a program, by regression, and times without the neighbour: see neighbour.h.
 *
 * In run r, log time = a_r - log(1 - k s) + noise. k is found by Gauss and Newton's method, with a
 * level a_r for each run. Shares have errors, which make the slope of any regression too small: the
 * score is corrected by their variance (Stefanski & Carroll 1987). */
#include "lib/stats/neighbour.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* Programs lose 0 to a half of their speed. */
const struct neighbour_slope neighbour_slope_unknown = {.k = 0.3, .error = 0.15, .df = 30};

/* How k varies from one neighbour to the next, unless runs show it: this share of k, and this. */
static const double VARIES_BY = 0.12, VARIES_LEAST = 0.01;
/* As if that had been seen in so many runs more. */
static const double VARIES_DF = 5;
static const double LEAST_SLOPE = -0.25;
/* A run tells nothing if the errors of its shares explain more of their sum of squares. */
static const double MOST_ERROR = 0.5;
/* Shares with an sd below this are equal. */
static const double LEAST_SPREAD = 1e-3;
/* The square of the difference of two estimates in standard errors is seldom more. */
static const double MOST_APART = 4;
enum { STEPS = 30 };

/* Sums over the samples of one run, at some k. */
struct run_sums {
	size_t n;
	double squares;  /* of the regressor's differences from its mean: information about k */
	double errors;   /* what the errors of shares add to them */
	double score;    /* 0 where k is the run's own slope */
	double variance; /* of the score */
	double leverage; /* sum of (squares of each sample)² */
};

static double log_without(const struct neighbour_sample *s, double k)
{
	return log((double)s->time_ns) + log1p(-k * s->share);
}

/* How log time changes with k. */
static double regressor(const struct neighbour_sample *s, double k)
{
	return s->share / (1 - k * s->share);
}

static double share_noise(const struct neighbour_sample *s, double k)
{
	double at = 1 - k * s->share;

	return s->share_error * s->share_error / (at * at * at);
}

/* The variance of a sum of such values, in the order of time: of successive ones the products
 * count, too, because one visit of a neighbour disturbs several samples alike (Newey & West
 * 1987). */
static double score_variance(const double *scores, size_t n)
{
	size_t lags = (size_t)ceil(cbrt((double)n));
	double alone = 0, all;

	for (size_t i = 0; i < n; i++)
		alone += scores[i] * scores[i];
	all = alone;
	for (size_t lag = 1; lag <= lags && lag < n; lag++)
		for (size_t i = lag; i < n; i++)
			all += 2 * (1 - (double)lag / (double)(lags + 1)) * scores[i] *
			       scores[i - lag];
	return fmax(all, alone);
}

/* with_variance: without it, that is 0, which is faster. Residuals count as greater by the leverage
 * of their samples in it (HC3, MacKinnon & White 1985). */
static struct run_sums sum_run(
	const struct neighbour_sample *samples, size_t n, double k, bool with_variance)
{
	_cleanup_(freep) double *scores = xcalloc(n, sizeof(*scores));
	struct run_sums sums = {.n = n};
	double level = 0, mean = 0, count = (double)n;

	for (size_t i = 0; i < n; i++) {
		level += log_without(&samples[i], k) / count;
		mean += regressor(&samples[i], k) / count;
	}
	for (size_t i = 0; i < n; i++) {
		double off = regressor(&samples[i], k) - mean;
		double noise = share_noise(&samples[i], k) * (1 - 1 / count);

		sums.squares += off * off;
		sums.leverage += off * off * off * off;
		sums.errors += noise;
		scores[i] = off * (log_without(&samples[i], k) - level) + k * noise;
		sums.score += scores[i];
	}
	if (!with_variance)
		return sums;
	for (size_t i = 0; i < n && sums.squares > 0; i++) {
		double off = regressor(&samples[i], k) - mean;

		scores[i] /= fmax(1 - 1 / count - off * off / sums.squares, 1 / count);
	}
	sums.variance = score_variance(scores, n);
	return sums;
}

/* What the regression tells of k, in the runs that have it in common. */
struct slope_fit {
	double k;
	double squares; /* without the errors of shares; 0: the shares tell nothing */
	double noise;   /* variance of k from the noise of samples */
	double df;      /* of that */
	size_t runs;
	double between_scores; /* sum over the runs of score² / squares */
	double squares_of_squares;
};

static size_t run_end(const struct neighbour_sample *samples, size_t n, size_t begin)
{
	size_t end = begin;

	while (end < n && samples[end].run == samples[begin].run)
		end++;
	return end;
}

/* One step: *fit at fit->k. Returns the k after it. */
static double sum_runs(
	const struct neighbour_sample *samples, size_t n, bool with_variance, struct slope_fit *fit)
{
	double squares = 0, errors = 0, score = 0, variance = 0, leverage = 0, left;

	fit->runs = 0;
	fit->between_scores = fit->squares_of_squares = 0;
	for (size_t i = 0, end; i < n; i = end) {
		struct run_sums run;

		end = run_end(samples, n, i);
		run = sum_run(samples + i, end - i, fit->k, with_variance);
		if (run.n < 3 || run.squares < (double)run.n * LEAST_SPREAD * LEAST_SPREAD ||
			run.squares < run.errors / MOST_ERROR)
			continue;
		left = run.squares - run.errors;
		squares += run.squares;
		errors += run.errors;
		score += run.score;
		variance += run.variance;
		leverage += run.leverage;
		fit->runs++;
		fit->between_scores += run.score * run.score / left;
		fit->squares_of_squares += left * left;
	}
	left = squares - errors;
	fit->squares = left;
	if (left <= 0)
		return fit->k;
	fit->noise = variance / (left * left);
	fit->df = squares * squares / leverage - 1;
	return fit->k + score / left;
}

static struct slope_fit fit_slope(const struct neighbour_sample *samples, size_t n)
{
	struct slope_fit fit = {.k = neighbour_slope_unknown.k};

	for (size_t step = 0; step < STEPS; step++) {
		double next = sum_runs(samples, n, false, &fit);

		next = fmin(fmax(next, LEAST_SLOPE), NEIGHBOUR_MOST_SLOPE);
		if (fit.squares <= 0 || fabs(next - fit.k) < 1e-7)
			break;
		fit.k = next;
	}
	sum_runs(samples, n, true, &fit);
	return fit;
}

/* The variance of k between runs beside different neighbours (DerSimonian & Laird 1986), with what
 * is usual counted as VARIES_DF runs more. It is never taken for less than usual: few runs had many
 * neighbours. */
static double variance_of_slopes(const struct slope_fit *fit)
{
	double usual = VARIES_BY * VARIES_BY * fit->k * fit->k + VARIES_LEAST * VARIES_LEAST;
	double seen = usual, df = (double)fit->runs - 1;
	double divisor = fit->squares - fit->squares_of_squares / fit->squares;

	if (fit->runs > 1 && divisor > 0)
		seen = (fit->between_scores - df * fit->noise * fit->squares) / divisor;
	return (VARIES_DF * usual + df * fmax(usual, seen)) / (VARIES_DF + df);
}

/* An estimate of a variance with few degrees of freedom counts as the variance of Student's t. */
static double with_df(double variance, double df)
{
	return df > 2 ? variance * df / (df - 2) : INFINITY;
}

/* Two independent estimates of one slope, weighted by their variances. If they are further apart
 * than their errors explain, the errors were greater (Birge 1932). */
static struct neighbour_slope slopes_join(
	const struct neighbour_slope *a, double b, double variance, double df)
{
	double of_a = 1 / (a->error * a->error), of_b = 1 / variance, all = of_a + of_b;
	double apart = (a->k - b) * (a->k - b) / (a->error * a->error + variance);

	return (struct neighbour_slope){
		.k = fmin(fmax((of_a * a->k + of_b * b) / all, 0), NEIGHBOUR_MOST_SLOPE),
		.error = sqrt(fmax(1, apart / MOST_APART) / all),
		.df = all * all / (of_a * of_a / a->df + of_b * of_b / df),
	};
}

struct neighbour_slope neighbour_slope_learn(const struct neighbour_sample *samples, size_t n)
{
	const struct neighbour_slope *unknown = &neighbour_slope_unknown;
	_cleanup_(freep) struct neighbour_sample *usable = xcalloc(n + 1, sizeof(*usable));
	struct neighbour_slope slope;
	struct slope_fit fit;
	double own, between, both;
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (samples[i].time_ns > 0)
			usable[m++] = samples[i];
	fit = fit_slope(usable, m);
	if (fit.squares <= 0 || !(fit.df > 2))
		return *unknown;

	between = variance_of_slopes(&fit);
	own = with_df(fit.noise, fit.df) +
	      between * fit.squares_of_squares / (fit.squares * fit.squares);
	slope = slopes_join(unknown, fit.k, own, fit.df);
	own = slope.error * slope.error;
	both = own + between;
	slope.df = both * both /
		   (own * own / slope.df + between * between / (VARIES_DF + (double)fit.runs - 1));
	slope.error = fmin(sqrt(both), unknown->error);
	return slope;
}

/* Which k takes the neighbour out of the mean, if k varies from one neighbour to the next by this
 * sd: the variance of what the regression says of it. Where there are samples without a neighbour,
 * it makes no difference how much the others vary. */
static double variance_by_varying(
	const struct neighbour_sample *samples, size_t n, double k, double sd)
{
	_cleanup_(freep) double *parts = xcalloc(n, sizeof(*parts));
	double sum = 0, squares = 0, mean;

	for (size_t i = 0; i < n; i++)
		sum += regressor(&samples[i], k);
	mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += pow(regressor(&samples[i], k) - mean, 2);
	for (size_t i = 0; i < n; i++) {
		double value = regressor(&samples[i], k);

		parts[i] = ((value - mean) / squares - 1 / sum) * value * sd;
	}
	return score_variance(parts, n);
}

struct neighbour_adjustment neighbour_adjust(const struct neighbour_sample *samples, size_t n,
	const struct neighbour_slope *earlier, int64_t *ret_ns)
{
	struct neighbour_adjustment a = {.slope = *earlier};
	struct slope_fit fit = {};
	double time = 0, beside = 0;
	bool usable = true;

	for (size_t i = 0; i < n; i++) {
		time += (double)samples[i].time_ns;
		beside += (double)samples[i].time_ns * samples[i].share;
		usable &= samples[i].time_ns > 0 && samples[i].run == samples[0].run;
	}
	if (usable)
		fit = fit_slope(samples, n);
	if (fit.squares > 0 && fit.df > 2) {
		double sd = sqrt(variance_of_slopes(&fit));
		double own = with_df(fit.noise, fit.df) +
			     variance_by_varying(samples, n, fit.k, sd);

		a.slope = slopes_join(earlier, fit.k, own, fit.df);
	}
	for (size_t i = 0; i < n; i++)
		ret_ns[i] = llround(
			neighbour_without((double)samples[i].time_ns, samples[i].share, a.slope.k));
	a.mean_share = time > 0 ? beside / time : 0;
	a.variance = pow(a.slope.error * beside / (double)n, 2);
	return a;
}

struct interval neighbour_interval(
	const struct neighbour_adjustment *a, double mean_ns, struct interval by_scatter)
{
	double half = gsl_cdf_tdist_Pinv(0.975, a->slope.df) * sqrt(a->variance);

	by_scatter.low_ns = mean_ns - hypot(mean_ns - by_scatter.low_ns, half);
	by_scatter.high_ns = mean_ns + hypot(by_scatter.high_ns - mean_ns, half);
	return by_scatter;
}
