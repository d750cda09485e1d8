/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two samples of times differ, by ratios, by ranks and by means: see compare.h. */
#include "lib/stats/compare.h"

#include "lib/stats/pairs.h"
#include "lib/stats/rounding.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

enum {
	LEAST_ROBUST = 6,
	MOST_ROBUST = 2000, /* pairs: the robust mean takes memory for their square */
	MOST_EXACT_ROBUST = 60,
	LEAST_NEIGHBOURS = 4,
	MOST_EXACT_RANKS = 40, /* n_a + n_b up to which all permutations are counted */
};
static const double LEVEL = 0.05, POWER = 0.8, CHANCE_OF_LESS = 0.2;

/* The two-sided p-value of Student's t. */
static double p_of(double t, double df)
{
	return 2 * gsl_cdf_tdist_Q(fabs(t), df);
}

/* The greatest number that the sum of the ranks of positive differences of n pairs is below with a
 * probability of at most LEVEL / 2: of few pairs exact, by counting the subsets of 1 … n; of many
 * by the normal approximation. */
static size_t signed_rank_limit(size_t n)
{
	size_t m = n * (n + 1) / 2, limit = 0;
	_cleanup_(freep) double *p = NULL; /* of each sum of ranks */
	double below = 0;

	if (n > MOST_EXACT_ROBUST) {
		double sd = sqrt((double)m * (2 * (double)n + 1) / 12);
		double reach = gsl_cdf_ugaussian_Pinv(1 - LEVEL / 2) * sd;

		return (size_t)fmax(0, floor((double)m / 2 - reach));
	}
	p = xcalloc(m + 1, sizeof(*p));
	p[0] = 1;
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t sum = m + 1; sum-- > 0;)
			p[sum] = (p[sum] + (sum >= rank ? p[sum - rank] : 0)) / 2;
	while (limit < m && below + p[limit] <= LEVEL / 2)
		below += p[limit++];
	return limit;
}

/* The median of the means of all pairs of values, each with itself too, and the interval of its
 * test (Wilcoxon 1945): between the means whose rank is signed_rank_limit() from either end. */
static void find_robust(struct log_ratio *r, const double *logs, size_t n)
{
	size_t m = n * (n + 1) / 2, k = 0, limit = signed_rank_limit(n);
	_cleanup_(freep) double *walsh = xcalloc(m, sizeof(*walsh));

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			walsh[k++] = (logs[i] + logs[j]) / 2;
	gsl_sort(walsh, 1, m);
	r->robust = gsl_stats_median_from_sorted_data(walsh, 1, m);
	if (limit > 0) {
		r->robust_low = walsh[limit - 1];
		r->robust_high = walsh[m - limit];
	}
}

/* The mean of logs[n] and its standard error. The first n_first began the other way round: with two
 * of each kind and more, the means of both count alike, and the sd is within them. */
static void find_log_mean(struct log_ratio *r, const double *logs, size_t n_first, size_t n)
{
	size_t n_second = n - n_first;

	if (n_first >= 2 && n_second >= 2) {
		double squares = gsl_stats_tss(logs, 1, n_first) +
				 gsl_stats_tss(logs + n_first, 1, n_second);
		double means = gsl_stats_mean(logs, 1, n_first) +
			       gsl_stats_mean(logs + n_first, 1, n_second);

		r->df = (double)(n - 2);
		r->sd = sqrt(squares / r->df);
		r->mean = means / 2;
		r->se = r->sd * sqrt(1 / (double)n_first + 1 / (double)n_second) / 2;
		return;
	}
	if (n > 0)
		r->mean = gsl_stats_mean(logs, 1, n);
	if (n >= 2) {
		r->df = (double)(n - 1);
		r->sd = sqrt(gsl_stats_tss(logs, 1, n) / r->df);
		r->se = r->sd / sqrt((double)n);
	}
}

/* The sd of the logarithms as if the pairs had been taken in turn: of a of one pair and b of the
 * next, and of b of one and a of the next. */
