/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples in blocks: see block_variance.h. */
#include "lib/stats/block_variance.h"

#include "lib/stats/summary.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

enum { DRAWS = 2000 };

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

int64_t *time_blocks_join(const struct time_blocks *blocks, size_t *ret_n)
{
	int64_t *times = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < blocks->n; i++)
		for (size_t k = 0; k < blocks->items[i].n; k++)
			*array_add(times, *ret_n) = blocks->items[i].times_ns[k];
	return times;
}

void time_blocks_clear(struct time_blocks *blocks)
{
	for (size_t i = 0; i < blocks->n; i++)
		free(blocks->items[i].times_ns);
	free(blocks->items);
	*blocks = (struct time_blocks){};
}

/* Sums over the blocks: of powers of deviations from their means, and of their variances. */
struct deviations {
	double squares, fourth;
	size_t n, n_blocks;
	struct running variances; /* of the blocks with two samples or more */
};

enum { LEAST_VARIANCES = 4 };

/* The mean square within blocks, and its degrees of freedom: the variance of a mean square is its
 * square times 2 / df. With long tails it is more than of normal values, by the excess kurtosis / n;
 * and more again if some blocks are noisier than others, as their variances show. Values with short
 * tails, such as of a machine with two speeds, count as normal. */
static void find_within(struct block_summary *s, const struct deviations *d)
{
	double df = (double)d->n - (double)d->n_blocks, n = (double)d->n, excess, error;

	if (df < 1)
		return;
	s->within = d->squares / df;
	s->within_df = df;
	if (s->within <= 0)
		return;
	excess = fmax(0, n * d->fourth / (d->squares * d->squares) - 3);
	error = 2 / df + excess / n;
	if (d->variances.n >= LEAST_VARIANCES)
		error = fmax(error, pow(running_sd(&d->variances) / d->variances.mean_ns, 2) /
					    (double)d->variances.n);
	s->within_df = 2 / error;
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

/* What resampling needs of a block. */
struct block_moments {
	double mean, squares; /* squares: the sum of those of the deviations from the mean */
	size_t n;
};

/* Of each block; the caller frees them. */
static struct block_moments *block_moments_of(const struct time_blocks *blocks)
{
	struct block_moments *moments = xcalloc(blocks->n + 1, sizeof(*moments));

	for (size_t i = 0; i < blocks->n; i++) {
		const struct time_block *b = &blocks->items[i];

		moments[i].mean = summary_of(b->times_ns, b->n).mean_ns;
		moments[i].n = b->n;
		for (size_t k = 0; k < b->n; k++)
			moments[i].squares += pow((double)b->times_ns[k] - moments[i].mean, 2);
	}
	return moments;
}

/* The variance of a sample, of as many blocks drawn with replacement (bootstrap). */
static double resample_variance(gsl_rng *random, const struct block_moments *moments, size_t n_all)
{
	double mean = 0, of_means = 0, within = 0, df = 0, inverses = 0; /* Welford's */
	size_t n = 0;

	for (size_t i = 0; i < n_all; i++) {
		const struct block_moments *m = &moments[gsl_rng_uniform_int(random, n_all)];
		double off = m->mean - mean;

		if (m->n == 0)
			continue;
		mean += off / (double)++n;
		of_means += off * (m->mean - mean);
		within += m->squares;
		df += (double)m->n - 1;
		inverses += 1 / (double)m->n;
	}
	within = df > 0 ? within / df : 0;
	return n < 2 ? within : of_means / (double)(n - 1) + (1 - inverses / (double)n) * within;
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

/* A variance that one block or one sample makes is not known as well as the model believes: the
 * interval is the wider one of the model's and the bootstrap's at each end. */
static struct block_interval wider_of(struct block_interval a, struct block_interval b)
{
	return (struct block_interval){fmin(a.low, b.low), fmax(a.high, b.high)};
}

static gsl_rng *random_new(void)
{
	return gsl_rng_alloc(gsl_rng_taus2); /* the same draws each time */
}

static void random_free(gsl_rng **random)
{
	gsl_rng_free(*random);
}

/* The error and the interval of the mean: by the means of the blocks; of one block, by its
 * samples. */
static void find_block_mean_interval(struct block_summary *s)
{
	double df = s->of_means_df, variance = s->of_means / (double)s->n_blocks, half;

	s->error_ns = NAN;
	s->mean_interval = no_interval;
	if (s->n_blocks == 1) {
		df = (double)s->n - 1;
		variance = s->within / (double)s->n;
	}
	if (df < 1)
		return;
	s->error_ns = sqrt(variance);
	half = gsl_cdf_tdist_Pinv(0.975, df) * s->error_ns;
	s->mean_interval = (struct block_interval){s->mean_ns - half, s->mean_ns + half};
}

static void find_sd(struct block_summary *s, const struct time_blocks *blocks)
{
	_cleanup_(random_free) gsl_rng *random = random_new();
	_cleanup_(freep) struct block_moments *moments = block_moments_of(blocks);
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
	for (size_t i = 0; i < DRAWS; i++)
		draws[i] = sqrt(resample_variance(random, moments, blocks->n));
	*sd = wider_of(*sd, interval_of_draws(draws));
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
		if (b->n > 1)
			running_add(&d.variances, llround(of.sd_ns * of.sd_ns));
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
			.error_ns = NAN,
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
	find_block_mean_interval(&s);
	find_sd(&s, blocks);
	return s;
}

/* What is compared of a block: its mean, or how far its samples are from their median on average.
 * That is 1 ns at least, which is less than clocks show. */
typedef double block_figure(const struct time_block *block);

static double block_mean(const struct time_block *block)
{
	return summary_of(block->times_ns, block->n).mean_ns;
}

static double block_spread(const struct time_block *block)
{
	double median = median_of(block->times_ns, block->n), sum = 0;

	if (block->n < 2)
		return NAN;
	for (size_t i = 0; i < block->n; i++)
		sum += fabs((double)block->times_ns[i] - median);
	return fmax(1, sum / (double)block->n);
}

/* The mean over the blocks of a round; NAN: none. */
static double round_figure(const struct time_blocks *blocks, int round, block_figure *figure)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < blocks->n; i++) {
		const struct time_block *b = &blocks->items[i];

		if (b->round != round || b->n == 0)
			continue;
		sum += figure(b);
		n++;
	}
	return n > 0 ? sum / (double)n : NAN;
}

