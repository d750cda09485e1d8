/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often comparisons are right, on made-up machines whose truth is known. Prints tables, by
 * hand:
 *
 * build/tests/bench/comparisons [TABLE|all [SEEDS [SEED]]]
 *
 * between: A/A of separate runs, with --between-runs or as other runs of the book show it: false
 * differences (aim: 5 % at most).
 *
 * single: of one run, the interval that contains what differs between runs, by how they differ and
 * how many earlier ones show it: how many contain the mean of many runs (aim: 93 to 97 %; the
 * interval of the run alone, in brackets), and how wide they are, in those of known variances (median). The
 * noise within runs is drawn from 0.5 to 5 %, the number of samples from 5 to 40.
 *
 * drift: A/A in turn on a machine that drifts: false differences in the order that emp-measure
 * takes, in the fixed order of older runs and in a random one; and how wide the intervals are, in
 * sd of a sample.
 *
 * rounding: intervals of a clock with steps: how many contain the truth, over all positions of the
 * true time in a step and at the worst of them, and half their width in steps (median); and the
 * same of means.
 *
 * resolving: what 10 samples are said to resolve, divided by what they resolve: median, and the
 * lowest tenth.
 *
 * missing: "N more samples should tell": how often a comparison with that many more samples does
 * (aim: 80 %), and N (median, and the highest tenth), by the number of samples of the first
 * comparison. Differences are drawn from 0.1 to 20 %, the noise from 0.2 to 10 %.
 *
 * wide: times that spread by a factor of 3 and more: intervals that miss the ratio of the means
 * (aim: 5 %), how many have no upper bound, and how many no bounds. */
#include "tests/unit/made_runs.h"

#include "lib/base/number.h"
#include "lib/protocol/comparison.h"
#include "lib/protocol/sample_size.h"
#include "lib/record/profile.h"
#include "lib/run/turns.h"
#include "lib/stats/time_series.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

enum { MOST = 4096, MOST_PROGRAMS = 8, PHASES = 16 };

static gsl_rng *rng;
static int seeds = 2000;

static void must(int r, const struct error *err)
{
	if (r < 0) {
		fprintf(stderr, "%s\n", err->text);
		exit(1);
	}
}

struct made_side {
	struct comparison_time items[MOST];
	struct comparison_side side;
};

/* Sample i was taken at this place in the order of all, one a second. */
static void put(struct made_side *m, size_t i, size_t place, double time_ns)
{
	m->items[i] = (struct comparison_time){(uint32_t)i + 1, (int64_t)(place + 1) * NS_PER_S,
		llround(time_ns), (int64_t)(place + 2) * NS_PER_S - 1};
	m->side.items = m->items;
	m->side.n = i + 1;
	m->side.origin = (struct comparison_origin){.call = "in turn"};
}

/* In 100 samples of which so many are. */
static double percent(int n)
{
	return 100. * n / seeds;
}

static struct run_variation variation_of(size_t runs, double between)
{
	struct run_mean means[MOST];

	for (size_t i = 0; i < runs; i++)
		means[i] = (struct run_mean){(int64_t)i + 1, (int64_t)i * 10, (int64_t)i * 10 + 5,
			1e8 * (1 + gsl_ran_gaussian(rng, hypot(between, 0.01 / sqrt(10)))), 10};
	return run_variation_find(&(struct run_means){means, runs}, NULL, NULL, 0);
}

