/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maximum, mean and sd of values in one pass, without storing them. */
#pragma once

#include <math.h>
#include <stdint.h>

struct running {
	uint64_t n;
	int64_t max_ns; /* -1: no value yet */
	double mean_ns, squares;
};

#define RUNNING_NONE ((struct running){.max_ns = -1})

/* Welford 1962. */
static inline void running_add(struct running *r, int64_t value_ns)
{
	double off = (double)value_ns - r->mean_ns;

	r->mean_ns += off / (double)++r->n;
	r->squares += off * ((double)value_ns - r->mean_ns);
	if (value_ns > r->max_ns)
		r->max_ns = value_ns;
}

/* Adds b to a (Chan, Golub & LeVeque 1983). */
static inline struct running running_join(const struct running *a, const struct running *b)
{
	double n = (double)(a->n + b->n), off = b->mean_ns - a->mean_ns;

	if (a->n == 0 || b->n == 0)
		return a->n == 0 ? *b : *a;
	return (struct running){
		.n = a->n + b->n,
		.max_ns = a->max_ns > b->max_ns ? a->max_ns : b->max_ns,
		.mean_ns = a->mean_ns + off * (double)b->n / n,
		.squares = a->squares + b->squares + off * off * (double)a->n * (double)b->n / n,
	};
}

static inline double running_sum(const struct running *r)
{
	return r->mean_ns * (double)r->n;
}

static inline double running_sum_of_squares(const struct running *r)
{
	return r->squares + r->mean_ns * running_sum(r);
}

static inline double running_sd(const struct running *r) /* n - 1; 0 for n < 2 */
{
	return r->n < 2 ? 0 : sqrt(r->squares / (double)(r->n - 1));
}
