/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often a suite of 20 benchmarks is red, on made-up machines whose truth is known. Prints a
 * table, by hand:
 *
 * build/tests/bench/suites [SUITES [SEED [SERIES.csv...]]]
 *
 * Of suites of equal programs: red with one verdict (aim: 1 % at most), and as if each command line
 * were judged by itself. Of suites in which one program is slower by 5 %: how often that one is
 * found. Then how many of the command lines are measured again, and how many are equal. SERIES are
 * real times, in the second column, which replace those of the made-up machines. */
#include "tests/unit/made_suite.h"

enum { MOST_TIMES = 10000, SAMPLES = 10 };
static const double PLANTED = 1.05;

static const struct made_noise noises[] = {
	{"duet, 0.5 %", true, .sd = 0.05, .correlation = 0.9, .of_sample = 0.0035},
	{"duet, 2 %", true, .sd = 0.10, .correlation = 0.9, .of_sample = 0.014},
	{"duet, 4 %", true, .sd = 0.10, .correlation = 0.5, .of_sample = 0.028},
	{"in turn, 1 %", false, .sd = 0.005, .correlation = 0.5, .of_sample = 0.005},
	{"in turn, drifting", false, .sd = 0.05, .correlation = 0.98, .of_sample = 0.01},
	{"in turn, 4 %, rough", false, .sd = 0.02, .correlation = -0.3, .of_sample = 0.02},
	{"in turn, two speeds", false, .of_sample = 0.01, .half = 0.05},
	{"duet, two speeds", true, .of_sample = 0.01, .half = 0.05},
};

/* By the verdict of each line, with the interval that it has by itself. */
static bool is_red_by_line(const struct made_noise *noise, gsl_rng *rng)
{
	struct made_machine machine = made_machine_begin(noise, rng);
	bool red = false;

	for (size_t i = 0; i < MADE_LINES; i++) {
		struct comparison c = made_comparison(&machine, SAMPLES, 1, 2);

		red = red || comparison_verdict(&c) == COMPARISON_SLOWER;
	}
	return red;
}

static void bench(const struct made_noise *noise, int suites, gsl_rng *rng)
{
	int red = 0, by_line = 0, found = 0;
	size_t again = 0, equal = 0;

	for (int i = 0; i < suites; i++) {
		struct made_verdict same = made_suite_judge(noise, rng, SAMPLES, 1);

		red += same.red;
		again += same.n_again;
		equal += same.n_equal;
		by_line += is_red_by_line(noise, rng);
		found += made_suite_judge(noise, rng, SAMPLES, PLANTED).found;
	}
	printf("%-24s %8.1f %8.1f %8.1f %8.1f %8.1f\n", noise->name, 100. * red / suites,
		100. * by_line / suites, 100. * found / suites,
		100. * (double)again / suites / MADE_LINES,
		100. * (double)equal / suites / MADE_LINES);
	fflush(stdout);
}

static size_t read_series(const char *path, double *times)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "re");
	char line[256];
	size_t n = 0;

	while (file && n < MOST_TIMES && fgets(line, sizeof(line), file)) {
		double us;

		if (sscanf(line, "%*[^,],%lf", &us) == 1 && us > 0)
			times[n++] = us * 1000;
	}
	return n;
}

int main(int argc, char **argv)
{
	static double times[MOST_TIMES];
	int suites = argc > 1 ? atoi(argv[1]) : 1000;
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, argc > 2 ? strtoul(argv[2], NULL, 10) : 1);
	printf("%d suites, in %%        %8s %8s %8s %8s %8s\n", suites, "red", "by line", "found",
		"again", "equal");
	for (size_t i = 0; argc <= 3 && i < ELEMENTS(noises); i++)
		bench(&noises[i], suites, rng);
	for (int i = 3; i < argc; i++) {
		const char *name = strrchr(argv[i], '/');
		struct made_noise noise = {name ? name + 1 : argv[i], .series = times,
			.n = read_series(argv[i], times)};

		if (noise.n > 0)
			bench(&noise, suites, rng);
	}
	gsl_rng_free(rng);
	return 0;
}
