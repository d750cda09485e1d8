/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a duet would show more: see duet_advice.h. tests/unit/test_duet_advice.c simulates how
 * often that is right. */
#include "lib/duet/duet_advice.h"

/* If the machine's speed changes, a part of the spread of samples in turn comes from that:
 * neighbouring samples differ less than distant ones, and samples at the same time would differ
 * still less. This estimates that part.
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

enum { ADVISED_SLICES = 5, LEAST_ROUNDS = 6, MOST_ROUNDS = 1000 };
static const double ADVICE_LEVEL = 0.02, NARROWER = 1.3, /* what is worth another measurement */
	HALF_WIDTH = 0.003, /* intervals of the ratio that are as narrow need no help */
	/* the longest program in lengths of the shortest: its rest runs alone */
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
