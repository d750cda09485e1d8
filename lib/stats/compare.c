/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two samples of times differ: see compare.h. */
#include "lib/stats/compare.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/stats/mann_whitney.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

static const double LEVEL = 0.05, POWER = 0.8;

/* Variance of the mean. */
static double variance(const struct summary *s)
{
	return s->n < 2 ? NAN : s->sd_ns * s->sd_ns / (double)s->n;
}

/* Degrees of freedom after Satterthwaite (1946) and Welch (1947), of scale_a * mean a - mean b. */
static double degrees(const struct summary *a, const struct summary *b)
{
	double va = variance(a), vb = variance(b);

	return (va + vb) * (va + vb) / (va * va / (double)(a->n - 1) + vb * vb / (double)(b->n - 1));
}

static double p_of(double t, double df)
{
	return 2 * gsl_cdf_tdist_Q(fabs(t), df);
}

static double welch_p(const struct comparison *c)
{
	double spread = variance(&c->a) + variance(&c->b);

	return spread > 0 ? p_of((c->b.mean_ns - c->a.mean_ns) / sqrt(spread), degrees(&c->a, &c->b)) : NAN;
}

static double covariance_of_means(const struct comparison *c, const int64_t *a, const int64_t *b)
{
	double sum = 0, n = (double)c->a.n;

	for (size_t i = 0; i < c->a.n; i++)
		sum += ((double)a[i] - c->a.mean_ns) * ((double)b[i] - c->b.mean_ns);
	return sum / (n - 1) / n;
}

/* The variances of both means and the degrees of freedom, by how the samples were taken. */
static void spread_of(
	struct comparison *c, const struct compare_plan *plan, const int64_t *a, const int64_t *b)
{
	double between = plan->between * plan->between;

	c->variance_a = variance(&c->a);
	c->variance_b = variance(&c->b);
	c->df = degrees(&c->a, &c->b);
	if (plan->design == DESIGN_PAIRS) {
		c->covariance = covariance_of_means(c, a, b);
		c->df = (double)(c->a.n - 1);
	} else if (plan->design == DESIGN_BETWEEN) {
		/* The means of separate runs vary by what runs have in themselves, too (Kalibera & Jones 2013). */
		c->variance_a = fmax(c->variance_a, between * c->a.mean_ns * c->a.mean_ns);
		c->variance_b = fmax(c->variance_b, between * c->b.mean_ns * c->b.mean_ns);
		c->df = plan->between_df;
	}
}

/* The least difference that a test at the level alpha finds with that power, as a share of a's mean. */
static void find_smallest_difference(struct comparison *c, double alpha)
{
	double spread = c->variance_a + c->variance_b - 2 * c->covariance;
	double se = c->design == DESIGN_DUET ? c->log_ratio.se : sqrt(spread) / c->a.mean_ns;

	c->smallest_difference =
		(gsl_cdf_tdist_Pinv(1 - alpha / 2, c->df) + gsl_cdf_tdist_Pinv(POWER, c->df)) * se;
}

static void find_log_interval(struct comparison *c, double alpha)
{
	double half = log_ratio_half(&c->log_ratio, alpha);

	c->alpha = alpha;
	c->ratio_low = exp(c->log_ratio.mean - half);
	c->ratio_high = exp(c->log_ratio.mean + half);
}

static int judge_log_ratios(
	struct comparison *c, const struct compare_plan *plan, const int64_t *a, const int64_t *b)
{
	const struct log_ratio *l = &c->log_ratio;
	int r = log_ratio_of(a, b, plan->a_first, c->a.n, &c->log_ratio);

	if (r < 0)
		return r;
	c->ratio = exp(l->mean);
	if (isnan(l->se))
		return 0;
	c->t = l->mean / l->se;
	c->df = l->df;
	c->p = log_ratio_p(l);
	find_smallest_difference(c, LEVEL);
	find_log_interval(c, LEVEL);
	return 0;
}

