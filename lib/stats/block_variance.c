/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples in blocks: see block_variance.h. */
#include "lib/stats/block_variance.h"

#include "lib/stats/summary.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

enum { DRAWS = 4000 };

static const struct block_interval no_interval = {NAN, NAN};

struct time_block *time_blocks_add(struct time_blocks *blocks, int round)
{
	struct time_block *block = array_add(blocks->items, blocks->n);

	block->round = round;
	return block;
}

void time_block_append(struct time_block *block, int64_t time_ns)
{
	*array_add(block->times_ns, block->n) = time_ns;
}

void time_blocks_clear(struct time_blocks *blocks)
{
	for (size_t i = 0; i < blocks->n; i++)
		free(blocks->items[i].times_ns);
	free(blocks->items);
	*blocks = (struct time_blocks){};
}

/* Sums of powers of deviations from the means of the blocks. */
struct deviations {
	double squares, fourth;
	size_t n, n_blocks;
};

/* The mean square within blocks, and its degrees of freedom. The variance of a mean square is its
 * square times 2 / df for normal values, and more with long tails: the excess kurtosis / n. Values
 * with short tails, such as a machine with two speeds, count as normal. */
static void find_within(struct block_summary *s, const struct deviations *d)
{
	double df = (double)d->n - (double)d->n_blocks, n = (double)d->n, excess;

	if (df < 1)
		return;
	s->within = d->squares / df;
	s->within_df = df;
	if (s->within <= 0)
		return;
	excess = fmax(0, n * d->fourth / (d->squares * d->squares) - 3);
	s->within_df = 2 / (2 / df + excess / n);
}

/* A mean square drawn from its distribution, given what was found. */
static double draw_mean_square(gsl_rng *random, double mean_square, double df)
{
	if (df <= 0 || mean_square <= 0)
		return 0;
	return mean_square * df / fmax(gsl_ran_chisq(random, df), 1e-9);
}

/* The variance of a sample: of the means of blocks there is already that of their samples in it. */
static double sample_variance(const struct block_summary *s, double of_means, double within)
{
	if (s->of_means_df <= 0)
		return within;
	return of_means + (1 - 1 / s->per_block) * within;
}

static double found_variance(const struct block_summary *s)
{
	return sample_variance(s, s->of_means, s->within);
}

/* The parts of a summary that are drawn. */
struct drawn {
	double of_means, within, variance, mean_ns;
};

static struct drawn draw_summary(gsl_rng *random, const struct block_summary *s)
{
	struct drawn d = {
		.of_means = draw_mean_square(random, s->of_means, s->of_means_df),
		.within = draw_mean_square(random, s->within, s->within_df),
		.mean_ns = s->mean_ns,
	};

	d.variance = sample_variance(s, d.of_means, d.within);
	if (s->of_means_df > 0)
		d.mean_ns += sqrt(d.of_means / (double)s->n_blocks) * gsl_ran_ugaussian(random);
	return d;
}

static int double_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct block_interval interval_of_draws(double *draws)
{
	qsort(draws, DRAWS, sizeof(*draws), double_by_value);
	return (struct block_interval){draws[DRAWS / 40], draws[DRAWS - 1 - DRAWS / 40]};
}

static gsl_rng *random_new(void)
{
	return gsl_rng_alloc(gsl_rng_taus2); /* the same draws each time */
}

static void random_free(gsl_rng **random)
{
	gsl_rng_free(*random);
}

/* The degrees of freedom of the variance of a sample (Satterthwaite 1946); 0: not known. */
static double variance_df(const struct block_summary *s)
{
	double a = s->of_means, b = (1 - 1 / s->per_block) * s->within, error = 0;

	if (s->of_means_df <= 0)
		return s->within_df;
	error += a * a / s->of_means_df;
	if (s->within_df > 0)
		error += b * b / s->within_df;
	return error > 0 ? (a + b) * (a + b) / error : 0;
}

/* The interval of the mean: by the means of the blocks; of one block, by its samples. */
static struct block_interval mean_interval_of(const struct block_summary *s)
{
	double df = s->of_means_df, variance = s->of_means / (double)s->n_blocks, half;

	if (s->n_blocks == 1) {
		df = (double)s->n - 1;
		variance = s->within / (double)s->n;
	}
	if (df < 1)
		return no_interval;
	half = gsl_cdf_tdist_Pinv(0.975, df) * sqrt(variance);
	return (struct block_interval){s->mean_ns - half, s->mean_ns + half};
}

static void find_sd(struct block_summary *s)
{
	_cleanup_(random_free) gsl_rng *random = random_new();
	_cleanup_(freep) double *draws = xcalloc(DRAWS, sizeof(*draws));
	struct block_interval *sd = &s->sd_interval;

	s->sd_ns = s->cv = NAN;
	s->sd_interval = s->cv_interval = no_interval;
	if (s->within_df <= 0 && s->of_means_df <= 0)
		return;
	s->sd_ns = sqrt(found_variance(s));
	for (size_t i = 0; i < DRAWS; i++)
		draws[i] = sqrt(draw_summary(random, s).variance);
	*sd = interval_of_draws(draws);
	if (s->mean_ns <= 0)
		return;
	s->cv = s->sd_ns / s->mean_ns;
	s->cv_interval = (struct block_interval){sd->low / s->mean_ns, sd->high / s->mean_ns};
}