/* The greatest number of a round. */
static int last_round(const struct time_blocks *blocks, size_t n)
{
	int last = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < blocks[i].n; k++)
			last = blocks[i].items[k].round > last ? blocks[i].items[k].round : last;
	return last;
}

/* The mean over programs of the logarithm of after / before in a round; NAN: none has both. */
static double round_log_ratio(const struct time_blocks *before, const struct time_blocks *after,
	size_t n, int round, block_figure *figure)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		double a = round_figure(&before[i], round, figure);
		double b = round_figure(&after[i], round, figure);

		if (!(a > 0) || !(b > 0))
			continue;
		sum += log(b / a);
		known++;
	}
	return known > 0 ? sum / (double)known : NAN;
}

/* If the step changes nothing, the distribution of a round's logarithm is symmetric, whatever that
 * of the times is, and Student's t is right enough. */
static struct round_ratio round_ratio_of(const struct time_blocks *before,
	const struct time_blocks *after, size_t n, block_figure *figure)
{
	struct round_ratio ret = {NAN, no_interval, NAN};
	double mean = 0, squares = 0, se, half; /* Welford's */
	int last = last_round(before, n);
	size_t rounds = 0;

	for (int round = 1; round <= last; round++) {
		double ratio = round_log_ratio(before, after, n, round, figure);
		double off = ratio - mean;

		if (isnan(ratio))
			continue;
		mean += off / (double)++rounds;
		squares += off * (ratio - mean);
	}
	if (rounds == 0)
		return ret;
	ret.ratio = exp(mean);
	if (rounds < 2)
		return ret;
	se = sqrt(squares / (double)(rounds - 1) / (double)rounds);
	half = gsl_cdf_tdist_Pinv(0.975, (double)(rounds - 1)) * se;
	ret.interval = (struct block_interval){exp(mean - half), exp(mean + half)};
	ret.p = mean != 0 ? 0 : 1;
	if (se > 0)
		ret.p = 2 * gsl_cdf_tdist_Q(fabs(mean) / se, (double)(rounds - 1));
	return ret;
}

struct step_effect step_effect_of(
	const struct time_blocks *before, const struct time_blocks *after, size_t n)
{
	return (struct step_effect){
		.time = round_ratio_of(before, after, n, block_mean),
		.spread = round_ratio_of(before, after, n, block_spread),
	};
}

static double explained_share(double shift, double before, double after)
{
	double between = shift * shift / 4;

	return between > 0 ? between / (between + (before + after) / 2) : 0;
}

/* The share of the variance that a step removes, by resampling; draws[DRAWS] are overwritten. */
static struct block_interval resample_removed(gsl_rng *random, const struct time_blocks *before,
	const struct time_blocks *after, const struct time_blocks *first, double *draws)
{
	_cleanup_(freep) struct block_moments *a = block_moments_of(before),
					      *b = block_moments_of(after),
					      *f = block_moments_of(first);

	for (size_t i = 0; i < DRAWS; i++) {
		double of_a = resample_variance(random, a, before->n);
		double of_b = resample_variance(random, b, after->n), whole = of_a;

		if (first != before)
			whole = resample_variance(random, f, first->n);
		draws[i] = (of_a - of_b) / fmax(whole, 1e-9);
	}
	return interval_of_draws(draws);
}

struct step_shares step_shares_of(const struct time_blocks *before, const struct time_blocks *after,
	const struct time_blocks *first)
{
	_cleanup_(random_free) gsl_rng *random = random_new();
	_cleanup_(freep) double *removed = xcalloc(DRAWS, sizeof(*removed)),
				*explained = xcalloc(DRAWS, sizeof(*explained));
	struct block_summary a = block_summary_of(before), b = block_summary_of(after),
			     f = block_summary_of(first);
	struct step_shares c = {{NAN, no_interval}, {NAN, no_interval}};

	if (isnan(a.sd_ns) || isnan(b.sd_ns) || !(f.sd_ns > 0))
		return c;
	c.removed.share = (found_variance(&a) - found_variance(&b)) / found_variance(&f);
	c.explained.share = explained_share(
		b.mean_ns - a.mean_ns, found_variance(&a), found_variance(&b));
	for (size_t i = 0; i < DRAWS; i++) {
		struct drawn of_a = draw_summary(random, &a), of_b = draw_summary(random, &b);
		double whole = of_a.variance, shift;

		if (first != before)
			whole = draw_summary(random, &f).variance;
		removed[i] = (of_a.variance - of_b.variance) / whole;
		shift = of_b.mean_ns - of_a.mean_ns;
		/* a shift the other way is as good as none */
		if (shift * (b.mean_ns - a.mean_ns) < 0)
			shift = 0;
		explained[i] = explained_share(shift, of_a.variance, of_b.variance);
	}
	c.removed.interval = interval_of_draws(removed);
	c.removed.interval = wider_of(
		c.removed.interval, resample_removed(random, before, after, first, removed));
	if (a.of_means_df > 0 && b.of_means_df > 0)
		c.explained.interval = interval_of_draws(explained);
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

static void set_variance_shares(
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
	set_variance_shares(
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