/* Within a run 1 %; between them 0.1 % and as much as is said, and 1 %. */
static void bench_between(void)
{
	static const struct {
		double sd;
		size_t runs; /* in the book; 0: as the user says */
	} cases[] = {{0.001, 0}, {0.01, 0}, {0.001, 3}, {0.01, 3}, {0.01, 6}, {0.01, 20}};
	static const size_t sizes[] = {2, 3, 5, 10, 30};

	printf("between runs: false differences in %%; in brackets, half the interval in %%\n%-28s",
		"samples of each");
	for (size_t k = 0; k < ELEMENTS(sizes); k++)
		printf("%14zu", sizes[k]);
	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		printf("\nsd of runs %4.1f %%, %-8s", 100 * cases[i].sd,
			cases[i].runs ? text_brief("%zu runs", cases[i].runs) : "given");
		for (size_t k = 0; k < ELEMENTS(sizes); k++) {
			static struct made_side sides[2];
			int different = 0;
			double half = 0;

			for (int seed = 0; seed < seeds; seed++) {
				struct run_variation v = {.sd = cases[i].sd, .df = 1e6};
				struct comparison c;
				struct error err;

				if (cases[i].runs)
					v = variation_of(cases[i].runs, cases[i].sd);
				for (size_t s = 0; s < 2; s++) {
					double run = gsl_ran_gaussian(rng, cases[i].sd);

					for (size_t n = 0; n < sizes[k]; n++)
						put(&sides[s], n, n + s * 1000,
							1e8 * (1 + run +
								      gsl_ran_gaussian(rng, 0.01)));
					sides[s].side.origin.call = NULL;
					sides[s].side.origin.machine = s ? "b" : "a";
				}
				must(comparison_make(&sides[0].side, &sides[1].side, &v, &c, &err),
					&err);
				different += !(c.ratio_low <= 1 && c.ratio_high >= 1);
				half += (c.ratio_high - c.ratio_low) / 2 / seeds;
			}
			printf("  %4.1f (%5.2f)", percent(different), 100 * half);
		}
	}
	printf("\n\n");
}

static void bench_single(void)
{
	static const double betweens[] = {0, 0.005, 0.01, 0.02, 0.04}, lags[] = {0, 0.4};
	static const size_t runs[] = {3, 5, 12, 20}, sizes[] = {5, 10, 20, 40};
	double *widths = xcalloc((size_t)seeds, sizeof(*widths));

	printf("single: intervals that contain the mean of many runs, in %%; in brackets, of the "
	       "run alone; width\n%-30s",
		"earlier runs");
	for (size_t k = 0; k < ELEMENTS(runs); k++)
		printf("%19zu", runs[k]);
	for (size_t i = 0; i < ELEMENTS(lags) * ELEMENTS(betweens); i++) {
		struct made_runs of = {.between = betweens[i % ELEMENTS(betweens)],
			.lag1 = lags[i / ELEMENTS(betweens)]};

		printf("\nsd of runs %3.1f %%, correlation %.1f", 100 * of.between, of.lag1);
		for (size_t k = 0; k < ELEMENTS(runs); k++) {
			int within = 0, between = 0;

			of.earlier = runs[k];
			for (int seed = 0; seed < seeds; seed++) {
				struct made_interval found;

				of.within = exp(gsl_ran_flat(rng, log(0.005), log(0.05)));
				of.n = sizes[gsl_rng_uniform_int(rng, ELEMENTS(sizes))];
				of.n_of_others = sizes[gsl_rng_uniform_int(rng, ELEMENTS(sizes))];
				found = made_interval_of(rng, &of);
				within += found.within;
				between += found.between;
				widths[seed] = found.width;
			}
			gsl_sort(widths, 1, (size_t)seeds);
			printf("  %5.1f (%5.1f) %4.2f", percent(between), percent(within),
				widths[seeds / 2]);
		}
	}
	printf("\n\n");
	free(widths);
}

enum turns { FIXED, BALANCED, RANDOM };

static void order_of(enum turns turns, size_t *order, size_t n, size_t round)
{
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	if (turns == BALANCED)
		turns_balanced(order, n, round);
	else if (turns == RANDOM)
		gsl_ran_shuffle(rng, order, n, sizeof(*order));
}

/* One measurement of so many programs, of which none differs. Returns whether any is called
 * different. */
static bool drifts(enum turns turns, size_t programs, size_t n, double drift, double *half)
{
	static struct made_side sides[MOST_PROGRAMS];
	struct comparison comparisons[MOST_PROGRAMS], *all[MOST_PROGRAMS];
	struct error err;
	bool different = false;

	for (size_t round = 0; round < n; round++) {
		size_t order[MOST_PROGRAMS];

		order_of(turns, order, programs, round);
		for (size_t i = 0; i < programs; i++) {
			size_t place = round * programs + i;

			put(&sides[order[i]], round, place,
				1e8 + 1e6 * (drift * (double)place + gsl_ran_ugaussian(rng)));
		}
	}
	for (size_t i = 1; i < programs; i++) {
		all[i - 1] = &comparisons[i];
		must(comparison_make(&sides[0].side, &sides[i].side, NULL, &comparisons[i], &err),
			&err);
	}
	comparisons_adjust(all, programs - 1);
	for (size_t i = 1; i < programs; i++) {
		different |= comparisons[i].p_adjusted < 0.05;
		*half += (comparisons[i].ratio_high - comparisons[i].ratio_low) / 2 * 100 /
			 (double)(programs - 1) / seeds;
	}
	return different;
}

