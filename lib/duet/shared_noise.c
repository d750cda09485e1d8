/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared noise: x[t] is the logarithm of the time of sample t: the program's mean, the machine at that moment, and an error of its own with
 * variance s. The differences d[t] = x[t + 1] - x[t] of independent samples have the variance 2 s, and each two successive ones
 * the covariance -s, because they share one sample (as bid and ask do in Roll 1984). If the machine's speed is a random walk, it
 * adds to the variance and not to the covariance. So the variance is what samples in turn have, and -2 times the covariance is what
 * is left of it at one time. Speeds that return to their mean make the covariance greater: then that is too cautious. */
#include "lib/duet/duet_report.h"

#include <math.h>

enum { LEAST_ROUNDS = 4, PERMUTATIONS = 999 };

struct turns {
	double *x;     /* n, in the order of time */
	double *d;     /* n - 1: room for the differences */
	double *means; /* of the differences, by the program that they begin with */
	size_t n, programs;
};

struct moments {
	double variance, covariance;
};

static struct moments moments_of(struct turns *s)
{
	size_t n = s->n - 1;
	double squares = 0, products = 0;

	for (size_t t = 0; t < n; t++)
		s->d[t] = s->x[t + 1] - s->x[t];
	/* each kind of difference, from one program to the next, has a mean of its own */
	for (size_t i = 0; i < s->programs; i++) {
		size_t count = 0;

		s->means[i] = 0;
		for (size_t t = i; t < n; t += s->programs, count++)
			s->means[i] += s->d[t];
		s->means[i] /= (double)count;
	}
	for (size_t t = 0; t < n; t++) {
		s->d[t] -= s->means[t % s->programs];
		squares += s->d[t] * s->d[t];
		products += t > 0 ? s->d[t - 1] * s->d[t] : 0;
	}
	return (struct moments){
		squares / (double)(n - s->programs), products / (double)(n - 1 - s->programs)};
}

struct shared_noise shared_noise_of(const double *logs, size_t n_rounds, size_t n_programs)
{
	size_t n = n_rounds * n_programs, as_great = 1; /* the samples are one of the permutations */
	_cleanup_(freep) double *room = xcalloc(2 * n + n_programs, sizeof(*room));
	struct turns s = {room, room + n, room + 2 * n, n, n_programs};
	uint64_t random = 1; /* the same samples have the same p */
	struct moments found, m;

	if (n_rounds < LEAST_ROUNDS || n_programs < 2)
		return (struct shared_noise){NAN, NAN, 1};
	memcpy(s.x, logs, n * sizeof(*logs));
	found = moments_of(&s);
	if (!(found.variance > 0))
		return (struct shared_noise){NAN, NAN, 1};
	/* p: the share of permutations whose differences are as little opposed as those of the samples */
	for (int i = 0; i < PERMUTATIONS; i++) {
		size_t rounds = s.n / s.programs;

		/* The samples of each program in a random order (Fisher and Yates). */
		for (size_t p = 0; p < s.programs; p++)
			for (size_t k = rounds; k > 1; k--) {
				double *last = &s.x[(k - 1) * s.programs + p];
				double *other = &s.x[random_next(&random) % k * s.programs + p], x = *last;

				*last = *other;
				*other = x;
			}
		m = moments_of(&s);
		as_great += m.covariance / m.variance >= found.covariance / found.variance;
	}
	return (struct shared_noise){sqrt(found.variance), sqrt(fmax(0, -2 * found.covariance)),
		(double)as_great / (PERMUTATIONS + 1)};
}