static double sd_of_neighbours(const int64_t *a_ns, const int64_t *b_ns, size_t n)
{
	_cleanup_(freep) double *logs = xcalloc(2 * n, sizeof(*logs));
	double *ahead = logs, *behind = logs + n;
	double squares;

	for (size_t i = 0; i + 1 < n; i++) {
		ahead[i] = log((double)b_ns[i + 1] / (double)a_ns[i]);
		behind[i] = log((double)b_ns[i] / (double)a_ns[i + 1]);
	}
	squares = gsl_stats_tss(ahead, 1, n - 1) + gsl_stats_tss(behind, 1, n - 1);
	return sqrt(squares / (double)(2 * (n - 1) - 2));
}

struct log_ratio log_ratio_of(
	const int64_t *a_ns, const int64_t *b_ns, const bool *a_first, size_t n)
{
	_cleanup_(freep) double *logs = xcalloc(2 * n + 1, sizeof(*logs));
	struct log_ratio r = {n, NAN, NAN, NAN, NAN, .robust = NAN, .robust_low = NAN,
		.robust_high = NAN, .neighbours_sd = NAN};
	double *sorted = logs + n; /* those that a began, then the others */
	size_t n_first = 0, first = 0, second;

	for (size_t i = 0; i < n; i++)
		n_first += a_first && a_first[i];
	second = n_first;
	for (size_t i = 0; i < n; i++) {
		logs[i] = log((double)b_ns[i] / (double)a_ns[i]);
		if (a_first && a_first[i])
			sorted[first++] = logs[i];
		else
			sorted[second++] = logs[i];
	}

	if (n_first >= 2 && n - n_first >= 2)
		find_log_mean(&r, sorted, n_first, n);
	else
		find_log_mean(&r, logs, 0, n);
	if (n >= LEAST_ROBUST && n <= MOST_ROBUST)
		find_robust(&r, logs, n);
	if (n >= LEAST_NEIGHBOURS)
		r.neighbours_sd = sd_of_neighbours(a_ns, b_ns, n);
	return r;
}

/* The degrees of freedom of a sum of independent estimates, of which the second and the third are
 * errors beside the scatter (Satterthwaite 1946). */
static double df_with_errors(
	double variance, double df, struct mean_error first, struct mean_error second)
{
	double all = variance + first.variance + second.variance;
	double divisor = variance > 0 ? variance * variance / df : 0;

	if (first.variance > 0)
		divisor += first.variance * first.variance / first.df;
	if (second.variance > 0)
		divisor += second.variance * second.variance / second.df;
	return divisor > 0 ? all * all / divisor : df;
}

void log_ratio_add_error(struct log_ratio *r, struct mean_error error)
{
	double se = sqrt(r->se * r->se + error.variance), more;

	if (!(error.variance > 0) || isnan(r->se))
		return;
	r->df = df_with_errors(r->se * r->se, r->df, error, (struct mean_error){});
	/* the signed ranks know nothing of it either */
	more = r->se > 0 ? se / r->se : 1;
	r->robust_low = r->robust - more * (r->robust - r->robust_low);
	r->robust_high = r->robust + more * (r->robust_high - r->robust);
	r->se = se;
}

double log_ratio_half(const struct log_ratio *r, double alpha)
{
	return isnan(r->se) ? NAN : gsl_cdf_tdist_Pinv(1 - alpha / 2, r->df) * r->se;
}

struct ranked {
	int64_t value;
	bool of_b;
	size_t twice_rank; /* tied values share their mean rank, which may be a half */
};

static int rank_by_value(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	return (a->value > b->value) - (a->value < b->value);
}

/* In how many ways n_b of the ranks give each sum: the ranks are taken one by one (Streitberg &
 * Röhmel 1986). The share of those whose sum is as far from the expected one as `twice_sum`. */
