/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of verdicts and their exit statuses: see comparison_verdict.h. */
#include "lib/stats/comparison_verdict.h"

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
	[UNMEASURABLE_HELD_BACK] = {"held back by a quota", "measure without a quota"},
	[UNMEASURABLE_STOLEN] = {"the hypervisor stole CPU time", "measure on a host that is less busy"},
	[UNMEASURABLE_SHORT] = {"shorter than the clock sees", "measure more work in each sample"},
	[UNMEASURABLE_DISTURBED] = {"all samples are disturbed", "see 'emp-analyze discard'"},
	[UNMEASURABLE_CPU_KINDS] = {"CPUs of several kinds", "pin both to one CPU with --cpu"},
	[UNMEASURABLE_SPEED_STEP] = {"the speed changed in the middle", "measure both in turn"},
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

enum status comparison_verdict_status(const struct comparison_rules *rules, enum comparison_verdict verdict)
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
