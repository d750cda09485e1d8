/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a duet costs, what may be concluded from it, and whether one would show more: see
 * duet_report.h. */
#include "lib/duet/duet_report.h"

#include <gsl/gsl_cdf.h>

enum { LEAST_SLICES = 4 };
static const double LEVEL = 0.95, WORTH_AVOIDING = 0.01, BEARABLE = 0.05;
/* Of half a 95 % interval: beyond it lies one third of the distribution, for 10 samples and
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

/* How much of the spread of programs that take their samples in turn is a machine whose speed
 * changes: then neighbours differ less than samples that are further apart, and programs that run
 * at the same time would differ still less.
 *
 * x[t] is the logarithm of the time of sample t: the program's mean, the machine at that moment,
 * and an error of its own with variance s. The differences d[t] = x[t + 1] - x[t] of independent
 * samples have the variance 2 s, and each two successive ones the covariance -s, because they share
 * one sample (as bid and ask do in Roll 1984). If the machine's speed is a random walk, it adds to
 * the variance and not to the covariance. So the variance is what samples in turn have, and -2
 * times the covariance is what is left of it at one time. Speeds that return to their mean make the
 * covariance greater: then that is too cautious. */

struct shared_noise {
	double sd_in_turn; /* of the logarithm of the ratio of two neighbours; NAN: not known */
	/* the same if both had been taken at one time, by extrapolation; 0: all of it is the
	 * machine's */
	double sd_together;
	/* the probability of so great a difference if samples are independent; one-sided */
	double p;
};

enum { PERMUTATIONS = 999 };

struct turns {
	double *x;          /* n, in the order of time, less the mean of their program */
	double *d;          /* n - 1: room for the differences */
	const size_t *when; /* [round * programs + program]: the index of its sample in x */
	size_t n, programs;
};

struct moments {
	double variance, covariance;
};

static struct moments moments_of(struct turns *s)
{
	size_t n = s->n - 1;
	double squares = 0, products = 0, drift = (s->x[n] - s->x[0]) / (double)n;

	for (size_t t = 0; t < n; t++) {
		s->d[t] = s->x[t + 1] - s->x[t] - drift;
		squares += s->d[t] * s->d[t];
		products += t > 0 ? s->d[t - 1] * s->d[t] : 0;
	}
	return (struct moments){
		squares / (double)(n - s->programs), products / (double)(n - 1 - s->programs)};
}

/* logs[round * n_programs + program]: logarithms of times; when: of the same, their places in the
 * order in which they were taken. */
static struct shared_noise shared_noise_of(
	const double *logs, const size_t *when, size_t n_rounds, size_t n_programs)
{
	/* the samples are one of the permutations */
	size_t n = n_rounds * n_programs, as_great = 1;
	_cleanup_(freep) double *room = xcalloc(2 * n, sizeof(*room));
	struct turns s = {room, room + n, when, n, n_programs};
	uint64_t random = 1; /* the same samples have the same p */
	struct moments found, m;

	for (size_t p = 0; p < n_programs; p++) {
		double mean = 0;

		for (size_t i = p; i < n; i += n_programs)
			mean += logs[i] / (double)n_rounds;
		for (size_t i = p; i < n; i += n_programs)
			s.x[when[i]] = logs[i] - mean;
	}
	found = moments_of(&s);
	if (!(found.variance > 0))
		return (struct shared_noise){NAN, NAN, 1};
	/* p: the share of permutations whose differences are as little opposed as those of the
	 * samples */
	for (int i = 0; i < PERMUTATIONS; i++) {
		size_t rounds = s.n / s.programs;

		/* The samples of each program in a random order (Fisher and Yates). */
		for (size_t p = 0; p < s.programs; p++)
			for (size_t k = rounds; k > 1; k--) {
				double *last = &s.x[when[(k - 1) * s.programs + p]];
				double *other =
					&s.x[when[random_next(&random) % k * s.programs + p]];
				double x = *last;

				*last = *other;
				*other = x;
			}
		m = moments_of(&s);
		as_great += m.covariance / m.variance >= found.covariance / found.variance;
	}
	return (struct shared_noise){sqrt(found.variance), sqrt(fmax(0, -2 * found.covariance)),
		(double)as_great / (PERMUTATIONS + 1)};
}