struct block_summary block_summary_of(const struct time_blocks *blocks)
{
	struct block_summary s = {.min_ns = INT64_MAX};
	struct deviations d = {};
	double mean = 0, squares = 0, inverses = 0; /* of the means of blocks: Welford's */

	for (const struct time_block *b = blocks->items; b < blocks->items + blocks->n; b++) {
		struct summary of = summary_of(b->times_ns, b->n);
		double off = of.mean_ns - mean;

		if (b->n == 0)
			continue;
		mean += off / (double)++s.n_blocks;
		squares += off * (of.mean_ns - mean);
		inverses += 1 / (double)b->n;
		s.n += b->n;
		s.min_ns = of.min_ns < s.min_ns ? of.min_ns : s.min_ns;
		s.max_ns = of.max_ns > s.max_ns ? of.max_ns : s.max_ns;
		for (size_t i = 0; i < b->n; i++) {
			double square = pow((double)b->times_ns[i] - of.mean_ns, 2);

			d.squares += square;
			d.fourth += square * square;
		}
	}
	if (s.n == 0)
		return (struct block_summary){.mean_ns = NAN,
			.sd_ns = NAN,
			.cv = NAN,
			.mean_interval = no_interval,
			.sd_interval = no_interval,
			.cv_interval = no_interval};
	d.n = s.n;
	d.n_blocks = s.n_blocks;
	s.mean_ns = mean;
	s.per_block = (double)s.n_blocks / inverses;
	find_within(&s, &d);
	if (s.n_blocks > 1) {
		s.of_means_df = (double)s.n_blocks - 1;
		s.of_means = squares / s.of_means_df;
	}
	s.mean_interval = mean_interval_of(&s);
	find_sd(&s);
	return s;
}

/* The mean of the blocks of a round; NAN: none. */
static double round_mean(const struct time_blocks *blocks, int round)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < blocks->n; i++) {
		const struct time_block *b = &blocks->items[i];

		if (b->round != round || b->n == 0)
			continue;
		sum += summary_of(b->times_ns, b->n).mean_ns;
		n++;
	}
	return n > 0 ? sum / (double)n : NAN;
}

/* Whether block i is the first of its round. */
static bool is_first_of_round(const struct time_blocks *blocks, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (blocks->items[k].round == blocks->items[i].round)
			return false;
	return true;
}

/* From the logarithms of the ratios of the means in each round: the slow drift of the machine is in
 * both. */
static void find_ratio(
	struct step_change *c, const struct time_blocks *before, const struct time_blocks *after)
{
	double mean = 0, squares = 0, se, half; /* Welford's */
	size_t n = 0;

	c->ratio_interval = no_interval;
	c->ratio = c->ratio_p = NAN;
	for (size_t i = 0; i < before->n; i++) {
		int round = before->items[i].round;
		double a = round_mean(before, round), b = round_mean(after, round), off;

		if (!is_first_of_round(before, i) || !(a > 0) || !(b > 0))
			continue;
		off = log(b / a) - mean;
		mean += off / (double)++n;
		squares += off * (log(b / a) - mean);
	}
	if (n == 0)
		return;
	c->ratio = exp(mean);
	if (n < 2)
		return;
	se = sqrt(squares / (double)(n - 1) / (double)n);
	half = gsl_cdf_tdist_Pinv(0.975, (double)(n - 1)) * se;
	c->ratio_interval = (struct block_interval){exp(mean - half), exp(mean + half)};
	c->ratio_p = 1;
	if (se > 0)
		c->ratio_p = 2 * gsl_cdf_tdist_Q(fabs(mean) / se, (double)(n - 1));
	else if (mean != 0)
		c->ratio_p = 0;
}

/* Of the variances of two settings: that they are equal, by an F test. */
static double variances_p(const struct block_summary *a, const struct block_summary *b)
{
	double of_a = found_variance(a), of_b = found_variance(b);
	double df_a = variance_df(a), df_b = variance_df(b);

	if (df_a <= 0 || df_b <= 0)
		return NAN;
	if (of_a <= 0 || of_b <= 0)
		return of_a == of_b ? 1 : 0;
	return fmin(1, 2 * fmin(gsl_cdf_fdist_Q(of_a / of_b, df_a, df_b),
				   gsl_cdf_fdist_P(of_a / of_b, df_a, df_b)));
}

static double explained_share(double shift, double before, double after)
{
	double between = shift * shift / 4;

	return between > 0 ? between / (between + (before + after) / 2) : 0;
}

