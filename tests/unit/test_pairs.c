/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Means of samples taken in turn, while the machine drifts. */
#include "tests/unit/check.h"

#include "lib/stats/pairs.h"

#include <math.h>

enum { N = 8 };
static const double NOISE[] = {0.3, -0.2, 0.1, 0.4, -0.5, 0.2, -0.3, 0.0};

/* b takes 5 more; in each unit of time both drift by 2. Pair i has a at `a_at`, b at 1 - `a_at` of
 * its round. */
static struct pair_means drifting(size_t n, const int *a_at)
{
	struct sample_pair pairs[N];

	for (size_t i = 0; i < n; i++) {
		pairs[i].a_at = 2 * (double)i + a_at[i];
		pairs[i].b_at = 2 * (double)i + 1 - a_at[i];
		pairs[i].a = 100 + 2 * pairs[i].a_at;
		pairs[i].b = 105 + 2 * pairs[i].b_at + NOISE[i];
	}
	return pair_means_of(pairs, n);
}

static double mean_noise(size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += NOISE[i];
	return sum / (double)n;
}

TEST(a_linear_drift_cancels_out_of_a_balanced_order)
{
	struct pair_means m = drifting(8, (int[]){0, 1, 0, 1, 0, 1, 0, 1});

	assert_close(m.b - m.a, 5 + mean_noise(8), 1e-9);
	assert_close(m.df, 6, 0);
	assert_close(m.df, pairs_freedom(8), 0);
	assert_true(
		m.variance_a + m.variance_b - 2 * m.covariance < 0.12 / 8); /* of the noise alone */
}

TEST(and_of_one_that_is_cut_off_or_random_but_for_the_noise)
{
	struct pair_means m = drifting(7, (int[]){0, 1, 0, 1, 0, 1, 0}),
			  random = drifting(8, (int[]){1, 0, 0, 1, 0, 0, 0, 0});

	assert_true(fabs(m.b - m.a - 5) < 0.2);
	assert_true(fabs(random.b - random.a - 5) < 0.4);
}

TEST(and_of_a_fixed_order_as_of_older_runs)
{
	struct pair_means a_first = drifting(8, (int[8]){}),
			  b_first = drifting(8, (int[]){1, 1, 1, 1, 1, 1, 1, 1});

	assert_close(a_first.b - a_first.a, 5 + mean_noise(7), 1e-9);
	assert_true(fabs(b_first.b - b_first.a - 5) < 0.3);
	assert_close(a_first.df, 6, 0);
}

TEST(without_times_and_of_few_pairs_the_differences_are_taken_as_they_are)
{
	struct sample_pair pairs[N] = {};
	struct pair_means m;

	for (size_t i = 0; i < N; i++) {
		pairs[i].a = 100;
		pairs[i].b = 105 + NOISE[i];
	}
	m = pair_means_of(pairs, N);
	assert_close(m.b - m.a, 5 + mean_noise(N), 1e-9);
	assert_close(m.df, N - 1, 0);
	m = drifting(2, (int[]){0, 1});
	assert_close(m.b - m.a, 5 + mean_noise(2), 1e-9); /* two rounds in opposite order balance */
	assert_close(m.df, 1, 0);
}
