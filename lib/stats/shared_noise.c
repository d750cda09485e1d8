/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See shared_noise.h.
 *
 * x[t] is the logarithm of the time of sample t: the program's mean, the machine at that moment, and an error of its own with
 * variance s. The differences d[t] = x[t + 1] - x[t] of independent samples have the variance 2 s, and each two successive ones
 * the covariance -s, because they share one sample (as bid and ask do in Roll 1984). If the machine's speed is a random walk, it
 * adds to the variance and not to the covariance. So the variance is what samples in turn have, and -2 times the covariance is what
 * is left of it at one time. Speeds that return to their mean make the covariance greater: then that is too cautious. */
#include "lib/stats/shared_noise.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/random.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { LEAST_ROUNDS = 4, PERMUTATIONS = 999 };

struct series {
	double *x;     /* n, in the order of time */
	double *d;     /* n - 1: room for the differences */
	double *means; /* of the differences, by the program that they begin with */
	size_t n, programs;
};

struct moments {
	double variance, covariance;
};

/* Of d; each kind of difference, from one program to the next, has a mean of its own. */
static void center(struct series *s)
{
	size_t n = s->n - 1;

	for (size_t i = 0; i < s->programs; i++) {
		size_t count = 0;

		s->means[i] = 0;
		for (size_t t = i; t < n; t += s->programs, count++)
			s->means[i] += s->d[t];
		s->means[i] /= (double)count;
	}
	for (size_t t = 0; t < n; t++)
		s->d[t] -= s->means[t % s->programs];
}

static struct moments moments_of(struct series *s)
{
	size_t n = s->n - 1;
	double squares = 0, products = 0;

	for (size_t t = 0; t < n; t++)
		s->d[t] = s->x[t + 1] - s->x[t];
	center(s);
	for (size_t t = 0; t < n; t++)
		squares += s->d[t] * s->d[t];
	for (size_t t = 0; t + 1 < n; t++)
		products += s->d[t] * s->d[t + 1];
	return (struct moments){
		squares / (double)(n - s->programs), products / (double)(n - 1 - s->programs)};
}

/* The samples of each program in a random order (Fisher and Yates). */
static void permute(struct series *s, uint64_t *random)
{
	size_t rounds = s->n / s->programs;

	for (size_t p = 0; p < s->programs; p++)
		for (size_t i = rounds; i > 1; i--) {
			double *last = &s->x[(i - 1) * s->programs + p];
			double *other = &s->x[random_next(random) % i * s->programs + p], x = *last;

			*last = *other;
			*other = x;
		}
}

/* The share of permutations whose differences are as little opposed as those of the samples; the samples are one of them. */
static double p_by_permutation(struct series *s, const struct moments *found)
{
	uint64_t random = 1; /* the same samples have the same p */
	size_t as_great = 1;

	for (int i = 0; i < PERMUTATIONS; i++) {
		struct moments m;

		permute(s, &random);
		m = moments_of(s);
		as_great += m.covariance / m.variance >= found->covariance / found->variance;
	}
	return (double)as_great / (PERMUTATIONS + 1);
}

int shared_noise_of(const double *logs, size_t n_rounds, size_t n_programs, struct shared_noise *ret)
{
	size_t n = n_rounds * n_programs;
	_cleanup_(freep) double *room = xcalloc(2 * n + n_programs, sizeof(*room));
	struct series s = {room, room + n, room + 2 * n, n, n_programs};
	struct moments m;

	*ret = (struct shared_noise){NAN, NAN, 1};
	if (n_rounds < LEAST_ROUNDS || n_programs < 2)
		return 0;
	memcpy(s.x, logs, n * sizeof(*logs));
	m = moments_of(&s);
	if (!(m.variance > 0))
		return 0;
	*ret = (struct shared_noise){
		sqrt(m.variance), sqrt(fmax(0, -2 * m.covariance)), p_by_permutation(&s, &m)};
	return 0;
}