struct step_change step_change_of(const struct time_blocks *before, const struct time_blocks *after,
	const struct time_blocks *first)
{
	_cleanup_(random_free) gsl_rng *random = random_new();
	_cleanup_(freep) double *removed = xcalloc(DRAWS, sizeof(*removed)),
				*explained = xcalloc(DRAWS, sizeof(*explained));
	struct block_summary a = block_summary_of(before), b = block_summary_of(after),
			     f = block_summary_of(first);
	struct step_change c = {.removed = NAN,
		.removed_interval = no_interval,
		.explained = NAN,
		.explained_interval = no_interval};

	find_ratio(&c, before, after);
	c.removed_p = variances_p(&a, &b);
	if (isnan(a.sd_ns) || isnan(b.sd_ns) || !(f.sd_ns > 0))
		return c;
	c.removed = (found_variance(&a) - found_variance(&b)) / found_variance(&f);
	c.explained = explained_share(
		b.mean_ns - a.mean_ns, found_variance(&a), found_variance(&b));
	for (size_t i = 0; i < DRAWS; i++) {
		struct drawn of_a = draw_summary(random, &a), of_b = draw_summary(random, &b);
		double whole = of_a.variance;

		if (first != before)
			whole = draw_summary(random, &f).variance;
		removed[i] = (of_a.variance - of_b.variance) / whole;
		explained[i] = explained_share(
			of_b.mean_ns - of_a.mean_ns, of_a.variance, of_b.variance);
	}
	c.removed_interval = interval_of_draws(removed);
	if (a.of_means_df > 0 && b.of_means_df > 0)
		c.explained_interval = interval_of_draws(explained);
	return c;
}

/* The variance of the means of n settings, without what the blocks contribute to it by chance:
 * `times` its expectation. */
static double settings_variance(const double *means, const double *errors, size_t n, double times)
{
	double mean = 0, squares = 0, error = 0;

	for (size_t i = 0; i < n; i++)
		mean += means[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		squares += pow(means[i] - mean, 2) / (double)n;
		error += errors[i] / (double)n;
	}
	return fmax(0, squares - times * error * (double)(n - 1) / (double)n);
}

static void fill_shares(
	double ret[N_VARIANCE_PARTS], double settings, double blocks, double samples)
{
	double sum = settings + blocks + samples;

	ret[VARIANCE_SETTINGS] = sum > 0 ? settings / sum : NAN;
	ret[VARIANCE_BLOCKS] = sum > 0 ? blocks / sum : NAN;
	ret[VARIANCE_SAMPLES] = sum > 0 ? samples / sum : NAN;
}

/* One draw of the shares; random NULL: what was found. */
static void find_shares(
	double ret[N_VARIANCE_PARTS], const struct block_summary *s, size_t n, gsl_rng *random)
{
	_cleanup_(freep) double *means = xcalloc(n, sizeof(*means)),
				*errors = xcalloc(n, sizeof(*errors));
	double blocks = 0, samples = 0;

	for (size_t i = 0; i < n; i++) {
		struct drawn d = {s[i].of_means, s[i].within, 0, s[i].mean_ns};

		if (random)
			d = draw_summary(random, &s[i]);
		means[i] = d.mean_ns;
		errors[i] = d.of_means / (double)s[i].n_blocks;
		blocks += (d.of_means - d.within / s[i].per_block) / (double)n;
		samples += d.within / (double)n;
	}
	fill_shares(
		ret, settings_variance(means, errors, n, random ? 2 : 1), fmax(0, blocks), samples);
}

struct variance_shares variance_shares_of(const struct time_blocks *settings, size_t n)
{
	_cleanup_(random_free) gsl_rng *random = random_new();
	_cleanup_(freep) struct block_summary *s = xcalloc(n + 1, sizeof(*s));
	_cleanup_(freep) double *draws = xcalloc(N_VARIANCE_PARTS * DRAWS, sizeof(*draws));
	struct variance_shares ret;
	double found[N_VARIANCE_PARTS];
	bool known = n > 0;

	for (size_t i = 0; i < n; i++) {
		s[i] = block_summary_of(&settings[i]);
		known = known && s[i].of_means_df > 0 && s[i].within_df > 0;
	}
	for (size_t p = 0; p < N_VARIANCE_PARTS; p++)
		ret.parts[p] = (struct variance_share){NAN, no_interval};
	if (!known)
		return ret;
	find_shares(found, s, n, NULL);
	for (size_t i = 0; i < DRAWS; i++) {
		double drawn[N_VARIANCE_PARTS];

		find_shares(drawn, s, n, random);
		for (size_t p = 0; p < N_VARIANCE_PARTS; p++)
			draws[p * DRAWS + i] = drawn[p];
	}
	for (size_t p = 0; p < N_VARIANCE_PARTS; p++)
		ret.parts[p] = (struct variance_share){
			found[p], interval_of_draws(draws + p * DRAWS)};
	return ret;
}

void p_values_judge(const double *p, size_t n, double level, bool *ret)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		ret[i] = false;
		known += !isnan(p[i]);
	}
	/* the smallest of those that are left, until one is too great */
	for (size_t left = known; left > 0; left--) {
		size_t least = n;

		for (size_t i = 0; i < n; i++)
			if (!ret[i] && !isnan(p[i]) && (least == n || p[i] < p[least]))
				least = i;
		if (p[least] > level / (double)left)
			break;
		ret[least] = true;
	}
}