static void bench_drift(void)
{
	static const char *const names[] = {"fixed", "balanced", "random"};
	static const double slopes[] = {0, 0.15, 0.5};
	static const size_t sizes[] = {5, 10, 20, 40}, programs[] = {2, 5};

	printf("drift (sd a sample): calls with a false difference in %%; in brackets, half the "
	       "interval in sd\n");
	for (size_t p = 0; p < ELEMENTS(programs); p++)
		for (enum turns turns = FIXED; turns <= RANDOM; turns++)
			for (size_t d = 0; d < ELEMENTS(slopes); d++) {
				printf("%zu programs, %-8s, drift %4.2f", programs[p], names[turns],
					slopes[d]);
				for (size_t k = 0; k < ELEMENTS(sizes); k++) {
					int different = 0;
					double half = 0;

					for (int seed = 0; seed < seeds; seed++)
						different += drifts(turns, programs[p], sizes[k],
							slopes[d], &half);
					printf("  n=%zu %4.1f (%4.2f)", sizes[k],
						percent(different), half);
				}
				printf("\n");
			}
	printf("\n");
}

/* Intervals that contain the truth, by the position of the true time of a in a step. */
struct covered {
	int n[PHASES], right[PHASES];
	double *halves;
	int all;
};

static void cover(
	struct covered *c, double position, double truth, double low, double high, double step)
{
	size_t phase = (size_t)(position * PHASES);

	c->n[phase]++;
	c->right[phase] += isnan(low) ||
			   (low <= truth && truth <= high); /* no bounds are no error */
	c->halves[c->all++] = isnan(low) ? INFINITY : (high - low) / 2 / step;
}

static void print_covered(struct covered *c)
{
	double worst = 100;
	int right = 0;

	for (size_t i = 0; i < PHASES; i++) {
		if (c->n[i] > 0)
			worst = fmin(worst, 100. * c->right[i] / c->n[i]);
		right += c->right[i];
	}
	gsl_sort(c->halves, 1, (size_t)c->all);
	printf("  %5.1f %5.1f (%5.2f)", 100. * right / c->all, worst,
		gsl_stats_median_from_sorted_data(c->halves, 1, (size_t)c->all));
	free(c->halves);
}

/* Times of a clock with steps of 10 ms: a takes 6 to 40 steps, b 4 % longer. */
static void bench_rounding(void)
{
	static const double STEP = 1e7, RATIO = 1.04, noises[] = {0, 0.05, 0.15, 0.3, 0.5, 1, 3};
	static const size_t sizes[] = {2, 3, 5, 10, 40};
	static struct made_side sides[2];

	for (int mean = 0; mean < 2; mean++) {
		printf("rounding: %s: coverage in %%, at the worst position of the true time, "
		       "and half the interval in steps\n"
		       "%-12s",
			mean ? "means" : "ratios of pairs", "noise/step");
		for (size_t k = 0; k < ELEMENTS(sizes); k++)
			printf("%20zu", sizes[k]);
		for (size_t i = 0; i < ELEMENTS(noises); i++) {
			printf("\n%-12.2f", noises[i]);
			for (size_t k = 0; k < ELEMENTS(sizes); k++) {
				struct covered covered = {
					.halves = calloc((size_t)seeds, sizeof(double))};

				for (int seed = 0; seed < seeds; seed++) {
					double length = gsl_ran_flat(rng, 6, 40), position;
					int64_t times[MOST];
					struct comparison c;
					struct error err;

					position = length + 0.5 - floor(length + 0.5);
					for (size_t n = 0; n < sizes[k]; n++) {
						double of_a = length +
							      gsl_ran_gaussian(rng, noises[i]),
						       of_b = length * RATIO +
							      gsl_ran_gaussian(rng, noises[i]);

						put(&sides[0], n, 2 * n + n % 2,
							STEP * round(of_a));
						put(&sides[1], n, 2 * n + (n + 1) % 2,
							STEP * round(of_b));
						times[n] = sides[0].items[n].time_ns;
					}
					if (mean) {
						struct interval m = interval_of_mean(
							times, sizes[k], NULL, 0);

						cover(&covered, position, length * STEP, m.low_ns,
							m.high_ns, STEP);
						continue;
					}
					must(comparison_make(&sides[0].side, &sides[1].side, NULL,
						     &c, &err),
						&err);
					cover(&covered, position, RATIO, c.ratio_low, c.ratio_high,
						1 / length);
				}
				print_covered(&covered);
			}
		}
		printf("\n\n");
	}
}