/* The ratios r for which mean b - r * mean a is not different from 0 (Fieller 1954). */
static void find_interval(struct comparison *c, double alpha)
{
	double a = c->a.mean_ns, b = c->b.mean_ns, t = gsl_cdf_tdist_Pinv(1 - alpha / 2, c->df), tt = t * t;
	double square = a * a - tt * c->variance_a, middle = a * b - tt * c->covariance;
	double root = middle * middle - square * (b * b - tt * c->variance_b);

	if (c->design == DESIGN_DUET) {
		find_log_interval(c, alpha);
		return;
	}
	c->alpha = alpha;
	c->ratio_low = c->ratio_high = NAN;
	if (square <= 0 || root < 0)
		return;
	c->ratio_low = fmax(0, (middle - sqrt(root)) / square); /* no time is below 0 */
	c->ratio_high = (middle + sqrt(root)) / square;
}

/* Constant times, such as those in whole ticks: equal ones do not differ; others do if enough of them say so. */
static void judge_constants(struct comparison *c)
{
	c->p = c->a.mean_ns == c->b.mean_ns ? 1 : c->mann_whitney_p;
	if (c->p == 1 || c->p < LEVEL)
		c->ratio_low = c->ratio_high = c->ratio;
}

static void judge_means(
	struct comparison *c, const struct compare_plan *plan, const int64_t *a, const int64_t *b)
{
	double spread;

	if (c->a.n < 2 || c->b.n < 2 || plan->design == DESIGN_SEPARATE)
		return;
	spread_of(c, plan, a, b);
	spread = c->variance_a + c->variance_b - 2 * c->covariance;
	if (spread <= 0) {
		judge_constants(c);
		return;
	}
	c->t = (c->b.mean_ns - c->a.mean_ns) / sqrt(spread);
	c->p = p_of(c->t, c->df);
	find_smallest_difference(c, LEVEL);
	find_interval(c, LEVEL);
}

int compare(const int64_t *a_ns, size_t n_a, const int64_t *b_ns, size_t n_b, const struct compare_plan *plan,
	struct comparison *ret, struct error *err)
{
	struct comparison c = {
		.design = plan->design,
		.ratio_low = NAN,
		.ratio_high = NAN,
		.alpha = LEVEL,
		.t = NAN,
		.df = NAN,
		.p = NAN,
		.smallest_difference = NAN,
	};

	if (n_a == 0 || n_b == 0)
		return error_say(err, -EINVAL, "cannot compare: one of the two has no samples");
	c.a = summary_of(a_ns, n_a);
	c.b = summary_of(b_ns, n_b);
	if (c.a.mean_ns <= 0)
		return error_say(err, -EINVAL, "cannot compare: the mean of the first is 0");
	c.ratio = c.b.mean_ns / c.a.mean_ns;
	c.welch_p = welch_p(&c);
	if (mann_whitney(a_ns, n_a, b_ns, n_b, &c.mann_whitney_u, &c.mann_whitney_p) < 0)
		return error_oom(err);
	if (plan->design != DESIGN_DUET)
		judge_means(&c, plan, a_ns, b_ns);
	else if (judge_log_ratios(&c, plan, a_ns, b_ns) < 0)
		return error_oom(err);
	c.p_adjusted = c.p;
	*ret = c;
	return 0;
}

static int by_p(const void *x, const void *y)
{
	const struct comparison *a = *(struct comparison *const *)x, *b = *(struct comparison *const *)y;

	return (a->p > b->p) - (a->p < b->p);
}

/* The interval and the minimum detectable difference are at the level that the p-value was tested at, so that all say
 * the same. */
int comparisons_adjust(struct comparison *const *comparisons, size_t n)
{
	_cleanup_(freep) struct comparison **known = xcalloc(n + 1, sizeof(struct comparison *));
	double least = 0, alpha = LEVEL;
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(comparisons[i]->p))
			known[m++] = comparisons[i];
	qsort(known, m, sizeof(*known), by_p);
	for (size_t i = 0; i < m; i++) {
		if (least < LEVEL) /* the first that is not rejected, and all after it, keep its level */
			alpha = LEVEL / (double)(m - i);
		least = fmin(1, fmax(least, known[i]->p * (double)(m - i)));
		known[i]->p_adjusted = least;
		if (!isnan(known[i]->t)) {
			find_interval(known[i], alpha);
			find_smallest_difference(known[i], alpha);
		} else if (least >= LEVEL && known[i]->p < 1)
			known[i]->ratio_low = known[i]->ratio_high = NAN;
	}
	return 0;
}
