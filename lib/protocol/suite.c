/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparisons of several command lines, judged at once: see suite.h. */
#include "lib/protocol/suite.h"

#include <gsl/gsl_cdf.h>

static const double SLOWER_AT_ONCE = 0.001, SLOWER_AGAIN = 0.005, FASTER = 0.01;

/* With a chance above this, more samples are not expected to show that a line is slower. */
static const double HARDLY_SLOWER = 0.25;

/* Comparisons of one family, and how likely each shows so great a difference by chance. */
struct suite_family {
	struct suspect {
		struct comparison *comparison;
		double p; /* one-sided */
	} * items;
	size_t n;
};

/* Whether it says something about times. */
static bool is_judged(const struct comparison *c)
{
	return comparison_is_made(c) && !c->unmeasurable && !isnan(c->p) &&
	       c->work != WORK_SAME_PROGRAM && c->work < WORK_DIFFERENT;
}

/* One-sided. Not half of c->p: that of a duet is hardly more than one-sided, where sharing may
 * explain more than chance. */
static double p_slower(const struct comparison *c)
{
	return isnan(c->t) ? 0.5 : gsl_cdf_tdist_Q(c->t, c->df);
}

static void add_suspects(struct suite_family *family, const struct suite_line *line, bool faster)
{
	for (size_t clock = 0; line->comparisons && clock < N_COMPARISON_CLOCKS; clock++) {
		struct comparison *c = &line->comparisons[clock];

		if (is_judged(c) && (c->ratio < 1) == faster)
			*array_add(family->items, family->n) = (struct suspect){
				c, faster ? 1 - p_slower(c) : p_slower(c)};
	}
}

static int suspect_by_p(const void *x, const void *y)
{
	const struct suspect *a = x, *b = y;

	return (a->p > b->p) - (a->p < b->p);
}

/* Of a family of `of_all` comparisons, of which the others do not differ in this direction. */
static void confirm(struct suite_family *family, size_t of_all, double level)
{
	bool shown = true;

	if (family->n > 0)
		qsort(family->items, family->n, sizeof(*family->items), suspect_by_p);
	for (size_t i = 0; i < family->n; i++) {
		shown = shown && family->items[i].p * (double)(of_all - i) < level;
		family->items[i].comparison->unconfirmed = !shown;
	}
	free(family->items);
}

bool suite_wants_again(const struct suite_line *line)
{
	for (size_t clock = 0; line->comparisons && clock < N_COMPARISON_CLOCKS; clock++) {
		const struct comparison *c = &line->comparisons[clock];
		enum comparison_verdict verdict;

		if (!is_judged(c) || p_slower(c) >= HARDLY_SLOWER)
			continue;
		verdict = comparison_verdict(c);
		if (verdict != COMPARISON_EQUAL && verdict != COMPARISON_SLOWER &&
			c->ratio > 1 + comparison_rules_margin(&c->rules) / 2)
			return !line->again;
	}
	return false;
}

void suite_judge(struct suite_line *lines, size_t n)
{
	struct suite_family at_once = {}, again = {}, faster = {};
	size_t n_all = 0, n_again = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t clock = 0; lines[i].comparisons && clock < N_COMPARISON_CLOCKS; clock++)
			if (is_judged(&lines[i].comparisons[clock])) {
				n_all++;
				n_again += lines[i].again;
			}
		add_suspects(lines[i].again ? &again : &at_once, &lines[i], false);
		add_suspects(&faster, &lines[i], true);
	}
	confirm(&at_once, n_all, SLOWER_AT_ONCE);
	confirm(&again, n_again, SLOWER_AGAIN);
	confirm(&faster, n_all, FASTER);
}
