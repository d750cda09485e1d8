/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of a program whose neighbour comes and goes, by chance, as emp-measure takes them: others
 * in the place of those that had one. How far the mean of those that are kept is from that without
 * a neighbour, and how often its interval contains that. */
#include "tests/unit/drawn.h"

#include "lib/protocol/discard.h"

enum { MOST_ASKED = 40, RUNS = 1000 };

/* Seconds. A sample is read at its ends and in between. */
static const double READ_EVERY = 0.01, GAP = 0.02;

/* A neighbour who stays and stays away for exponential times. */
struct episodes {
	double mean_s[2]; /* how long each state lasts on average: away, there */
	bool there;
	double until_s;
};

static void episode_advance(struct episodes *e, double to_s)
{
	while (e->until_s <= to_s) {
		e->there = !e->there;
		e->until_s += gsl_ran_exponential(rng, e->mean_s[e->there]);
	}
}

/* A program that needs work_s without a neighbour, and 1 + k times as long beside one. Returns when
 * it ends, by steps of a two-thousandth of that; the share is that of its readings. */
static double run_beside(
	struct episodes *e, double at_s, double work_s, double k, double *ret_share)
{
	const double step_s = work_s / 2000, begin_s = at_s;
	double read_s = at_s, beside_s = 0;
	bool before;

	episode_advance(e, at_s);
	before = e->there;
	for (double done_s = 0; done_s < work_s; at_s += step_s) {
		episode_advance(e, at_s);
		done_s += e->there ? step_s / (1 + k) : step_s;
		if (at_s - read_s < READ_EVERY && done_s < work_s)
			continue;
		beside_s += (at_s - read_s) * (before + e->there) / 2;
		read_s = at_s;
		before = e->there;
	}
	*ret_share = beside_s / fmax(read_s - begin_s, step_s);
	return at_s;
}

/* One run: `asked` clean samples, or twice as many in all. The mean without a neighbour is 1 s in
 * PT, whatever work_s is. */
static struct discarding take(size_t asked, double work_s, double k, double sd, struct episodes *e)
{
	static const struct discard_rules rules = {.patterns = names_default,
		.neighbour = NEIGHBOUR_AUTO,
		.neighbour_limit_ppm = NEIGHBOUR_LIMIT_PPM};
	static const struct sources none = {};
	struct sample samples[2 * MOST_ASKED] = {};
	_cleanup_(sample_filter_clear) struct sample_filter filter = {rules, &none, samples};
	size_t clean = 0;
	double at_s = 0;

	while (clean < asked && filter.n_samples < 2 * asked) {
		struct sample *s = &samples[filter.n_samples++];
		double length_s = work_s * (1 + sd * gsl_ran_ugaussian(rng)), share, end_s;

		end_s = run_beside(e, at_s, length_s, k, &share);
		*s = (struct sample){.n = (uint32_t)filter.n_samples,
			.wait_ns = -1,
			.pt_ns = llround((end_s - at_s) / work_s * 1e9),
			.neighbour_ppm = llround(share * PPM)};
		s->et_ns = s->pt_ns;
		clean += !sample_has_neighbour(s, NEIGHBOUR_LIMIT_PPM);
		at_s = end_s + GAP;
	}
	return sample_filter_finish(&filter);
}

/* Lengths of samples and of episodes, k, how often there is a neighbour, and the program's own
 * noise are drawn. */
TEST_DRAWN(the_mean_of_samples_without_a_neighbour_is_that_without_one, 1)
{
	size_t n = 0, n_covered = 0;
	double bias = 0;

	for (size_t i = 0; i < RUNS; i++) {
		double work_s = exp(gsl_ran_flat(rng, log(0.02), log(0.3)));
		double stays_s = exp(gsl_ran_flat(rng, log(0.1), log(60)));
		double duty = gsl_ran_flat(rng, 0.02, 0.6);
		struct episodes e = {.mean_s = {stays_s * (1 - duty) / duty, stays_s},
			.there = gsl_ran_flat(rng, 0, 1) < duty};
		_cleanup_(discarding_clear) struct discarding d = {};

		e.until_s = gsl_ran_exponential(rng, e.mean_s[e.there]);
		d = take(8 + gsl_rng_uniform_int(rng, MOST_ASKED - 7), work_s,
			gsl_ran_flat(rng, 0, 1), gsl_ran_flat(rng, 0.003, 0.02), &e);
		if (d.neighbour != NEIGHBOUR_DISCARD)
			continue;
		n++;
		n_covered += d.pt.interval.low_ns <= 1e9 && d.pt.interval.high_ns >= 1e9;
		bias += d.pt.kept.mean_ns / 1e9 - 1;
	}
	printf("%zu of %d runs discard: bias %.3f %%, %.1f %% of the intervals cover\n", n, RUNS,
		100 * bias / (double)n, 100 * (double)n_covered / (double)n);
	assert_true(n > RUNS / 2);
	assert_close(bias / (double)n, 0, 0.002);
	assert_close((double)n_covered / (double)n, 0.955, 0.025);
}
