/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a duet costs, and what may be concluded from it: see duet_cost.h. */
#include "lib/duet/duet_cost.h"

#include <gsl/gsl_cdf.h>

enum { LEAST_SLICES = 4 };
static const double LEVEL = 0.95, WORTH_AVOIDING = 0.01, BEARABLE = 0.05;
/* A part of half a 95 % interval: a third of the distribution lies beyond it, for 10 samples and
 * more. */
static const double A_THIRD = 0.2;

static bool is_kept(const struct duet_program *p, size_t i)
{
	return i < p->n_samples && !p->out[i] && p->samples[i].pt_ns > 0;
}

/* Each run alone against the samples of the duet before and after it, as far as they are kept. How
 * much they vary is known from the differences of neighbouring samples. */
static struct duet_estimate price_of(const struct duet_program *p)
{
	double squares = 0, df = 0, sum = 0, variances = 0;
	size_t n = 0;

	for (size_t i = 0; i + 1 < p->n_samples; i++)
		if (is_kept(p, i) && is_kept(p, i + 1)) {
			squares += pow(
				log((double)p->samples[i + 1].pt_ns / (double)p->samples[i].pt_ns),
				2);
			df++;
		}
	for (size_t i = 0; i < p->n_alone; i++) {
		const struct duet_alone *alone = &p->alone[i];

		double logs = 0;
		int n_logs = 0;

		for (size_t k = 0; k < p->n_samples; k++)
			if ((p->samples[k].n == alone->after ||
				    p->samples[k].n == alone->after + 1) &&
				is_kept(p, k)) {
				logs += log((double)p->samples[k].pt_ns);
				n_logs++;
			}
		if (n_logs == 0 || alone->pt_ns <= 0)
			continue;
		sum += logs / n_logs - log((double)alone->pt_ns);
		variances += 1 + 1.0 / n_logs; /* of this difference, in variances of one log PT */
		n++;
	}
	if (n == 0 || df < 2)
		return (struct duet_estimate){n ? sum / (double)n : NAN, NAN};
	return (struct duet_estimate){
		sum / (double)n, gsl_cdf_tdist_Pinv(0.5 + LEVEL / 2, df) *
					 sqrt(squares / (2 * df) * variances) / (double)n};
}

struct duet_cost duet_cost_of(const struct duet_program *p)
{
	double kept = 0, elapsed = 0, together = 0, all = 0, alone = 0, pt;
	size_t n = 0;

	for (size_t i = 0; i < p->n_samples; i++) {
		elapsed += (double)p->samples[i].et_ns;
		all += (double)p->samples[i].pt_ns;
		kept += is_kept(p, i) ? (double)p->samples[i].pt_ns : 0;
		n += is_kept(p, i);
	}
	for (size_t i = 0; i < p->n_together; i++)
		together += (double)p->together[i].together_ns;
	for (size_t i = 0; i < p->n_alone; i++)
		alone += (double)p->alone[i].pt_ns;
	pt = elapsed > 0 ? all * fmin(1, together / elapsed) : all; /* while both ran */
	return (struct duet_cost){
		.alone_ns = p->n_alone > 0 ? alone / (double)p->n_alone : NAN,
		.together_ns = n > 0 ? kept / (double)n : NAN,
		.price = price_of(p),
		.last = elapsed > 0 ? fmax(0, 1 - together / elapsed) : NAN,
		.slice_ns = p->switches > 0 ? pt / (double)p->switches : NAN,
	};
}

struct duet_estimate duet_bias(const struct duet_cost *a, const struct duet_cost *b)
{
	return (struct duet_estimate){
		b->price.log - a->price.log, hypot(a->price.half, b->price.half)};
}

const char *const duet_doubt_names[] = {[DUET_SOUND] = "none",
	[DUET_BIASED] = "biased",
	[DUET_CONTRADICTED] = "contradicted",
	[DUET_TOO_SHORT] = "too short"};

enum duet_doubt duet_doubt_of(const struct duet_cost *a, const struct duet_cost *b,
	int64_t slice_ns, const struct log_ratio *ratio)
{
	struct duet_estimate bias = duet_bias(a, b);
	bool shown = fabs(ratio->mean) > log_ratio_half(ratio, 1 - LEVEL);
	/* above 0: on the duet's side */
	double alone = copysign(1, ratio->mean) * (ratio->mean - bias.log);

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

int64_t duet_suggest_slice(int64_t slice_ns, const struct duet_cost *costs, size_t n)
{
	static const int64_t slices_ns[] = {
		3 * NS_PER_MS, 10 * NS_PER_MS, 30 * NS_PER_MS, 100 * NS_PER_MS};
	const double wanted[] = {WORTH_AVOIDING, BEARABLE};
	double price = 0, shortest_ns = INFINITY;
	bool sure = false;

	for (size_t i = 0; i < n; i++) {
		price = fmax(price, costs[i].price.log);
		shortest_ns = fmin(shortest_ns, costs[i].together_ns);
		sure |= costs[i].price.log - costs[i].price.half > WORTH_AVOIDING;
	}
	for (size_t w = 0; sure && w < ELEMENTS(wanted); w++)
		for (size_t i = 0; i < ELEMENTS(slices_ns); i++)
			if (slices_ns[i] > slice_ns &&
				(double)slices_ns[i] * wanted[w] >= (double)slice_ns * price &&
				(double)slices_ns[i] * LEAST_SLICES <= shortest_ns)
				return slices_ns[i];
	return 0;
}
