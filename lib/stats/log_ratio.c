/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See log_ratio.h. */
#include "lib/stats/log_ratio.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum {
	LEAST_ROBUST = 6,
	MOST_ROBUST = 2000 /* it takes their square */,
	LEAST_NEIGHBOURS = 4,
	MOST_EXACT = 60
};
static const double LEVEL = 0.05;

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

/* Means of both orders apart. `logs` are sorted by order: the first n_first are of one. */
static void fit_orders(struct log_ratio *r, const double *logs, size_t n_first)
{
	size_t n_second = r->n - n_first;
	double squares = gsl_stats_tss(logs, 1, n_first) + gsl_stats_tss(logs + n_first, 1, n_second);

	r->df = (double)(r->n - 2);
	r->sd = sqrt(squares / r->df);
	r->mean = (gsl_stats_mean(logs, 1, n_first) + gsl_stats_mean(logs + n_first, 1, n_second)) / 2;
	r->se = r->sd * sqrt(1 / (double)n_first + 1 / (double)n_second) / 2;
}

static void fit(struct log_ratio *r, const double *logs)
{
	if (r->n > 0)
		r->mean = gsl_stats_mean(logs, 1, r->n);
	if (r->n < 2)
		return;
	r->df = (double)(r->n - 1);
	r->sd = sqrt(gsl_stats_tss(logs, 1, r->n) / r->df);
	r->se = r->sd / sqrt((double)r->n);
}

/* The greatest c such that the sum of the ranks of positive differences is below c with a probability of at most LEVEL / 2: exact
 * (counting subsets of 1 … n), then by the normal approximation (Wilcoxon 1945). 0: there is none. */
static size_t signed_rank_limit(size_t n)
{
	size_t most = n * (n + 1) / 2, limit = 0;
	_cleanup_(freep) double *p = n <= MOST_EXACT ? xcalloc(most + 1, sizeof(*p)) : NULL;
	double below = 0;

	if (!p)
		return (size_t)fmax(
			0, floor((double)most / 2 - gsl_cdf_ugaussian_Pinv(1 - LEVEL / 2) *
							    sqrt((double)most * (2 * (double)n + 1) / 12)));
	p[0] = 1;
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t sum = most + 1; sum-- > 0;)
			p[sum] = (p[sum] + (sum >= rank ? p[sum - rank] : 0)) / 2;
	while (limit < most && below + p[limit] <= LEVEL / 2)
		below += p[limit++];
	return limit;
}

/* The median of the means of all pairs of values, each with itself too, and the interval of its test. */
static int fit_robust(struct log_ratio *r, const double *logs)
{
	size_t n = r->n, m = n * (n + 1) / 2, k = 0, limit;
	_cleanup_(freep) double *walsh = xcalloc(m, sizeof(*walsh));

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			walsh[k++] = (logs[i] + logs[j]) / 2;
	qsort(walsh, m, sizeof(*walsh), by_value);
	limit = signed_rank_limit(n);
	r->robust = (walsh[(m - 1) / 2] + walsh[m / 2]) / 2;
	if (limit == 0)
		return 0;
	r->robust_low = walsh[limit - 1];
	r->robust_high = walsh[m - limit];
	return 0;
}

static int fit_neighbours(struct log_ratio *r, const int64_t *a, const int64_t *b)
{
	size_t n = r->n - 1;
	_cleanup_(freep) double *ahead = xcalloc(2 * n, sizeof(*ahead));
	double *behind = ahead + n;

	for (size_t i = 0; i < n; i++) {
		ahead[i] = log((double)b[i + 1] / (double)a[i]);
		behind[i] = log((double)b[i] / (double)a[i + 1]);
	}
	r->neighbours_sd = sqrt(
		(gsl_stats_tss(ahead, 1, n) + gsl_stats_tss(behind, 1, n)) / (double)(2 * n - 2));
	return 0;
}

/* The logs, those in which a started first before the others. Returns how many that are. */
static size_t sort_by_order(const double *logs, const bool *a_first, size_t n, double *ret)
{
	size_t n_first = 0, k;

	for (size_t i = 0; i < n; i++)
		if (a_first && a_first[i])
			ret[n_first++] = logs[i];
	k = n_first;
	for (size_t i = 0; i < n; i++)
		if (!a_first || !a_first[i])
			ret[k++] = logs[i];
	return n_first;
}

int log_ratio_of(
	const int64_t *a_ns, const int64_t *b_ns, const bool *a_first, size_t n, struct log_ratio *ret)
{
	_cleanup_(freep) double *logs = xcalloc(2 * n + 1, sizeof(*logs));
	struct log_ratio r = {n, NAN, NAN, NAN, NAN, .robust = NAN, .robust_low = NAN, .robust_high = NAN,
		.neighbours_sd = NAN};
	size_t n_first;
	int outcome = 0;

	for (size_t i = 0; i < n; i++)
		logs[i] = log((double)b_ns[i] / (double)a_ns[i]);
	n_first = sort_by_order(logs, a_first, n, logs + n);
	if (n_first >= 2 && n - n_first >= 2)
		fit_orders(&r, logs + n, n_first);
	else
		fit(&r, logs);
	if (n >= LEAST_ROBUST && n <= MOST_ROBUST)
		outcome = fit_robust(&r, logs);
	if (outcome == 0 && n >= LEAST_NEIGHBOURS)
		outcome = fit_neighbours(&r, a_ns, b_ns);
	if (outcome == 0)
		*ret = r;
	return outcome;
}

double log_ratio_half(const struct log_ratio *r, double alpha)
{
	return isnan(r->se) ? NAN : gsl_cdf_tdist_Pinv(1 - alpha / 2, r->df) * r->se;
}

double log_ratio_p(const struct log_ratio *r)
{
	if (isnan(r->se) || r->se <= 0)
		return isnan(r->se) ? NAN : r->mean == 0;
	return 2 * gsl_cdf_tdist_Q(fabs(r->mean / r->se), r->df);
}
