/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of verdicts and their exit statuses: see comparison_verdict.h. */
#include "lib/stats/comparison_verdict.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

const char *const comparison_verdict_words[N_COMPARISON_VERDICTS] = {
	[COMPARISON_SAME_PROGRAM] = "same program",
	[COMPARISON_EQUAL] = "equal",
	[COMPARISON_FASTER] = "faster",
	[COMPARISON_CANNOT_TELL] = "cannot tell",
	[COMPARISON_UNMEASURABLE] = "unmeasurable",
	[COMPARISON_SLOWER] = "slower",
	[COMPARISON_DIFFERENT_WORK] = "different work",
};

const struct unmeasurable_text unmeasurable_texts[N_UNMEASURABLE_CAUSES] = {
	[UNMEASURABLE_QUOTA] = {"held back by a quota", "measure without a quota"},
	[UNMEASURABLE_HELD_BACK] = {"held back by a control group", "measure outside of it"},
	[UNMEASURABLE_STOLEN] = {"the hypervisor stole CPU time",
		"measure on a host that is less busy"},
	[UNMEASURABLE_SHORT] = {"shorter than the clock sees", "measure more work in each sample"},
	[UNMEASURABLE_DISTURBED] = {"all samples are disturbed", "see 'emp-analyze discard'"},
	[UNMEASURABLE_CPU_KINDS] = {"CPUs of several kinds", "pin both to one CPU with --cpu"},
	[UNMEASURABLE_SPEED_STEP] = {"the speed changed in the middle", "measure both in turn"},
	[UNMEASURABLE_SHARED] = {"what sharing the CPU costs is not known", "measure in turn"},
};

double comparison_rules_margin(const struct comparison_rules *rules)
{
	if (rules->fail_if_slower >= 0)
		return rules->fail_if_slower / 100;
	return (rules->equal_within >= 0 ? rules->equal_within : EQUAL_WITHIN) / 100;
}

enum comparison_verdict comparison_rules_apply(
	const struct comparison_rules *rules, double ratio, double low, double high)
{
	bool gate = rules->fail_if_slower >= 0;
	double margin = comparison_rules_margin(rules);
	bool within = low >= 1 - margin && high <= 1 + margin;

	if (isnan(low) || isnan(high))
		return COMPARISON_CANNOT_TELL;
	if (gate && within)
		return COMPARISON_EQUAL;
	if (low > 1 && (!gate || ratio > 1 + margin))
		return COMPARISON_SLOWER;
	if (high < 1 && (!gate || ratio < 1 - margin))
		return COMPARISON_FASTER;
	return within ? COMPARISON_EQUAL : COMPARISON_CANNOT_TELL;
}

/* How likely a normal ratio is within `most` of 1. */
static double chance_within(double ratio, double sd, double most)
{
	if (most <= 0)
		return 0;
	return gsl_cdf_gaussian_P(1 + most - ratio, sd) - gsl_cdf_gaussian_P(1 - most - ratio, sd);
}

/* The quantile p of chi² / df; of many degrees of freedom by Wilson and Hilferty (1931). */
static double share_of_variance(double df, double p)
{
	const double MANY = 50;
	double spread = 2 / (9 * df);

	if (df <= MANY)
		return gsl_cdf_chisq_Pinv(p, df) / df;
	return pow(1 - spread + gsl_cdf_ugaussian_Pinv(p) * sqrt(spread), 3);
}

/* How likely there is a verdict other than COMPARISON_CANNOT_TELL. */
static double chance_of_verdict(
	const struct comparison_rules *rules, const struct verdict_forecast *f)
{
	enum { QUANTILES = 20 };
	double margin = comparison_rules_margin(rules), hidden = f->ratio * f->hidden, chance = 0;

	for (int i = 0; i < QUANTILES; i++) {
		double scale = f->ratio / sqrt(share_of_variance(f->df, (i + 0.5) / QUANTILES));
		double sd = scale * hypot(f->error, f->next_error);
		double shown = scale * f->shown_from * f->next_error + hidden;
		double room = margin - scale * f->half - hidden; /* for "equal" */

		if (rules->fail_if_slower >= 0)
			shown = fmax(shown, margin);
		chance += 1 - chance_within(f->ratio, sd, shown);
		if (isnan(f->equal_error))
			chance += chance_within(f->ratio, sd, fmin(shown, room));
		else
			chance += f->equal_chance * chance_within(f->ratio, sd, shown) *
				  chance_within(1 + f->equal_share * (f->ratio - 1),
					  scale * hypot(f->equal_share * f->error, f->equal_error),
					  room);
	}
	return chance / QUANTILES;
}

double verdict_missing(const struct comparison_rules *rules, verdict_forecast *forecast,
	const void *of, double most)
{
	/* Differences are more often small than the first samples say: with these chances, four
	 * comparisons in five or more end in a verdict (tests/bench/comparisons.c). */
	const double wanted = rules->fail_if_slower < 0 ? 0.9 : 0.85;
	double low = 0, high = 1;

	for (; high <= most; high *= 2) {
		struct verdict_forecast f = forecast(of, high);

		if (chance_of_verdict(rules, &f) >= wanted)
			break;
		low = high;
	}
	while (high <= most && high - low > 1) {
		double middle = floor((low + high) / 2);
		struct verdict_forecast f = forecast(of, middle);

		if (chance_of_verdict(rules, &f) >= wanted)
			high = middle;
		else
			low = middle;
	}
	return high <= most ? high : INFINITY;
}

enum status comparison_verdict_status(
	const struct comparison_rules *rules, enum comparison_verdict verdict)
{
	switch (verdict) {
	case COMPARISON_SLOWER:
		return rules->fail_if_slower >= 0 ? STATUS_NOT_FIT : STATUS_DONE;
	case COMPARISON_CANNOT_TELL:
	case COMPARISON_UNMEASURABLE:
		return rules->strict ? STATUS_CANNOT_TELL : STATUS_DONE;
	case COMPARISON_DIFFERENT_WORK:
		return STATUS_ERROR;
	default:
		return STATUS_DONE;
	}
}