static double mann_whitney_exact(const struct ranked *all, size_t n, size_t n_b, size_t twice_sum)
{
	size_t width = n * (n + 1) + 1, expected = n_b * (n + 1);
	size_t off = twice_sum > expected ? twice_sum - expected : expected - twice_sum;
	_cleanup_(freep) double *ways = xcalloc(
		(n_b + 1) * width, sizeof(*ways)); /* rows: number of values of b */
	double as_far = 0, total = 0;

	ways[0] = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = n_b; k >= 1; k--)
			for (size_t sum = width; sum-- > all[i].twice_rank;)
				ways[k * width + sum] +=
					ways[(k - 1) * width + sum - all[i].twice_rank];
	for (size_t sum = 0; sum < width; sum++) {
		total += ways[n_b * width + sum];
		if (sum + off <= expected || sum >= expected + off)
			as_far += ways[n_b * width + sum];
	}
	return as_far / total;
}

/* The test of Mann and Whitney: whether the values of one sample tend to be greater than those of
 * another, whatever their distribution. From all permutations of the ranks, tied or not; of many
 * values by the normal approximation, corrected for ties and continuity (Lehmann 1975). At least
 * one value each. */
static void mann_whitney(
	struct comparison *c, const int64_t *a, size_t n_a, const int64_t *b, size_t n_b)
{
	size_t n = n_a + n_b, twice_sum = 0;
	_cleanup_(freep) struct ranked *all = xcalloc(n, sizeof(*all));
	double ties = 0 /* t³ - t, summed over groups of t equal values */;
	double pairs = (double)n_a * (double)n_b, sd, off;

	for (size_t i = 0; i < n; i++)
		all[i] = (struct ranked){.value = i < n_a ? a[i] : b[i - n_a], .of_b = i >= n_a};
	qsort(all, n, sizeof(*all), rank_by_value);
	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && all[end].value == all[i].value; end++)
			;
		t = (double)(end - i);
		ties += t * t * t - t;
		for (size_t k = i; k < end; k++) {
			all[k].twice_rank = i + 1 + end;
			twice_sum += all[k].of_b ? all[k].twice_rank : 0;
		}
	}
	c->mann_whitney_u = ((double)twice_sum - (double)n_b * (double)(n_b + 1)) / 2;
	if (n <= MOST_EXACT_RANKS) {
		c->mann_whitney_p = mann_whitney_exact(all, n, n_b, twice_sum);
		return;
	}
	sd = sqrt(pairs / 12 * ((double)n + 1 - ties / ((double)n * ((double)n - 1))));
	off = fmax(0, fabs(c->mann_whitney_u - pairs / 2) - 0.5);
	c->mann_whitney_p = sd > 0 ? fmin(1, 2 * gsl_cdf_ugaussian_Q(off / sd)) : 1;
}

/* Of the mean. */
static double variance_of_mean(const struct summary *s)
{
	return s->n < 2 ? NAN : s->sd_ns * s->sd_ns / (double)s->n;
}

/* Degrees of freedom after Satterthwaite (1946) and Welch (1947), of mean a - mean b. */
static double welch_df(const struct summary *a, const struct summary *b)
{
	double va = variance_of_mean(a), vb = variance_of_mean(b);

	return (va + vb) * (va + vb) /
	       (va * va / (double)(a->n - 1) + vb * vb / (double)(b->n - 1));
}

double detectable_difference(double df, double alpha)
{
	return gsl_cdf_tdist_Pinv(1 - alpha / 2, df) + gsl_cdf_tdist_Pinv(POWER, df);
}

/* The ratios r > 0 for which mean b - r * mean a is not different from 0 (Fieller 1954). If a's
 * mean may be 0 they have no upper bound, but a lower one, if b's may not. False: there are no
 * bounds. */
static bool fieller(
	const struct comparison *c, double a, double b, double t, double *ret_low, double *ret_high)
{
	double square = a * a - t * t * c->variance_a, middle = a * b - t * t * c->covariance;
	double of_b = b * b - t * t * c->variance_b, root = middle * middle - square * of_b;

	if (!(root >= 0) || !(square > 0 || of_b > 0))
		return false;
	*ret_low = fmax(0, (middle - sqrt(root)) / square); /* no time is below 0 */
	*ret_high = square > 0 ? (middle + sqrt(root)) / square : INFINITY;
	return true;
}