/* Whether a duet would show more. tests/unit/test_duet_advice.c simulates how often that is
 * right. */

enum { ADVISED_SLICES = 5, LEAST_ROUNDS = 6, MOST_ROUNDS = 1000 };
static const double ADVICE_LEVEL = 0.02, NARROWER = 1.3, /* what is worth another measurement */
	HALF_WIDTH = 0.003, /* intervals of the ratio that are as narrow need no help */
	/* times as long as the shortest: what is left over runs without another one */
	LONGEST = 2, COMPUTES = 0.8, /* the share of ET on a CPU, or waiting for one */
	ONE_CPU = 1.05;              /* PT / ET of a program that uses no more */

static bool are_fit(const struct duet_program *programs, size_t n, int64_t slice_ns)
{
	double shortest = INFINITY, longest = 0;

	for (const struct duet_program *c = programs; c < programs + n; c++) {
		double pt = 0, wait = 0, et = 0, kept = 0, mean;

		for (size_t i = 0; i < c->n_samples; i++) {
			if (c->out[i])
				continue;
			kept++;
			pt += (double)c->samples[i].pt_ns;
			et += (double)c->samples[i].et_ns;
			wait += fmax((double)c->samples[i].wait_ns, 0);
		}
		mean = kept > 0 ? pt / kept : 0;
		if (mean < ADVISED_SLICES * (double)slice_ns || pt > ONE_CPU * et ||
			pt + wait < COMPUTES * et)
			return false;
		shortest = fmin(shortest, mean);
		longest = fmax(longest, mean);
	}
	return n > 1 && longest <= LONGEST * shortest;
}

/* How many programs took their sample of the round before that one; where starts are equal or
 * unknown, in the order of the programs. */
static size_t place_in_round(
	const struct duet_program *programs, size_t n, size_t round, size_t program)
{
	int64_t start_ns = programs[program].samples[round].start_ns;
	size_t before = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t other_ns = programs[i].samples[round].start_ns;

		before += other_ns < start_ns || (other_ns == start_ns && i < program);
	}
	return before;
}

struct duet_advice duet_advise(const struct duet_program *programs, size_t n, int64_t slice_ns)
{
	size_t rounds = n > 0 ? MOST_ROUNDS : 0, kept = 0;
	struct duet_advice advice = {false, NAN, NAN};
	_cleanup_(freep) double *logs = NULL;
	_cleanup_(freep) size_t *when = NULL;
	struct shared_noise noise;

	for (size_t i = 0; i < n; i++)
		rounds = programs[i].n_samples < rounds ? programs[i].n_samples : rounds;
	logs = xcalloc(n * rounds, sizeof(*logs));
	when = xcalloc(n * rounds, sizeof(*when));
	/* the logarithms of the rounds of which nothing was discarded */
	for (size_t round = 0; round < rounds; round++) {
		bool keep = true;

		for (size_t i = 0; keep && i < n; i++) {
			keep = !programs[i].out[round] && programs[i].samples[round].pt_ns > 0;
			logs[kept * n + i] = keep ? log((double)programs[i].samples[round].pt_ns)
						  : 0;
			when[kept * n + i] = kept * n + place_in_round(programs, n, round, i);
		}
		kept += keep;
	}
	if (kept < LEAST_ROUNDS || !are_fit(programs, n, slice_ns))
		return advice;
	noise = shared_noise_of(logs, when, kept, n);
	advice.p = noise.p;
	advice.narrower = noise.sd_in_turn / noise.sd_together;
	advice.better = noise.p <= ADVICE_LEVEL && advice.narrower >= NARROWER &&
			2 * noise.sd_in_turn / sqrt((double)kept) >= HALF_WIDTH;
	return advice;
}
