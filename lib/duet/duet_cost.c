/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See duet_report.h. */
#include "lib/duet/duet_report.h"

#include "lib/base/number.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

enum { LEAST_SLICES = 4 };
static const double LEVEL = 0.95, WORTH_AVOIDING = 0.01, BEARABLE = 0.05;
/* Of half a 95 % interval: beyond it lies one third of the distribution, for 10 samples and more. */
static const double A_THIRD = 0.2;

static bool is_kept(const struct duet_program *p, size_t i)
{
	return i < p->n_samples && !p->out[i] && p->samples[i].pt_ns > 0;
}

/* Of one log PT, from the differences of neighbouring samples; *ret_df of them. */
static double variance_of_one(const struct duet_program *p, double *ret_df)
{
	double squares = 0;

	*ret_df = 0;
	for (size_t i = 0; i + 1 < p->n_samples; i++)
		if (is_kept(p, i) && is_kept(p, i + 1)) {
			double off = log((double)p->samples[i + 1].pt_ns / (double)p->samples[i].pt_ns);

			squares += off * off;
			++*ret_df;
		}
	return squares / (2 * *ret_df);
}

static struct duet_estimate price_of(const struct duet_program *p)
{
	double sum = 0, variances = 0, variance, df, one = variance_of_one(p, &df);
	size_t n = 0;

	for (size_t i = 0; i < p->n_alone; i++) {
		double log_together;
		double log_sum = 0;
		int n_log = 0;

		/* The mean log of the samples before and after, as far as they are kept. NAN: neither.
		 * *ret_variance: of its difference to one run alone, in variances of one. */
		for (size_t k = 0; k < p->n_samples; k++)
			if ((p->samples[k].n == p->alone[i].after ||
				    p->samples[k].n == p->alone[i].after + 1) &&
				is_kept(p, k)) {
				log_sum += log((double)p->samples[k].pt_ns);
				n_log++;
			}
		variance = n_log > 0 ? 1 + 1.0 / n_log : NAN;
		log_together = n_log > 0 ? log_sum / n_log : NAN;

		if (isnan(log_together) || p->alone[i].pt_ns <= 0)
			continue;
		sum += log_together - log((double)p->alone[i].pt_ns);
		variances += variance;
		n++;
	}
	if (n == 0 || df < 2)
		return (struct duet_estimate){n ? sum / (double)n : NAN, NAN};
	return (struct duet_estimate){
		sum / (double)n, gsl_cdf_tdist_Pinv(0.5 + LEVEL / 2, df) * sqrt(one * variances) / (double)n};
}

struct duet_cost duet_cost_of(const struct duet_program *p)
{
	double pt = 0, kept = 0, elapsed = 0, together = 0, all = 0;
	size_t n = 0;
	double sum = 0;

	for (size_t i = 0; i < p->n_samples; i++) {
		elapsed += (double)p->samples[i].et_ns;
		all += (double)p->samples[i].pt_ns;
		if (is_kept(p, i)) {
			kept += (double)p->samples[i].pt_ns;
			n++;
		}
	}
	for (size_t i = 0; i < p->n_together; i++)
		together += (double)p->together[i].together_ns;
	pt = elapsed > 0 ? all * fmin(1, together / elapsed) : all;
	for (size_t i = 0; i < p->n_alone; i++)
		sum += (double)p->alone[i].pt_ns;
	return (struct duet_cost){
		.alone_ns = p->n_alone > 0 ? sum / (double)p->n_alone : NAN,
		.together_ns = n > 0 ? kept / (double)n : NAN,
		.price = price_of(p),
		.last = elapsed > 0 ? fmax(0, 1 - together / elapsed) : 0,
		.slice_ns = p->switches > 0 ? pt / (double)p->switches : NAN,
	};
}

struct duet_estimate duet_bias(const struct duet_cost *a, const struct duet_cost *b)
{
	return (struct duet_estimate){b->price.log - a->price.log, hypot(a->price.half, b->price.half)};
}

const char *const duet_doubt_names[] = {[DUET_SOUND] = "none",
	[DUET_BIASED] = "biased",
	[DUET_CONTRADICTED] = "contradicted",
	[DUET_TOO_SHORT] = "too short"};

enum duet_doubt duet_doubt_of(
	const struct duet_cost *a, const struct duet_cost *b, int64_t slice_ns, const struct log_ratio *ratio)
{
	struct duet_estimate bias = duet_bias(a, b);
	bool shown = fabs(ratio->mean) > log_ratio_half(ratio, 1 - LEVEL);
	double alone = copysign(1, ratio->mean) * (ratio->mean - bias.log); /* above 0: on the duet's side */

	if (fmin(a->together_ns, b->together_ns) < LEAST_SLICES * (double)slice_ns)
		return DUET_TOO_SHORT;
	if (fabs(bias.log) > bias.half)
		return DUET_BIASED;
	return shown && alone < A_THIRD * bias.half ? DUET_CONTRADICTED : DUET_SOUND;
}

int64_t duet_slice_for(int64_t pt_ns)
{
	return (pt_ns < 100 * NS_PER_MS ? 3 : 10) * NS_PER_MS;
}

/* A slice that makes the price as small as that, and of which the shortest program has some; 0: none. */
static int64_t find_slice(int64_t slice_ns, double price, double wanted, double shortest_ns)
{
	static const int64_t slices_ns[] = {3 * NS_PER_MS, 10 * NS_PER_MS, 30 * NS_PER_MS, 100 * NS_PER_MS};

	for (size_t i = 0; i < ELEMENTS(slices_ns); i++)
		if (slices_ns[i] > slice_ns && (double)slices_ns[i] * wanted >= (double)slice_ns * price &&
			(double)slices_ns[i] * LEAST_SLICES <= shortest_ns)
			return slices_ns[i];
	return 0;
}

int64_t duet_suggest_slice(int64_t slice_ns, const struct duet_cost *costs, size_t n)
{
	double price = 0, shortest_ns = INFINITY;
	bool sure = false;

	for (size_t i = 0; i < n; i++) {
		price = fmax(price, costs[i].price.log);
		shortest_ns = fmin(shortest_ns, costs[i].together_ns);
		sure |= costs[i].price.log - costs[i].price.half > WORTH_AVOIDING;
	}
	if (!sure)
		return 0;
	return find_slice(slice_ns, price, WORTH_AVOIDING, shortest_ns)
		       ?: find_slice(slice_ns, price, BEARABLE, shortest_ns);
}