/* By how much the clock's steps may change the logarithm of a duet's ratio. */
static double steps_of_duet(const struct comparison *c)
{
	return c->bias_a / c->mean_a + c->bias_b / c->mean_b;
}

/* The logarithm of a duet's ratio is off by the clock's steps and by what sharing added to either
 * time, that is, by something between two bounds. How far these are apart, in standard errors. */
static double width_of_duet(const struct comparison *c, double se)
{
	double width = 2 * steps_of_duet(c) - log1p(-c->shared_a) - log1p(-c->shared_b);

	return se > 0 ? width / se : 0;
}

/* The chance of an estimate that is by so many standard errors beyond one bound, or beyond the
 * other, if the true ratio is at the first one (Imbens and Manski 2004). */
static double p_of_bounded(double beyond, double width, double df)
{
	return fmin(1, gsl_cdf_tdist_Q(beyond, df) + gsl_cdf_tdist_Q(beyond + width, df));
}

/* For which that is `alpha`. */
static double bounded_quantile(double alpha, double width, double df)
{
	double low = gsl_cdf_tdist_Qinv(alpha, df), high = gsl_cdf_tdist_Qinv(alpha / 2, df);

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (p_of_bounded(middle, width, df) > alpha)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double comparison_duet_quantile(const struct comparison *c, double se, double df)
{
	return bounded_quantile(c->alpha, width_of_duet(c, se), df);
}

/* At that level, the least difference that the test finds, as a share of a's mean; and the interval
 * of the ratio, for the worst that the clock's steps may do to both means. That of a duet is by its
 * logarithms, and for whatever sharing may have added to either of them. */
static void find_interval(struct comparison *c, double alpha)
{
	double a = c->mean_a, b = c->mean_b, t = gsl_cdf_tdist_Qinv(alpha / 2, c->df);
	double se = sqrt(c->variance_a + c->variance_b - 2 * c->covariance) / a;
	double bias = (c->bias_a + c->bias_b) / a, half, unused;

	c->alpha = alpha;
	c->ratio_low = c->ratio_high = NAN;
	if (c->design == DESIGN_DUET) {
		se = c->log_ratio.se;
		t = comparison_duet_quantile(c, se, c->df);
		bias = steps_of_duet(c);
		half = t * se + bias;
		c->ratio_low = exp(c->log_ratio.mean - half) * (1 - c->shared_b);
		c->ratio_high = exp(c->log_ratio.mean + half) / (1 - c->shared_a);
		bias -= log1p(-fmax(c->shared_a, c->shared_b));
	} else if (!fieller(c, a + c->bias_a, b - c->bias_b, t, &c->ratio_low, &unused) ||
		   !fieller(c, a - c->bias_a, b + c->bias_b, t, &unused, &c->ratio_high)) {
		c->ratio_low = c->ratio_high = NAN;
	}
	c->smallest_difference = (t + gsl_cdf_tdist_Pinv(POWER, c->df)) * se + bias;
	if (isinf(c->smallest_difference)) /* all of a time may be for sharing */
		c->smallest_difference = NAN;
}

/* An estimate of a variance with so many degrees of freedom is hardly ever less than this share of
 * it: the quantile CHANCE_OF_LESS of chi² / df, by Wilson and Hilferty (1931). */
static double least_of_variance(double df)
{
	double spread = 2 / (9 * df);

	return pow(1 - spread + gsl_cdf_ugaussian_Pinv(CHANCE_OF_LESS) * sqrt(spread), 3);
}

/* Of pairs, the means without the drift between both of a pair. */
static void find_pair_means(
	struct comparison *c, const struct sample_times *at, const int64_t *a, const int64_t *b)
{
	_cleanup_(freep) struct sample_pair *pairs = xcalloc(c->a.n, sizeof(*pairs));
	struct pair_means means;

	for (size_t i = 0; i < c->a.n; i++) {
		pairs[i] = (struct sample_pair){.a = (double)a[i], .b = (double)b[i]};
		if (at) {
			pairs[i].a_at = at[i].a;
			pairs[i].b_at = at[i].b;
		}
	}
	means = pair_means_of(pairs, c->a.n);
	c->mean_a = means.a;
	c->mean_b = means.b;
	c->variance_a = means.variance_a;
	c->variance_b = means.variance_b;
	c->covariance = means.covariance;
	c->df = means.df;
	c->ratio = c->mean_b / c->mean_a;
}

/* The means of separate runs vary by what runs have in themselves, too (Kalibera & Jones 2013). The
 * degrees of freedom of the sum of three variances are Satterthwaite's (1946). If few runs show the
 * variance between them, it may be greater than they say, and so may its part of the degrees of
 * freedom. */
static void add_variance_between(struct comparison *c, double share, double df)
{
	double of_a = c->variance_a, of_b = c->variance_b;
	double between_a = share * share * c->mean_a * c->mean_a;
	double between_b = share * share * c->mean_b * c->mean_b;
	double most = (between_a + between_b) / least_of_variance(df);
	double all = of_a + of_b + most;

	c->variance_a += between_a;
	c->variance_b += between_b;
	c->df = all * all /
		(of_a * of_a / (double)(c->a.n - 1) + of_b * of_b / (double)(c->b.n - 1) +
			most * most / df);
}

/* The means that are compared, their variances and the degrees of freedom, by how the samples were
 * taken. */
static void find_means(
	struct comparison *c, const struct compare_plan *plan, const int64_t *a, const int64_t *b)
{
	c->variance_a = variance_of_mean(&c->a);
	c->variance_b = variance_of_mean(&c->b);
	c->df = welch_df(&c->a, &c->b);
	if (plan->design == DESIGN_PAIRS)
		find_pair_means(c, plan->at, a, b);
	else if (plan->design == DESIGN_BETWEEN)
		add_variance_between(c, plan->between, plan->between_df);
}

/* What a clock with these steps adds: at least its own variance, and a bias. */
static void add_rounding(struct comparison *c, int64_t step_ns, const int64_t *a, const int64_t *b)
{
	struct rounding of_a = rounding_of(a, c->a.n, step_ns),
			of_b = rounding_of(b, c->b.n, step_ns);
	double least = of_a.variance + of_b.variance;
	double missing = least - (c->variance_a + c->variance_b - 2 * c->covariance);
	struct log_ratio *l = &c->log_ratio;

	c->bias_a = of_a.bias_ns;
	c->bias_b = of_b.bias_ns;
	if (c->design == DESIGN_DUET) {
		double bias = steps_of_duet(c);

		l->se = fmax(l->se, sqrt(of_a.variance / c->mean_a / c->mean_a +
					    of_b.variance / c->mean_b / c->mean_b));
		l->robust_low += log1p(-c->shared_b) - bias;
		l->robust_high -= log1p(-c->shared_a) - bias;
	} else if (missing > 0) {
		c->variance_a += missing / 2;
		c->variance_b += missing / 2;
		c->df = isnan(c->df) ? (double)(c->a.n + c->b.n - 2) : c->df;
	}
}

/* What is uncertain about the means beside the scatter of the times. */
static void add_errors(struct comparison *c, struct mean_error a, struct mean_error b)
{
	double variance = c->variance_a + c->variance_b - 2 * c->covariance;

	c->fixed_a = a.variance;
	c->fixed_b = b.variance;
	if (c->design == DESIGN_DUET) {
		a.variance /= c->mean_a * c->mean_a;
		b.variance /= c->mean_b * c->mean_b;
		log_ratio_add_error(&c->log_ratio, a);
		log_ratio_add_error(&c->log_ratio, b);
		c->df = c->log_ratio.df;
		return;
	}
	c->df = df_with_errors(variance, c->df, a, b);
	c->variance_a += a.variance;
	c->variance_b += b.variance;
}

/* By how much more than the clock's steps and sharing explain the means differ, in standard
 * errors. */
static void judge_difference(struct comparison *c)
{
	double off = c->mean_b - c->mean_a, bias = c->bias_a + c->bias_b;
	double se = sqrt(c->variance_a + c->variance_b - 2 * c->covariance);

	if (c->design == DESIGN_DUET) {
		off = c->log_ratio.mean;
		bias = steps_of_duet(c) - log1p(-(off > 0 ? c->shared_b : c->shared_a));
		se = c->log_ratio.se;
	}
	c->t = copysign(fmax(0, fabs(off) - bias) / se, off);
	c->p = c->design == DESIGN_DUET
		       ? p_of_bounded((fabs(off) - bias) / se, width_of_duet(c, se), c->df)
		       : p_of(c->t, c->df);
	find_interval(c, LEVEL);
}

int compare(const int64_t *a_ns, size_t n_a, const int64_t *b_ns, size_t n_b,
	const struct compare_plan *plan, struct comparison *ret, struct error *err)
{
	bool judged = n_a > 1 && n_b > 1 && plan->design != DESIGN_SEPARATE;
	struct comparison c = {
		.design = plan->design,
		.shared_a = plan->shared_a,
		.shared_b = plan->shared_b,
		.ratio_low = NAN,
		.ratio_high = NAN,
		.alpha = LEVEL,
		.t = NAN,
		.df = NAN,
		.p = NAN,
		.welch_p = NAN,
		.smallest_difference = NAN,
	};
	double spread;

	if (n_a == 0 || n_b == 0)
		return error_say(err, -EINVAL, "cannot compare: one of the two has no samples");
	c.a = summary_of(a_ns, n_a);
	c.b = summary_of(b_ns, n_b);
	if (c.a.mean_ns <= 0)
		return error_say(err, -EINVAL, "cannot compare: the mean of the first is 0");

	c.mean_a = c.a.mean_ns;
	c.mean_b = c.b.mean_ns;
	c.ratio = c.mean_b / c.mean_a;
	spread = variance_of_mean(&c.a) + variance_of_mean(&c.b);
	if (spread > 0)
		c.welch_p = p_of((c.b.mean_ns - c.a.mean_ns) / sqrt(spread), welch_df(&c.a, &c.b));
	mann_whitney(&c, a_ns, n_a, b_ns, n_b);

	if (plan->design == DESIGN_DUET) {
		c.log_ratio = log_ratio_of(a_ns, b_ns, plan->a_first, n_a);
		c.ratio = exp(c.log_ratio.mean);
		c.df = c.log_ratio.df;
	} else if (judged) {
		find_means(&c, plan, a_ns, b_ns);
	}
	if (judged) {
		c.step_ns = rounding_step(a_ns, n_a, b_ns, n_b, plan->step_ns);
		add_rounding(&c, c.step_ns, a_ns, b_ns);
		add_errors(&c, plan->error_a, plan->error_b);
		judge_difference(&c);
	}
	c.p_adjusted = c.p;
	*ret = c;
	return 0;
}

static int by_p(const void *x, const void *y)
{
	const struct comparison *a = *(struct comparison *const *)x,
				*b = *(struct comparison *const *)y;

	return (a->p > b->p) - (a->p < b->p);
}

/* The interval and the minimum detectable difference are at the level that the p-value was tested
 * at, so that all say the same. */
void comparisons_adjust(struct comparison *const *comparisons, size_t n)
{
	_cleanup_(freep) struct comparison **known = xcalloc(n + 1, sizeof(struct comparison *));
	double least = 0, alpha = LEVEL;
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(comparisons[i]->p))
			known[m++] = comparisons[i];
	qsort(known, m, sizeof(*known), by_p);
	for (size_t i = 0; i < m; i++) {
		/* the first that is not rejected, and all after it, keep its level */
		if (least < LEVEL)
			alpha = LEVEL / (double)(m - i);
		least = fmin(1, fmax(least, known[i]->p * (double)(m - i)));
		known[i]->p_adjusted = least;
		find_interval(known[i], alpha);
	}
}
