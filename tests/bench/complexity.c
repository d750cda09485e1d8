/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often the growth of times with size is told right, on made-up times. Prints tables, by hand:
 *
 * build/tests/bench/bench_complexity [SEEDS [SEED]]
 *
 * Each cell is: known and right + cannot tell + wrong, in % (aim: at most 1 % wrong). What a table
 * does not fix is drawn: see tests/unit/made_growth.h. */
#include "tests/unit/made_growth.h"

static gsl_rng *rng;
static int seeds = 1000;

/* What a cell fixes; 0 leaves it as it was drawn, -1 is 0. */
struct fixed {
	const char *name;
	double span, constant, deviation;
	size_t n_sizes;
};

static double or_drawn(double fixed, double drawn)
{
	if (fixed < 0)
		return 0;
	return fixed > 0 ? fixed : drawn;
}

static void bench_cell(enum growth growth, const struct fixed *fixed)
{
	int right = 0, wrong = 0;

	for (int seed = 0; seed < seeds; seed++) {
		struct sized_time times[MADE_MOST_SIZES];
		struct made_growth of = made_growth_draw(rng, growth);
		struct complexity c;
		struct error err;

		of.span = or_drawn(fixed->span, of.span);
		of.constant = or_drawn(fixed->constant, of.constant);
		of.deviation = or_drawn(fixed->deviation, of.deviation);
		of.n_sizes = fixed->n_sizes ?: of.n_sizes;
		made_sized_times(rng, &of, times);
		if (complexity_of(times, of.n_sizes, &c, &err) < 0)
			continue;
		right += c.verdict == COMPLEXITY_KNOWN && c.best == growth;
		wrong += c.verdict == COMPLEXITY_OTHER || !c.possible[growth];
	}
	printf("  %5.1f+%5.1f+%4.1f", 100. * right / seeds, 100. * (seeds - right - wrong) / seeds,
		100. * wrong / seeds);
}

int main(int argc, char **argv)
{
	static const struct fixed rows[] = {
		{"all"},
		{"sizes span 4", .span = 4},
		{"8", .span = 8},
		{"32", .span = 32},
		{"4 sizes", .n_sizes = 4},
		{"8 sizes", .n_sizes = 8},
		{"no constant", .constant = -1},
		{"constant 0.1", .constant = 0.1},
		{"constant 1", .constant = 1},
		{"constant 10", .constant = 10},
		{"deviation 0.1 %", .deviation = 0.001},
		{"deviation 1 %", .deviation = 0.01},
		{"deviation 5 %", .deviation = 0.05},
		{"8, 4 sizes, 5 %", .span = 8, .n_sizes = 4, .deviation = 0.05},
		{"32, 6 sizes, 1 %", .span = 32, .n_sizes = 6, .deviation = 0.01},
	};

	if (argc > 1)
		seeds = atoi(argv[1]);
	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, argc > 2 ? (unsigned long)atol(argv[2]) : 1);
	printf("right + cannot tell + wrong, %%\n%-18s", "");
	for (enum growth growth = 0; growth < N_GROWTHS; growth++)
		printf("%18s", growth_names[growth]);
	printf("\n");
	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		printf("%-18s", rows[i].name);
		for (enum growth growth = 0; growth < N_GROWTHS; growth++)
			bench_cell(growth, &rows[i]);
		printf("\n");
		fflush(stdout);
	}
	gsl_rng_free(rng);
	return 0;
}
