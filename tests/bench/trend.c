/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often `emp-analyze trend` claims a change that is not there, and how often it finds one that
 * is, by length, noise and drift:
 *
 *     tests/bench/trend [false|found|drift|equal|missing|all] [SERIES] [SEED]
 *
 * Each figure is the share of so many made-up series (default: 400), in percent; with 400, its
 * standard error is 1 % at 5 %. The noise has an sd of 1 but for its bad runs. Places, and what is
 * given as a range, are drawn. Aims: false changes 5 % at most; of steps of 8 sd 99 %.
 *
 * equal: of series that are as much slower at the end as is allowed, those called equal (aim: 5 %
 * at most), and of those without a change.
 *
 * missing: "N more runs should tell": how often a verdict does, with N more at the last level (aim:
 * 80 %). */
#include "lib/base/base.h"
#include "lib/base/text.h"
#include "lib/trend/trend_verdict.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 400, OCTAVES = 10 };

static gsl_rng *rng;
static size_t n_series = 400;

static void make_white(double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = gsl_ran_ugaussian(rng);
}

static void make_alike(double *values, size_t n)
{
	double state = gsl_ran_ugaussian(rng);

	for (size_t i = 0; i < n; i++) {
		values[i] = state;
		state = 0.5 * state + sqrt(0.75) * gsl_ran_ugaussian(rng);
	}
}

/* 1/f: processes that forget after 1, 2, 4… values, of equal variance. */
static void make_flicker(double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = 0;
	for (int k = 0; k < OCTAVES; k++) {
		double lag1 = exp(-1 / pow(2, k)), state = gsl_ran_ugaussian(rng);

		for (size_t i = 0; i < n; i++) {
			values[i] += state / sqrt(OCTAVES);
			state = lag1 * state + sqrt(1 - lag1 * lag1) * gsl_ran_ugaussian(rng);
		}
	}
}

static void make_flicker_and_white(double *values, size_t n)
{
	make_flicker(values, n);
	for (size_t i = 0; i < n; i++)
		values[i] = (values[i] + gsl_ran_ugaussian(rng)) / M_SQRT2;
}

static void make_skewed(double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = gsl_ran_exponential(rng, 1);
}

static void make_heavy(double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = gsl_ran_tdist(rng, 3) / sqrt(3);
}

static void make_bad(double *values, size_t n)
{
	double size = exp(gsl_ran_flat(rng, log(3), log(100)));

	for (size_t i = 0; i < n; i++)
		values[i] = gsl_ran_ugaussian(rng) +
			    (gsl_rng_uniform(rng) < 0.15 ? gsl_ran_gaussian(rng, size) : 0);
}

static void make_bad_slow(double *values, size_t n)
{
	double size = exp(gsl_ran_flat(rng, log(3), log(100)));

	for (size_t i = 0; i < n; i++)
		values[i] = gsl_ran_ugaussian(rng) +
			    (gsl_rng_uniform(rng) < 0.15 ? gsl_ran_exponential(rng, size) : 0);
}

static void make_bad_alike(double *values, size_t n)
{
	double size = exp(gsl_ran_flat(rng, log(3), log(100)));

	for (size_t i = 0; i < n; i++)
		values[i] = gsl_ran_ugaussian(rng) + (gsl_rng_uniform(rng) < 0.15 ? size : 0);
}

static void make_equal(double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = gsl_rng_uniform(rng) < 0.9 ? 0 : gsl_ran_ugaussian(rng);
}

static void make_equal_or_slow(double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = gsl_rng_uniform(rng) < 0.9 ? 0 : gsl_ran_exponential(rng, 1);
}

static void make_rounded(double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = round(gsl_ran_ugaussian(rng) / 2) * 2;
}

static void make_burst(double *values, size_t n)
{
	size_t at = 3 + gsl_rng_uniform_int(rng, n > 10 ? n - 10 : 1);

	make_white(values, n);
	for (size_t i = at; i < at + 4 && i + 3 < n; i++)
		values[i] += 12;
}

static const struct noise {
	const char *name;
	void (*make)(double *values, size_t n);
} noises[] = {
	{"white", make_white},
	{"AR(0.5)", make_alike},
	{"flicker (1/f)", make_flicker},
	{"flicker and white", make_flicker_and_white},
	{"exponential", make_skewed},
	{"Student's t, 3 df", make_heavy},
	{"15 % bad, both sides", make_bad},
	{"15 % bad, slow", make_bad_slow},
	{"15 % bad, equally slow", make_bad_alike},
	{"90 % equal", make_equal},
	{"90 % equal, rest slow", make_equal_or_slow},
	{"rounded to 2 sd", make_rounded},
	{"a burst of four", make_burst},
};

static const size_t lengths[] = {6, 10, 20, 50, 100, 200};

static struct levels find(const double *values, size_t n)
{
	struct levels levels;

