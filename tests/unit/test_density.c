/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Densities: those of buckets beside those of the values themselves. */
#include "lib/jitter/density.h"

#include "tests/unit/check.h"

#include <math.h>

enum { VALUES = 20000, BUCKETS = 1024, IN_A_DOUBLING = 32 };

static double uniform(void)
{
	return ((double)random() + 0.5) / ((double)RAND_MAX + 1);
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* log10 of lengths of a narrow peak, a wide one, and a few long ones. */
static double draw(void)
{
	double which = uniform();

	if (which < 0.70)
		return log10(10e3) + 0.03 * normal();
	if (which < 0.99)
		return log10(60e3) + 0.3 * normal();
	return log10(2.5e6) + 0.02 * normal();
}

static struct density_point values[VALUES], buckets[BUCKETS];

/* Values, and the same in buckets of a thirty-second of a doubling, as those of jitter runs are
 * about, at the mean of the lengths. Returns the number of buckets. */
static size_t make(uint64_t seed)
{
	double sums[BUCKETS] = {}, counts[BUCKETS] = {};
	size_t n = 0;

	srandom((unsigned)check_seed(seed));
	for (size_t i = 0; i < VALUES; i++) {
		double at = draw();
		size_t bucket = (size_t)(at / log10(2) * IN_A_DOUBLING);

		values[i] = (struct density_point){at, 1, 0};
		counts[bucket]++;
		sums[bucket] += pow(10, at);
	}
	for (size_t i = 0; i < BUCKETS; i++)
		if (counts[i] > 0)
			buckets[n++] = (struct density_point){
				log10(sums[i] / counts[i]), counts[i], log10(2) / IN_A_DOUBLING};
	return n;
}

TEST(a_density_of_buckets_is_that_of_the_values)
{
	double worst = 0, bandwidth;
	size_t n;

	n = make(3);
	bandwidth = density_bandwidth(buckets, n);
	for (double x = 3; x < 7; x += 0.01) {
		double exact = density_at(values, VALUES, bandwidth, x);

		if (exact > 10) /* a thousandth of the highest */
			worst = fmax(
				worst, fabs(log10(density_at(buckets, n, bandwidth, x) / exact)));
	}
	printf("bandwidth %.4f, bucket %.4f, worst factor %.3f\n", bandwidth,
		log10(2) / IN_A_DOUBLING, pow(10, worst));
	assert_true(pow(10, worst) < 1.1);
}

TEST(a_density_holds_all_values)
{
	double sum = 0, bandwidth;
	size_t n;

	n = make(4);
	bandwidth = density_bandwidth(buckets, n);
	for (double x = 2; x < 8; x += 0.001)
		sum += 0.001 * density_at(buckets, n, bandwidth, x);
	assert_true(fabs(sum / VALUES - 1) < 0.001);
}

/* That of a normal density is known: 1.06 sd n^-1/5 (Silverman 1986). */
TEST(the_bandwidth_of_normal_values_is_that_of_theory)
{
	double ratio = 0;

	srandom((unsigned)check_seed(5));
	for (int seed = 0; seed < 100; seed++) {
		for (size_t i = 0; i < 1000; i++)
			values[i] = (struct density_point){4 + 0.5 * normal(), 1, 0};
		ratio += density_bandwidth(values, 1000) / (1.06 * 0.5 * pow(1000, -0.2)) / 100;
	}
	printf("mean ratio %.3f\n", ratio);
	assert_true(ratio > 0.9 && ratio < 1.1);
}

TEST(a_narrow_peak_beside_a_wide_one_is_not_blurred)
{
	make(6);
	/* the rule of Silverman gives 0.05 */
	assert_true(density_bandwidth(values, VALUES) < 0.02);
}

TEST(one_value_has_no_bandwidth_but_its_bucket)
{
	const struct density_point one[] = {{4, 1, 0.01}}, same[] = {{4, 100, 0.01}};

	assert_true(density_bandwidth(one, 1) == 0.015);
	assert_true(density_bandwidth(same, 1) == 0.015);
	assert_true(density_bandwidth(NULL, 0) == 0);
}
