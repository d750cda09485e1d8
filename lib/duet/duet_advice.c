/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See duet_advice.h. tests/unit/test_duet_advice.c simulates how often it is right. */
#include "lib/duet/duet_advice.h"

#include "lib/base/xalloc.h"
#include "lib/stats/compare.h"

#include <math.h>

enum { LEAST_SLICES = 5, LEAST_ROUNDS = 6, MOST_ROUNDS = 1000 };
static const double LEVEL = 0.02, NARROWER = 1.3, /* what is worth another measurement */
	HALF_WIDTH = 0.003,                       /* intervals of the ratio that are as narrow need no help */
	LONGEST = 2,    /* times as long as the shortest: what is left over runs without another one */
	COMPUTES = 0.8, /* the share of ET on a CPU, or waiting for one */
	ONE_CPU = 1.05; /* PT / ET of a program that uses no more */

static bool is_fit(const struct duet_candidate *c, int64_t slice_ns, double *ret_pt)
{
	double pt = 0, wait = 0, et = 0;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (c->out[i])
			continue;
		n++;
		pt += (double)c->samples[i].pt_ns;
		et += (double)c->samples[i].et_ns;
		wait += c->samples[i].wait_ns > 0 ? (double)c->samples[i].wait_ns : 0;
	}
	*ret_pt = n > 0 ? pt / (double)n : 0;
	return *ret_pt >= LEAST_SLICES * (double)slice_ns && pt <= ONE_CPU * et && pt + wait >= COMPUTES * et;
}

static bool are_fit(const struct duet_candidate *programs, size_t n, int64_t slice_ns)
{
	double shortest = INFINITY, longest = 0, pt;

	for (size_t i = 0; i < n; i++) {
		if (!is_fit(&programs[i], slice_ns, &pt))
			return false;
		shortest = fmin(shortest, pt);
		longest = fmax(longest, pt);
	}
	return n > 1 && longest <= LONGEST * shortest;
}

struct duet_advice duet_advise(const struct duet_candidate *programs, size_t n, int64_t slice_ns)
{
	size_t rounds = n > 0 ? MOST_ROUNDS : 0;
	_cleanup_(freep) double *logs = NULL;
	struct duet_advice advice = {false, NAN, NAN};
	struct shared_noise noise;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		rounds = programs[i].n < rounds ? programs[i].n : rounds;
	logs = xcalloc(n * rounds, sizeof(*logs));
	/* The logarithms of the rounds of which nothing was discarded. Returns how many those are. */
	for (size_t round = 0; round < rounds; round++) {
		bool keep = true;

		for (size_t i = 0; keep && i < n; i++) {
			keep = !programs[i].out[round] && programs[i].samples[round].pt_ns > 0;
			logs[kept * n + i] = keep ? log((double)programs[i].samples[round].pt_ns) : 0;
		}
		kept += keep;
	}
	rounds = kept;
	if (rounds < LEAST_ROUNDS || !are_fit(programs, n, slice_ns))
		return advice;
	noise = shared_noise_of(logs, rounds, n);
	advice.p = noise.p;
	advice.narrower = noise.sd_in_turn / noise.sd_together;
	advice.better = noise.p <= LEVEL && advice.narrower >= NARROWER &&
			2 * noise.sd_in_turn / sqrt((double)rounds) >= HALF_WIDTH;
	return advice;
}