	change_points_find(values, n, 0, &levels);
	return levels;
}

static double percent(size_t hits)
{
	return 100 * (double)hits / (double)n_series;
}

static void print_head(const char *title)
{
	printf("\n%-40s", title);
	for (size_t k = 0; k < ELEMENTS(lengths); k++)
		printf("%9zu", lengths[k]);
	printf("\n");
}

/* Steps, and of those without a step, drifts. */
static void print_false(void)
{
	double values[MOST];

	print_head("no change: steps + drifts claimed, %");
	for (size_t i = 0; i < ELEMENTS(noises); i++) {
		printf("%-40s", noises[i].name);
		for (size_t k = 0; k < ELEMENTS(lengths); k++) {
			size_t steps = 0, drifts = 0;

			for (size_t s = 0; s < n_series; s++) {
				_cleanup_(levels_clear) struct levels levels = {};

				noises[i].make(values, lengths[k]);
				levels = find(values, lengths[k]);
				steps += levels.n > 1;
				drifts += levels.n == 1 && levels.drifts;
			}
			printf(" %4.1f+%-3.1f", percent(steps), percent(drifts));
			fflush(stdout);
		}
		printf("\n");
	}
}

/* A step of so many sd is found within two values of where it is, and nothing else. */
static void print_found(const struct noise *noise, double by)
{
	double values[MOST];

	printf("%-28s %3g sd     ", noise->name, by);
	for (size_t k = 0; k < ELEMENTS(lengths); k++) {
		size_t n = lengths[k], found = 0, exact = 0;

		for (size_t s = 0; s < n_series; s++) {
			size_t at = 3 + gsl_rng_uniform_int(rng, n - 5);
			double up = gsl_rng_uniform(rng) < 0.5 ? -by : by;
			bool near = false;

			_cleanup_(levels_clear) struct levels levels = {};

			noise->make(values, n);
			for (size_t j = at; j < n; j++)
				values[j] += up;
			levels = find(values, n);
			for (size_t l = 1; l < levels.n; l++)
				near |= labs((long)levels.items[l].first - (long)at) <= 2;
			found += near;
			exact += near && levels.n == 2;
		}
		printf(" %4.0f/%-3.0f", percent(found), percent(exact));
		fflush(stdout);
	}
	printf("\n");
}

/* A drift by so many sd from first to last, with a step of its own: is the drift found, the step,
 * and how many further ones on average. */
static void print_drift(double from_first_to_last, double by)
{
	double values[MOST];

	printf("drift of %4g sd, step of %3g sd         ", from_first_to_last, by);
	for (size_t k = 0; k < ELEMENTS(lengths); k++) {
		size_t n = lengths[k], drifts = 0, near = 0, further = 0;

		for (size_t s = 0; s < n_series; s++) {
			size_t at = 3 + gsl_rng_uniform_int(rng, n - 5);

			_cleanup_(levels_clear) struct levels levels = {};

			make_white(values, n);
			for (size_t i = 0; i < n; i++)
				values[i] += from_first_to_last * (double)i / (double)(n - 1) +
					     (i >= at ? by : 0);
			levels = find(values, n);
			drifts += levels.drifts;
			further += levels.n - 1;
			for (size_t l = 1; l < levels.n; l++)
				if (labs((long)levels.items[l].first - (long)at) <= 2) {
					near++;
					further -= by > 0;
					break;
				}
		}
		printf(" %3.0f/%3.0f+%-4.2f", percent(drifts), by > 0 ? percent(near) : 0,
			(double)further / (double)n_series);
		fflush(stdout);
	}
	printf("\n");
}

/* Values of noise of sd, with a change before `at`. Of the whole series, the first n are judged. */
static struct trend_judgement judge(const double *noise, size_t n, size_t at, double by, double sd,
	const struct comparison_rules *rules)
{
	double values[MOST];
	_cleanup_(levels_clear) struct levels levels = {};

	for (size_t i = 0; i < n; i++)
		values[i] = sd * noise[i] + (i >= at ? by : 0);
	levels = find(values, n);
	return trend_judge(&levels, 0, rules);
}

/* Values of noise of sd that change by so much: by bit, or before the last ones (0: by bit). */
static bool is_equal(const struct noise *noise, size_t n, double sd, double by, size_t last)
{
	const struct comparison_rules rules = COMPARISON_RULES;
	double values[MOST];
	_cleanup_(levels_clear) struct levels levels = {};

	noise->make(values, n);
	for (size_t i = 0; i < n; i++) {
		double share = last > 0 ? i + last >= n : (double)i / (double)(n - 1);

		values[i] = sd * values[i] + by * share;
	}
	levels = find(values, n);
	return trend_judge(&levels, 0, &rules).verdict == COMPARISON_EQUAL;
}

