/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on a series: see trend_verdict.h. */
#include "lib/trend/trend_verdict.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

enum { LAST = 5 };
static const double DRIFT_MISSED = 0.05; /* how often one of what is allowed is called equal */

static size_t level_of(const struct levels *levels, size_t value)
{
	size_t k = levels->n;

	while (k > 1 && levels->items[k - 1].first > value)
		k--;
	return k - 1;
}

static double quantile(double df)
{
	return gsl_cdf_tdist_Pinv(0.975, df);
}

/* How many of the last of so many values are compared with those before, if they vary that many
 * times as much as is known. */
static size_t last_compared(
	const struct levels *levels, size_t of, double t, double margin, double times)
{
	const struct regression *r = &levels->regression;
	double hidden = 2 * levels->hidden;
	double most = (margin - hidden) / t; /* for a verdict */
	double enough = (0.75 * margin - hidden) / t / times;
	double wanted = (0.5 * margin - hidden) / t / times;
	size_t low = of / 2 < LAST ? of / 2 : LAST, high = of / 2;

	if (high <= LAST || regression_step_error(r, of, high) > most ||
		regression_step_error(r, of, low) <= enough)
		return low;
	while (high - low > 1) { /* the error gets less up to the middle */
		size_t middle = (low + high) / 2;

		if (regression_step_error(r, of, middle) <= wanted)
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* The last values, which differ more from the others than is allowed, may be a level to come. */
static void compare_last(const struct levels *levels, double margin, struct trend_judgement *j)
{
	j->of = levels->items[levels->n - 1].n;
	j->last = last_compared(levels, j->of, quantile(levels->regression.df), margin, 1);
	if (j->last > LAST && fabs(expm1(levels_last(levels, j->of, LAST).by)) > margin)
		j->last = LAST;
	j->change = levels_last(levels, j->of, j->last);
	j->detectable = expm1(levels_detectable(levels, j->of, j->last));
}

/* What a drift within the last level may have made of the last value since the reference. */
static double drift_since(const struct levels *levels, size_t reference, double *ret_error)
{
	const struct level *level = &levels->items[levels->n - 1];

	return regression_drift_since(&levels->regression, levels->in_level + level->first,
		level->n, reference - level->first, ret_error);
}

/* Of values that show no drift: nor do they leave room for one of as much as is allowed. */
static bool excludes_drift(const struct levels *levels, size_t reference, double margin)
{
	double error, by = drift_since(levels, reference, &error);
	double half = gsl_cdf_tdist_Pinv(1 - DRIFT_MISSED, levels->regression.df) * error +
		      2 * levels->hidden;

	return expm1(by - half) >= -margin && expm1(by + half) <= margin;
}

/* A change that is none of steps, or of a drift, may be chance: it is within what is allowed, or
 * cannot be told. */
static enum comparison_verdict trend_verdict_of(const struct levels *levels, size_t reference,
	const struct trend_judgement *j, const struct comparison_rules *rules)
{
	const struct comparison_rules within = {
		.fail_if_slower = 100 * comparison_rules_margin(rules)};
	enum comparison_verdict verdict;

	if (!isfinite(j->change.half))
		return COMPARISON_CANNOT_TELL;
	verdict = comparison_rules_apply(j->shown ? rules : &within, exp(j->change.by),
		exp(j->change.by - j->change.half), exp(j->change.by + j->change.half));
	if (j->shown || (verdict == COMPARISON_EQUAL &&
				excludes_drift(levels, reference, comparison_rules_margin(rules))))
		return verdict;
	return COMPARISON_CANNOT_TELL;
}

/* A judgement that cannot tell. */
struct undecided {
	const struct levels *levels;
	const struct trend_judgement *judgement;
	size_t reference;
	double margin;
	double drift; /* what one may have made of the last value since the reference */
};

/* How likely the last ones of so many values will not differ from the others by more than is
 * allowed. */
static double chance_of_last(const struct undecided *u, size_t of, const struct verdict_forecast *f)
{
	double off = f->equal_share * u->judgement->change.by;
	double sd = hypot(
		f->equal_share * f->error, regression_step_error(&u->levels->regression, of, LAST));

	return gsl_cdf_gaussian_P(u->margin - off, sd) - gsl_cdf_gaussian_P(-u->margin - off, sd);
}

/* How likely excludes_drift() will be true of so many values. The level of the last ones stays, and
 * the others say less and less of a drift. The noise may be greater than it seems. */
static double chance_of_no_drift(
	const struct undecided *u, size_t of, const struct verdict_forecast *f)
{
	const double CHANCE_OF_MORE_NOISE = 0.2;
	const struct regression *r = &u->levels->regression;
	const struct regression drift = {.drift = true, .memory = r->memory, .sd = r->sd};
	const struct trend_judgement *j = u->judgement;
	const struct level *level = &u->levels->items[u->levels->n - 1];
	double noise = sqrt(f->df / gsl_cdf_chisq_Pinv(CHANCE_OF_MORE_NOISE, f->df));
	double error = noise *
		       regression_difference_error(&drift, of, u->reference - level->first, of - 1);
	double room = u->margin - f->hidden - gsl_cdf_tdist_Pinv(1 - DRIFT_MISSED, f->df) * error;
	double share = (double)level->n / (double)of;
	double step = 6 * share * (1 - share) * (double)(j->of - j->last) / (double)j->of;
	double off = share * share * u->drift + step * j->change.by,
	       sd = hypot(error, step * f->error);

	if (room <= 0)
		return 0;
	return gsl_cdf_gaussian_P(room - off, sd) - gsl_cdf_gaussian_P(-room - off, sd);
}

/* The level of the last values stays; a drift goes on. */
static struct verdict_forecast values_forecast(const void *of, double more)
{
	const double MORE_NOISE = 1.5; /* than few values show */
	const struct undecided *u = of;
	const struct trend_judgement *j = u->judgement;
	const struct regression *r = &u->levels->regression;
	size_t n = u->levels->n_values, new = (size_t)more;
	double t = quantile(r->df + more);
	struct verdict_forecast f = {.ratio = exp(j->change.by),
		.df = r->df,
		.hidden = 2 * u->levels->hidden,
		.shown_from = t,
		.equal_error = NAN};

	if (j->shown) {
		f.ratio *= exp(more * u->levels->drift.by);
		f.error = regression_difference_error(r, n, u->reference, n - 1);
		f.next_error = regression_difference_error(r, n + new, u->reference, n + new - 1);
		f.half = t * f.next_error;
	} else {
		size_t last = last_compared(u->levels, j->of + new, t, u->margin, MORE_NOISE);

		f.error = regression_step_error(r, j->of, j->last);
		f.next_error = regression_step_error(r, j->of + new, j->last + new);
		/* what is not shown now, as clear as it is, takes more than that */
		f.shown_from = fmax(regression_least_t(n + new), fabs(j->change.by) / f.error);
		f.equal_error = regression_step_error(r, j->of + new, last);
		/* all but the last ones, of those before */
		f.equal_share = fmin(1, (double)(j->of - j->last) / (double)(j->of + new - last));
		f.equal_chance = last > LAST ? chance_of_last(u, j->of + new, &f) : 1;
		f.equal_chance *= chance_of_no_drift(u, j->of + new, &f);
		f.half = t * f.equal_error;
	}
	return f;
}

/* One bad value does not make a level; of two in a row, the next one tells. */
static bool may_begin_level(const struct levels *levels, double margin)
{
	return levels->n_apart >= 2 && fabs(expm1(levels->apart)) > margin;
}

static void compare_values_apart(const struct levels *levels, struct trend_judgement *j)
{
	const struct regression *r = &levels->regression;
	size_t of = levels->items[levels->n - 1].n, n = levels->n_apart;

	*j = (struct trend_judgement){
		.verdict = COMPARISON_CANNOT_TELL,
		.last = n,
		.of = of,
		.change = {levels->apart, INFINITY},
		.detectable = INFINITY,
		.missing = n < CHANGE_POINTS_LEAST ? CHANGE_POINTS_LEAST - (double)n : NAN,
	};
	if (n < of)
		j->change.half = quantile(r->df) * regression_step_error(r, of, n) +
				 2 * levels->hidden;
}

struct trend_judgement trend_judge(
	const struct levels *levels, size_t reference, const struct comparison_rules *rules)
{
	const double MOST_MORE = 1000, margin = comparison_rules_margin(rules);
	struct trend_judgement j = {
		.verdict = COMPARISON_CANNOT_TELL,
		.change = {NAN, INFINITY},
		.detectable = INFINITY,
		.missing = NAN,
	};
	struct undecided undecided = {levels, &j, reference, margin, 0};
	size_t n = levels->n_values;
	double unused;

	if (n < 2 * CHANGE_POINTS_LEAST)
		return j;
	j.shown = levels->drifts || level_of(levels, reference) < levels->n - 1;
	if (j.shown)
		j.change = levels_between(levels, reference, n - 1);
	else
		compare_last(levels, margin, &j);
	if (!j.shown)
		undecided.drift = drift_since(levels, reference, &unused);
	j.verdict = trend_verdict_of(levels, reference, &j, rules);
	if (j.verdict != COMPARISON_SLOWER && may_begin_level(levels, margin))
		compare_values_apart(levels, &j);
	else if (j.verdict == COMPARISON_CANNOT_TELL && isfinite(j.change.half))
		j.missing = verdict_missing(rules, values_forecast, &undecided, MOST_MORE);
	return j;
}