/* Of a machine whose samples are correlated: what 10 of them resolve in turn (by the exact sd of
 * the mean of 10 differences of neighbours), and between separate runs. */
static void bench_resolving(void)
{
	enum { SIZE = 10, BLOCKS = 2000 };
	static const double lags[] = {0, 0.5};
	static const size_t runs[] = {50, 70, 200, 800};
	double k = detectable_difference(SIZE - 2, 0.05) * 0.01;

	printf("resolving: estimate / truth, median and lowest tenth\n");
	for (size_t i = 0; i < ELEMENTS(lags); i++)
		for (size_t r = 0; r < ELEMENTS(runs); r++) {
			double *in_turn = calloc((size_t)seeds, sizeof(double)),
			       *separate = calloc((size_t)seeds, sizeof(double));
			double true_turn = k * sqrt(2 * (1 - lags[i]) / SIZE);
			double true_separate = k * sqrt(2 * correlation_inflation(lags[i], SIZE) /
							   SIZE);

			for (int seed = 0; seed < seeds; seed++) {
				static struct sample samples[BLOCKS];
				struct mdd rows[N_MDD];
				double state = gsl_ran_ugaussian(rng);

				for (uint32_t n = 0; n < runs[r]; n++) {
					samples[n] = (struct sample){
						.n = n + 1, .pt_ns = llround(1e8 + 1e6 * state)};
					state = lags[i] * state +
						gsl_ran_gaussian(rng, sqrt(1 - lags[i] * lags[i]));
				}
				mdd_find(rows, &(struct analysis){
						       .samples = samples, .n_samples = runs[r]});
				in_turn[seed] = rows[1].interleaved / true_turn;
				separate[seed] = rows[1].separate / true_separate;
			}
			gsl_sort(in_turn, 1, (size_t)seeds);
			gsl_sort(separate, 1, (size_t)seeds);
			printf("lag1 %.1f, %3zu samples  interleaved %.2f %.2f  "
			       "separate %.2f %.2f\n",
				lags[i], runs[r], in_turn[seeds / 2], in_turn[seeds / 10],
				separate[seeds / 2], separate[seeds / 10]);
			free(in_turn);
			free(separate);
		}
}

enum way { IN_TURN, DUET, SEPARATE, N_WAYS };

/* n samples of each, of which b takes `ratio` times as long, with noise of sd. */
static struct comparison taken(
	enum way way, size_t n, double ratio, double sd, struct comparison_rules rules)
{
	static struct made_side sides[2];
	struct run_variation v = {.sd = 0.002, .df = 1e6};
	struct comparison c;
	struct error err;

	for (size_t s = 0; s < 2; s++) {
		double run = way == SEPARATE ? gsl_ran_gaussian(rng, v.sd) : 0;

		for (size_t i = 0; i < n; i++)
			put(&sides[s], i, way == SEPARATE ? i + s * 2 * MOST : 2 * i + (i + s) % 2,
				1e8 * (s ? ratio : 1) * (1 + run + gsl_ran_gaussian(rng, sd)));
		sides[s].side.duet = way == DUET;
		if (way == SEPARATE)
			sides[s].side.origin.call = NULL;
	}
	must(comparison_make(&sides[0].side, &sides[1].side, way == SEPARATE ? &v : NULL, &c, &err),
		&err);
	c.rules = rules;
	return c;
}

static double log_flat(double low, double high)
{
	return exp(gsl_ran_flat(rng, log(low), log(high)));
}

