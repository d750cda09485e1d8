/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Correlation: known values, and how often it is found where there is none. */
#include "tests/unit/check.h"

#include "lib/load/pearson.h"

#include <math.h>

TEST(a_coefficient_and_its_interval_are_as_published)
{
	/* Anscombe (1973), the first of his four, in an order in which neighbours are not alike: r
	 * = 0.81642, F = 17.99 with 1 and 9 degrees of freedom, p = 0.00217 */
	static const double x[] = {10, 13, 4, 5, 8, 11, 7, 14, 9, 6, 12};
	static const double y[] = {
		8.04, 7.58, 4.26, 5.68, 6.95, 8.33, 4.82, 9.96, 8.81, 7.24, 10.84};
	struct pearson c = pearson_of(x, y, ELEMENTS(x));

	assert_true(fabs(c.r - 0.81642) < 1e-5);
	assert_true(c.effective_n == 11);
	assert_true(fabs(c.p - 0.00217) < 1e-5);
	assert_true(fabs(c.low - 0.4244) < 1e-3 && fabs(c.high - 0.9507) < 1e-3);
}

TEST(too_few_or_constant_values_have_none)
{
	static const double x[] = {1, 2, 3, 4, 5, 6}, same[] = {7, 7, 7, 7, 7},
			    tenth[] = {.1, .1, .1, .1, .1, .1};

	assert_true(isnan(pearson_of(x, x, 4).r));
	assert_true(isnan(pearson_of(x, same, 5).r));
	assert_true(isnan(pearson_of(same, x, 5).p));
	assert_true(isnan(pearson_of(x, tenth, 6).r)); /* six of which are not 0.6 */
	assert_true(pearson_of(x, x, 5).r > 0.999999);
}

/* Kinds of series, which two independent ones are drawn from. */
enum series {
	NORMAL,
	SKEWED,
	HEAVY,
	COUNTS,
	ALIKE,
	VERY_ALIKE,
	WANDERING,
	DRIFTING,
	PERIODIC,
	STEPPING,
	N_SERIES
};

static double normal(uint64_t *seed)
{
	return sqrt(-2 * log(1 - random_unit(seed))) * cos(2 * M_PI * random_unit(seed));
}

static double one_of(enum series kind, double at, double where, double strength, uint64_t *seed)
{
	switch (kind) {
	case SKEWED:
		return exp(normal(seed));
	case HEAVY:
		return tan(M_PI * (random_unit(seed) - 0.5)); /* Cauchy */
	case COUNTS:
		return floor(3 * random_unit(seed)) + (random_unit(seed) < 0.05) * 100;
	case DRIFTING:
		return strength * at + normal(seed);
	case PERIODIC:
		return strength * sin(2 * M_PI * (at * (0.5 + 4 * where) + where)) + normal(seed);
	case STEPPING:
		return strength * (at > where) + normal(seed);
	default:
		return normal(seed);
	}
}

static void draw(enum series kind, double *values, size_t n, uint64_t *seed)
{
	double where = random_unit(seed), strength = 5 * random_unit(seed) - 2.5, sum = 0;

	if (kind == ALIKE || kind == VERY_ALIKE) {
		double lag1 = kind == ALIKE ? 0.5 : 0.9;
		double value = normal(seed) / sqrt(1 - lag1 * lag1);

		for (size_t i = 0; i < n; i++) {
			values[i] = value;
			value = lag1 * value + normal(seed);
		}
		return;
	}
	for (size_t i = 0; i < n; i++) {
		double value = one_of(kind, (double)i / (double)n, where, strength, seed);

		sum += value;
		values[i] = kind == WANDERING ? sum : value;
	}
}

/* How often, in 100 pairs of such series of n values, an interval that should miss 0 in 5 does. */
static double false_alarms(enum series kind, size_t n, uint64_t seed)
{
	enum { SEEDS = 2000 };
	double x[64], y[64];
	int found = 0;

	for (int i = 0; i < SEEDS; i++) {
		struct pearson c;

		draw(kind, x, n, &seed);
		draw(kind, y, n, &seed);
		c = pearson_of(x, y, n);
		found += !isnan(c.low) && (c.low > 0 || c.high < 0);
	}
	return 100.0 * found / SEEDS;
}

TEST(what_is_independent_is_seldom_called_related)
{
	static const size_t sizes[] = {5, 6, 8, 12, 20, 50};
	static const char *const names[N_SERIES] = {"normal", "skewed", "heavy", "counts", "alike",
		"very alike", "wandering", "drifting", "periodic", "stepping"};
	uint64_t seed = check_seed(1);

	for (enum series kind = 0; kind < N_SERIES; kind++)
		for (size_t i = 0; i < ELEMENTS(sizes); i++) {
			double share = false_alarms(kind, sizes[i], seed + i);

			if (share > (kind < ALIKE ? 9 : 14))
				fail_msg("%s, n = %zu: %.1f %%", names[kind], sizes[i], share);
		}
}

/* Normal pairs with this coefficient, one like the next. */
TEST(what_goes_together_is_found_and_the_interval_has_it)
{
	enum { SEEDS = 2000, N = 12 };
	static const double truth = 0.9;
	uint64_t seed = check_seed(1);
	int found = 0, covered = 0;

	for (int i = 0; i < SEEDS; i++) {
		double x[N], y[N];
		struct pearson c;

		for (size_t k = 0; k < N; k++) {
			x[k] = normal(&seed);
			y[k] = truth * x[k] + sqrt(1 - truth * truth) * normal(&seed);
		}
		c = pearson_of(x, y, N);
		found += c.low > 0;
		covered += c.low <= truth && truth <= c.high;
	}
	print_message("found in %.1f %%, covered in %.1f %%\n", 100.0 * found / SEEDS,
		100.0 * covered / SEEDS);
	assert_true(found > 0.9 * SEEDS);
	assert_true(covered > 0.93 * SEEDS);
}
