/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing two sets of samples: see comparison.h. */
#include "lib/protocol/comparison.h"

#include "lib/base/xalloc.h"

#include <errno.h>
#include <math.h>

struct comparison_side comparison_side_make(
	const struct discarding *d, const struct sample *samples, size_t n, enum comparison_clock clock)
{
	struct comparison_time *items = xcalloc(n ?: 1, sizeof(*items));
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!d->out[i])
			items[kept++] = (struct comparison_time){samples[i].n, samples[i].start_ns,
				sample_time_ns(&samples[i], clock == COMPARISON_ET)};
	return (struct comparison_side){items, kept, clock, d->run.kind == RUN_DUET};
}

void comparison_side_clear(struct comparison_side *side)
{
	free(side->items);
	*side = (struct comparison_side){};
}

/* Whether PT and ET are the same within this. */
static bool is_on_one_cpu(const struct comparison_side *sides)
{
	const struct comparison_side *pt = &sides[COMPARISON_PT], *et = &sides[COMPARISON_ET];
	double on_cpu = 0, elapsed = 0;

	for (size_t i = 0; i < pt->n && i < et->n; i++) {
		on_cpu += (double)pt->items[i].time_ns;
		elapsed += (double)et->items[i].time_ns;
	}
	return on_cpu >= 0.95 * elapsed && on_cpu <= 1.05 * elapsed;
}

unsigned comparison_clocks(unsigned asked, const struct comparison_side *a, const struct comparison_side *b)
{
	if (asked != COMPARE_DEFAULT)
		return asked;
	if (a[COMPARISON_PT].n == 0 || b[COMPARISON_PT].n == 0)
		return COMPARE_ET;
	if (a[COMPARISON_PT].duet && b[COMPARISON_PT].duet)
		return COMPARE_PT;
	return is_on_one_cpu(a) && is_on_one_cpu(b) ? COMPARE_PT : COMPARE_BOTH;
}

struct comparison_pair {
	const struct comparison_time *a, *b;
};

static size_t find_pairs(
	const struct comparison_side *a, const struct comparison_side *b, struct comparison_pair *pairs)
{
	size_t n = 0;

	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		const struct comparison_time *of_a = &a->items[i], *of_b = &b->items[k];

		if (of_a->n == of_b->n)
			pairs[n++] = (struct comparison_pair){of_a, of_b};
		i += of_a->n <= of_b->n;
		k += of_b->n <= of_a->n;
	}
	return n;
}

/* Whether both of each pair started before either of the next. */
static bool in_turn(const struct comparison_pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t a = pairs[i].a->start_ns, b = pairs[i].b->start_ns, last = a > b ? a : b;

		if (a <= 0 || b <= 0)
			return false;
		if (i + 1 < n && (pairs[i + 1].a->start_ns <= last || pairs[i + 1].b->start_ns <= last))
			return false;
	}
	return n > 1;
}

static bool all_above_0(const struct comparison_pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pairs[i].a->time_ns <= 0 || pairs[i].b->time_ns <= 0)
			return false;
	return true;
}

int comparison_make(const struct comparison_side *a, const struct comparison_side *b,
	const struct run_variation *variation, struct comparison *ret, struct error *err)
{
	_cleanup_(freep) struct comparison_pair *pairs = xcalloc(a->n, sizeof(*pairs));
	_cleanup_(freep) int64_t *of_a = xcalloc(a->n, sizeof(*of_a));
	_cleanup_(freep) int64_t *of_b = xcalloc(b->n, sizeof(*of_b));
	_cleanup_(freep) bool *a_first = xcalloc(a->n, sizeof(*a_first));
	struct compare_plan plan = {DESIGN_SEPARATE, 0, 0, NULL};
	size_t n = find_pairs(a, b, pairs), n_a = a->n, n_b = b->n;
	bool paired = in_turn(pairs, n), above_0 = all_above_0(pairs, n);
	int r;

	if (paired) {
		plan.design = a->duet && b->duet && above_0 ? DESIGN_DUET : DESIGN_PAIRS;
		plan.a_first = a_first;
		n_a = n_b = n;
	} else if (variation && variation->df > 0)
		plan = (struct compare_plan){DESIGN_BETWEEN, variation->sd, variation->df, NULL};
	for (size_t i = 0; paired && i < n; i++) {
		of_a[i] = pairs[i].a->time_ns;
		of_b[i] = pairs[i].b->time_ns;
		a_first[i] = pairs[i].a->start_ns < pairs[i].b->start_ns;
	}
	for (size_t i = 0; !paired && i < n_a; i++)
		of_a[i] = a->items[i].time_ns;
	for (size_t i = 0; !paired && i < n_b; i++)
		of_b[i] = b->items[i].time_ns;
	r = compare(of_a, n_a, of_b, n_b, &plan, ret, err);
	if (r < 0)
		return r;
	if (plan.design == DESIGN_PAIRS && above_0)
		ret->log_ratio = log_ratio_of(of_a, of_b, a_first, n);
	ret->clock = a->clock;
	if (plan.design == DESIGN_BETWEEN) {
		ret->between = variation->sd;
		ret->n_between = variation->n_runs;
	}
	return 0;
}

enum comparison_verdict comparison_verdict(const struct comparison *c)
{
	if (isnan(c->ratio_low))
		return COMPARISON_UNKNOWN;
	if (c->ratio_low > 1)
		return COMPARISON_SLOWER;
	return c->ratio_high < 1 ? COMPARISON_FASTER : COMPARISON_SAME;
}

int comparison_judge(const struct comparison *c, const struct comparison_limit *limit, struct error *err)
{
	if (limit->percent < 0)
		return 0;
	if (c->a.n < 2 || c->b.n < 2)
		return error_say(err, -ENODATA,
			"'%s' and '%s' cannot be judged: this needs two samples of each", limit->name,
			limit->reference);
	if (c->design == DESIGN_SEPARATE)
		return error_say(err, -ENODATA,
			"'%s' and '%s' cannot be judged: they are from separate runs, and it is not known how those vary (emp-analyze compare --between-runs)",
			limit->name, limit->reference);
	if (!(c->ratio > 1 + limit->percent / 100) || !(c->ratio_low > 1))
		return 0;
	return error_say(err, COMPARISON_OVER_LIMIT,
		"'%s' is slower than '%s' by %.2f %% in %s time (%g %% confidence: %.2f to %.2f %%), more than %g %%",
		limit->name, limit->reference, 100 * (c->ratio - 1),
		c->clock == COMPARISON_PT ? "CPU" : "elapsed", 100 - round(1000 * c->alpha) / 10,
		100 * (c->ratio_low - 1), 100 * (c->ratio_high - 1), limit->percent);
}
