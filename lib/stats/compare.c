/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two samples of times differ: see compare.h. */
#include "lib/stats/compare.h"

#include "lib/base/cleanup.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>

enum { EXACT_MAX = 40 }; /* n_a + n_b up to which Mann and Whitney's distribution is computed exactly */

/* Variance of the mean. */
static double variance(const struct summary *s)
{
	return s->sd_ns * s->sd_ns / (double)s->n;
}

/* Degrees of freedom after Satterthwaite (1946) and Welch (1947), of scale_a * mean a - mean b. */
static double degrees(const struct summary *a, const struct summary *b)
{
	double va = variance(a), vb = variance(b);

	return (va + vb) * (va + vb) / (va * va / (double)(a->n - 1) + vb * vb / (double)(b->n - 1));
}

static void welch(struct comparison *c)
{
	double spread = variance(&c->a) + variance(&c->b);

	if (c->a.n < 2 || c->b.n < 2 || spread <= 0)
		return;
	c->welch_t = (c->b.mean_ns - c->a.mean_ns) / sqrt(spread);
	c->welch_df = degrees(&c->a, &c->b);
	c->welch_p = 2 * gsl_cdf_tdist_Q(fabs(c->welch_t), c->welch_df);
	c->smallest_difference = (gsl_cdf_tdist_Pinv(0.975, c->welch_df) +
					 gsl_cdf_tdist_Pinv(0.8, c->welch_df)) *
				 sqrt(spread) / c->a.mean_ns;
}

/* The ratios r for which mean b - r * mean a is not different from 0 (Fieller 1954). */
static void fieller(struct comparison *c)
{
	double a = c->a.mean_ns, b = c->b.mean_ns, va = variance(&c->a), vb = variance(&c->b), t, g, root;

	if (isnan(c->welch_df))
		return;
	t = gsl_cdf_tdist_Pinv(0.975, c->welch_df);
	g = t * t * va / (a * a);
	root = va * b * b / (a * a) + vb * (1 - g);
	if (g >= 1 || root < 0)
		return;
	c->ratio_low = (b / a - t / a * sqrt(root)) / (1 - g);
	c->ratio_high = (b / a + t / a * sqrt(root)) / (1 - g);
}

/* How many of the orderings of n_a and n_b values give each U, as probabilities; p[u] for u = 0 … n_a * n_b.
 * Values without ties. The recurrence of Mann and Whitney (1947): the greatest value is either one of b's or
 * one of a's. */
static double *distribution(size_t n_a, size_t n_b)
{
	size_t most = n_a * n_b, width = most + 1;
	double *p = calloc((n_a + 1) * width, sizeof(*p)); /* rows: so many of a; grown one of b at a time */

	if (!p)
		return NULL;
	for (size_t i = 0; i <= n_a; i++)
		p[i * width] = 1; /* none of b: U is 0 */
	for (size_t j = 1; j <= n_b; j++)
		for (size_t i = 1; i <= n_a; i++)
			for (size_t u = i * j + 1; u-- > 0;) {
				double b_greatest = u >= i ? p[i * width + u - i] : 0;
				double a_greatest = p[(i - 1) * width + u];

				p[i * width + u] = (b_greatest * (double)j + a_greatest * (double)i) /
						   (double)(i + j);
			}
	for (size_t u = 0; u <= most; u++)
		p[u] = p[n_a * width + u];
	return p;
}

static int exact(struct comparison *c)
{
	size_t n_a = c->a.n, n_b = c->b.n, most = n_a * n_b;
	_cleanup_(freep) double *p = distribution(n_a, n_b);
	double low = 0, least = fmin(c->mann_whitney_u, (double)most - c->mann_whitney_u);

	if (!p)
		return -ENOMEM;
	for (size_t u = 0; u <= (size_t)least; u++)
		low += p[u];
	c->mann_whitney_p = fmin(1, 2 * low);
	return 0;
}

/* Normal, with ties (t³ - t summed over groups) and continuity corrected (Lehmann 1975). */
static void approximate(struct comparison *c, double ties)
{
	double n_a = (double)c->a.n, n_b = (double)c->b.n, n = n_a + n_b;
	double sd = sqrt(n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1))));
	double off = fabs(c->mann_whitney_u - n_a * n_b / 2) - 0.5;

	if (sd > 0)
		c->mann_whitney_p = fmin(1, 2 * gsl_cdf_ugaussian_Q(fmax(0, off) / sd));
	else
		c->mann_whitney_p = 1;
}

struct ranked {
	int64_t value;
	bool of_b;
};

static int by_value(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	return (a->value > b->value) - (a->value < b->value);
}

/* U of b from the ranks of both together, tied values sharing their mean rank; the tie term. */
static double count_u(struct ranked *all, size_t n, size_t n_b, double *ret_ties)
{
	double ranks = 0, ties = 0;

	qsort(all, n, sizeof(*all), by_value);
	for (size_t i = 0, end; i < n; i = end) {
		double t, mean_rank;

		for (end = i + 1; end < n && all[end].value == all[i].value; end++)
			;
		t = (double)(end - i);
		mean_rank = (double)(i + 1 + end) / 2;
		ties += t * t * t - t;
		for (size_t k = i; k < end; k++)
			ranks += all[k].of_b ? mean_rank : 0;
	}
	*ret_ties = ties;
	return ranks - (double)n_b * (double)(n_b + 1) / 2;
}

static int mann_whitney(struct comparison *c, const int64_t *a, const int64_t *b)
{
	size_t n = c->a.n + c->b.n;
	_cleanup_(freep) struct ranked *all = calloc(n, sizeof(*all));
	double ties;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < c->a.n; i++)
		all[i] = (struct ranked){a[i], false};
	for (size_t i = 0; i < c->b.n; i++)
		all[c->a.n + i] = (struct ranked){b[i], true};
	c->mann_whitney_u = count_u(all, n, c->b.n, &ties);
	if (ties == 0 && n <= EXACT_MAX)
		return exact(c);
	approximate(c, ties);
	return 0;
}

int compare(const int64_t *a_ns, size_t n_a, const int64_t *b_ns, size_t n_b, struct comparison *ret,
	struct error *err)
{
	struct comparison c = {
		.ratio_low = NAN,
		.ratio_high = NAN,
		.welch_t = NAN,
		.welch_df = NAN,
		.welch_p = NAN,
		.smallest_difference = NAN,
	};

	if (n_a == 0 || n_b == 0)
		return error_say(err, -EINVAL, "cannot compare: one of the two has no samples");
	c.a = summary_of(a_ns, n_a);
	c.b = summary_of(b_ns, n_b);
	if (c.a.mean_ns <= 0)
		return error_say(err, -EINVAL, "cannot compare: the mean of the first is 0");
	c.ratio = c.b.mean_ns / c.a.mean_ns;
	welch(&c);
	fieller(&c);
	if (mann_whitney(&c, a_ns, b_ns) < 0)
		return error_oom(err);
	*ret = c;
	return 0;
}