static void print_equal(const struct noise *noise, double sd)
{
	static const struct {
		const char *name;
		double by;
		size_t last;
	} cases[] = {{"no change", 0, 1}, {"a drift of 2 %", 0.02, 0}, {"a drift of 3 %", 0.03, 0},
		{"the last 3 by 2 %", 0.02, 3}, {"the last 5 by 2 %", 0.02, 5}};

	for (size_t c = 0; c < ELEMENTS(cases); c++) {
		printf("%-13s %4.1f %% %-18s ", noise->name, 100 * sd, cases[c].name);
		for (size_t k = 0; k < ELEMENTS(lengths); k++) {
			size_t equal = 0;

			for (size_t s = 0; s < n_series; s++)
				equal += is_equal(
					noise, lengths[k], sd, log1p(cases[c].by), cases[c].last);
			printf("%9.1f", percent(equal));
			fflush(stdout);
		}
		printf("\n");
	}
}

/* Of series that cannot tell and say N: the share that does with N more, the median N; the share
 * that says N, and of the others, the share that tells with 200 more. The change is of 0.1 to 8 sd,
 * or none. */
static void print_missing(const struct noise *noise, double gate)
{
	const double LATER = 200;
	struct comparison_rules rules = {.fail_if_slower = gate, .equal_within = -1};

	printf("%-24s %-9s     ", noise->name, gate < 0 ? "" : text_brief("gate %g %%", gate));
	for (size_t k = 0; k < ELEMENTS(lengths); k++) {
		size_t n = lengths[k], all = 0, advised = 0, told = 0, late = 0;
		double *more = xcalloc(n_series, sizeof(*more));

		for (size_t tries = 0; tries < 4 * n_series && advised < n_series; tries++) {
			double values[MOST], sd = exp(gsl_ran_flat(rng, log(0.001), log(0.1)));
			double by = gsl_rng_uniform(rng) < 0.5
					    ? 0
					    : sd * exp(gsl_ran_flat(rng, log(0.1), log(8)));
			size_t at = 3 + gsl_rng_uniform_int(rng, n - 5);
			struct trend_judgement j;

			noise->make(values, n + (size_t)LATER);
			by *= gsl_rng_uniform(rng) < 0.5 ? -1 : 1;
			j = judge(values, n, at, by, sd, &rules);
			if (j.verdict != COMPARISON_CANNOT_TELL)
				continue;
			all++;
			if (!(j.missing <= LATER)) {
				j = judge(values, n + (size_t)LATER, at, by, sd, &rules);
				late += j.verdict != COMPARISON_CANNOT_TELL;
				continue;
			}
			more[advised++] = j.missing;
			j = judge(values, n + (size_t)j.missing, at, by, sd, &rules);
			told += j.verdict != COMPARISON_CANNOT_TELL;
		}
		gsl_sort(more, 1, advised);
		printf(" %3.0f (%3.0f; of %3.0f/%2.0f)", 100 * (double)told / (double)advised,
			advised ? more[advised / 2] : NAN, 100 * (double)advised / (double)all,
			100 * (double)late / (double)(all - advised));
		fflush(stdout);
		free(more);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	static const double steps[] = {2, 3, 5, 8, 50}, drifts[] = {3, 5, 10, 50, 200};

	const char *table = argc > 1 ? argv[1] : "all";
	bool all = !strcmp(table, "all");

	rng = gsl_rng_alloc(gsl_rng_taus2);
	gsl_rng_set(rng, argc > 3 ? strtoul(argv[3], NULL, 10) : 1);
	if (argc > 2)
		n_series = strtoul(argv[2], NULL, 10);

	if (all || !strcmp(table, "false"))
		print_false();
	if (all || !strcmp(table, "found")) {
		print_head("a step: found / found and nothing else, %");
		for (size_t i = 0; i < ELEMENTS(steps); i++)
			print_found(&noises[0], steps[i]);
		for (size_t i = 1; i < ELEMENTS(noises) - 1; i++)
			print_found(&noises[i], 8);
	}

	if (all || !strcmp(table, "drift")) {
		print_head("a drift: drift found/step found, % + steps made up");
		for (size_t i = 0; i < ELEMENTS(drifts); i++)
			for (int with = 0; with < 2; with++)
				print_drift(drifts[i], with ? 8 : 0);
	}

	if (all || !strcmp(table, "equal")) {
		print_head("within 2 %: called equal, %");
		for (double sd = 0.0025; sd <= 0.02; sd *= 2)
			print_equal(&noises[0], sd);
		print_equal(&noises[2], 0.005);
	}

	if (all || !strcmp(table, "missing")) {
		print_head("cannot tell: told with N more, % (N; said, %/told later)");
		for (size_t i = 0; i < 5; i++)
			for (int gate = -1; gate <= 5; gate += 3)
				print_missing(&noises[i], gate);
	}
	gsl_rng_free(rng);
	return 0;
}