static void bench_missing(void)
{
	static const char *const names[] = {"in turn", "a duet", "separate runs"};
	static const size_t sizes[] = {2, 3, 5, 10, 30};
	static const double gates[] = {-1, 2};

	printf("missing: comparisons that cannot tell, and do after N more samples, in %%; N\n"
	       "%-24s",
		"samples of each");
	for (size_t k = 0; k < ELEMENTS(sizes); k++)
		printf("%24zu", sizes[k]);
	for (enum way way = 0; way < N_WAYS; way++)
		for (size_t g = 0; g < ELEMENTS(gates); g++) {
			struct comparison_rules rules = COMPARISON_RULES;

			rules.fail_if_slower = gates[g];
			printf("\n%-14s %-9s", names[way], gates[g] < 0 ? "" : "gate 2 %");
			for (size_t k = 0; k < ELEMENTS(sizes); k++) {
				double *more = calloc((size_t)seeds, sizeof(*more));
				int told = 0, advised = 0, all = 0;

				for (int tries = 0; tries < 20 * seeds && advised < seeds;
					tries++) {
					double sd = log_flat(0.002, 0.1),
					       off = log_flat(0.001, 0.2);
					double ratio = gsl_rng_uniform(rng) < 0.5 ? 1 + off
										  : 1 / (1 + off),
					       n;
					struct comparison c = taken(
						way, sizes[k], ratio, sd, rules);

					if (comparison_verdict(&c) != COMPARISON_CANNOT_TELL)
						continue;
					all++;
					n = comparison_samples_missing(&c);
					/* nobody takes so many */
					if (!(n <= MOST - (double)sizes[k]))
						continue;
					more[advised++] = n;
					c = taken(way, sizes[k] + (size_t)n, ratio, sd, rules);
					told += comparison_verdict(&c) != COMPARISON_CANNOT_TELL;
				}
				gsl_sort(more, 1, (size_t)advised);
				printf("  %3.0f (%3.0f %5.0f; of %3.0f%%)", 100. * told / advised,
					more[advised / 2], more[advised * 9 / 10],
					100. * advised / all);
				fflush(stdout);
				free(more);
			}
		}
	printf("\n\n");
}

/* Lognormal times, whose means have a ratio of 1 to 30. */
static void bench_wide(void)
{
	static const double spreads[] = {0.5, 1, 1.5};
	static const size_t sizes[] = {2, 3, 5, 10};

	printf("wide: intervals that miss the ratio + without an upper bound + "
	       "without bounds, %%\n");
	for (size_t i = 0; i < ELEMENTS(spreads); i++) {
		printf("spread %.1f (sd of logarithms)", spreads[i]);
		for (size_t k = 0; k < ELEMENTS(sizes); k++) {
			static struct made_side sides[2];
			int missed = 0, open = 0, none = 0;

			for (int seed = 0; seed < seeds; seed++) {
				double ratio = log_flat(1, 30);
				struct comparison c;
				struct error err;

				for (size_t s = 0; s < 2; s++)
					for (size_t n = 0; n < sizes[k]; n++)
						put(&sides[s], n, 2 * n + (n + s) % 2,
							1e8 * (s ? ratio : 1) *
								exp(gsl_ran_gaussian(
									    rng, spreads[i]) -
									spreads[i] * spreads[i] /
										2));
				must(comparison_make(
					     &sides[0].side, &sides[1].side, NULL, &c, &err),
					&err);
				none += isnan(c.ratio_low);
				open += isinf(c.ratio_high);
				missed += ratio < c.ratio_low || ratio > c.ratio_high;
			}
			printf("  n=%zu %4.1f+%4.1f+%4.1f", sizes[k], percent(missed),
				percent(open), percent(none));
		}
		printf("\n");
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} tables[] = {{"between", bench_between}, {"single", bench_single}, {"drift", bench_drift},
		{"rounding", bench_rounding}, {"resolving", bench_resolving},
		{"missing", bench_missing}, {"wide", bench_wide}};
	const char *table = argc > 1 ? argv[1] : "all";

	if (argc > 2)
		seeds = atoi(argv[2]);
	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, argc > 3 ? (unsigned long)atol(argv[3]) : 1);
	for (size_t i = 0; i < ELEMENTS(tables); i++)
		if (!strcmp(table, "all") || !strcmp(table, tables[i].name))
			tables[i].run();
	gsl_rng_free(rng);
	return 0;
}
