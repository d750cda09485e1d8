/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hines, Wyatt & Chang: the numbers of their Tables 1 and 2 as a calibration of the clocks of their
 * machine, and the gain in precision of their Figure 2. What Figure 1 shows is measured on the real
 * kernel: tests/cli/clocks.sh. */
#include "tests/papers/csv.h"
#include "tests/unit/check.h"

#include "lib/clocks/clocks.h"
#include "lib/clocks/precision.h"

#include <gsl/gsl_randist.h>
#include <math.h>

static const double hz = 166e6; /* of their Pentium Pro */

static double cell(const char *quantity, const char *column)
{
	struct csv csv = csv_read("getpinfo-tables.csv");
	double value = NAN;

	for (size_t i = 0; i < csv.n_rows; i++)
		if (!strcmp(csv_text(&csv, i, "quantity"), quantity))
			value = csv_number(&csv, i, column);
	csv_clear(&csv);
	return value;
}

static void add_source(struct clocks *clocks, const char *name, const char *column)
{
	struct clock_source *source = clocks_add_source(clocks, name);

	source->mean = source->median = cell("call overhead mean cycles", column);
	source->sd = cell("call overhead sd cycles", column);
	source->min = 0;
}

static double number(const json_t *json, const char *a, const char *b)
{
	return json_real_value(json_object_get(json_object_get(json, a), b));
}

static void assert_near(double x, double y, double tolerance)
{
	if (!(fabs(x - y) <= tolerance))
		fail_msg("%.9g is not near %.9g", x, y);
}

TEST(tables_1_and_2_are_microseconds_on_their_machine)
{
	_cleanup_(clocks_clear) struct clocks clocks = {
		.cycles_per_second = hz, .tick_period_ns = NAN};
	_cleanup_(json_decrefp) json_t *json = NULL;
	const json_t *getrusage, *getpinfo;

	add_source(&clocks, "getrusage(RUSAGE_SELF)", "getrusage");
	add_source(&clocks, "getpinfo", "getpinfo");
	json = clocks_as_json(&clocks);
	getrusage = json_array_get(json_object_get(json, "sources"), 0);
	getpinfo = json_array_get(json_object_get(json, "sources"), 1);
	assert_near(number(getrusage, "ns", "mean"), 2506, 0.5);
	assert_near(number(getpinfo, "ns", "mean"), 1283, 0.5);
	assert_near(number(getpinfo, "cycles", "mean") / number(getrusage, "cycles", "mean"), 0.512,
		5e-4);
	assert_near(
		number(getpinfo, "cycles", "sd") / number(getrusage, "cycles", "sd"), 0.410, 5e-4);
	/* Table 2: 591 cycles are 3.56 us */
	assert_near(cell("small malloc mean cycles", "getpinfo") / hz * 1e6, 3.56, 5e-3);
	assert_true(isnan(cell("small malloc mean cycles", "getrusage")));
}

enum { TICK = 10000000 }; /* of Linux 2.2, in ns */

/* Figure 2: standard deviations that are 6.27 times as great are a gain of 527 %; and a clock of
 * ticks of 10 ms has at least that over computations of 0.1 to 10 ms. */
TEST(figure_2_the_gain_in_precision)
{
	enum { SIZES = 50, TRIALS = 1000, BATCHES = 10 };
	const double gain = cell("precision gain on primes percent", "getpinfo") / 100 + 1,
		     sd = 1000;
	_cleanup_(freep) double *fine = calloc(SIZES * TRIALS, sizeof(double));
	_cleanup_(freep) double *coarse = calloc(SIZES * TRIALS, sizeof(double));
	_cleanup_(freep) double *ticks = calloc(SIZES * TRIALS, sizeof(double));
	double truths[SIZES];
	struct precision_pair pair = {coarse, fine, truths, SIZES, TRIALS, BATCHES};
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct gain found;

	gsl_rng_set(rng, check_seed(1));
	for (size_t i = 0; i < SIZES * TRIALS; i++) {
		double ns = truths[i / TRIALS] = 200e3 * (double)(i / TRIALS + 1);

		fine[i] = ns + sd * gsl_ran_ugaussian(rng);
		coarse[i] = ns + gain * sd * gsl_ran_ugaussian(rng);
		ticks[i] = TICK * floor(gsl_rng_uniform(rng) + ns / TICK);
	}
	found = precision_gain(&pair);
	assert_near(100 * (found.ratio - 1), 527, 15);
	pair.reference = ticks;
	assert_true(precision_gain(&pair).low > gain);
	gsl_rng_free(rng);
}
