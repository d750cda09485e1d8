/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes since a baseline: see jitter_change.h. */
#include "lib/jitter/jitter_change.h"

#include "lib/jitter/rate.h"

#include <math.h>

const char *const jitter_change_names[N_CHANGE_KINDS] = {
	[CHANGE_NONE] = "none",
	[CHANGE_NEW] = "new",
	[CHANGE_GONE] = "gone",
	[CHANGE_GROWN] = "grown",
	[CHANGE_SHRUNK] = "shrunk",
	[CHANGE_UNCLEAR] = "unclear",
};

static const double SIGNIFICANT = 0.05;

static struct rate jitter_rate_of(const struct jitter_row *row, const struct jitter_cpu *cpus)
{
	struct rate rate = {.n = (double)cpus->rounds, .time_ns = (double)cpus->sampled_ns};

	if (!row)
		return rate;
	rate.with = row->rounds;
	rate.total_ns = (double)row->total_ns;
	rate.squares = row->round_squares_ns2;
	rate.steps = row->round_steps_ns2;
	return rate;
}

/* p is not adjusted yet; it is two-sided. */
static struct jitter_change compare_rows(const struct jitter_row *before,
	const struct jitter_cpu *before_cpus, const struct jitter_row *after,
	const struct jitter_cpu *after_cpus)
{
	struct rate a = jitter_rate_of(before, before_cpus), b = jitter_rate_of(after, after_cpus);
	double more = rate_more(&a, &b, JITTER_MARGIN), less = rate_more(&b, &a, JITTER_MARGIN);
	struct jitter_change change = {
		.source = after ? after->source : before->source,
		.before = before,
		.after = after,
		.before_share = a.time_ns > 0 ? a.total_ns / a.time_ns : 0,
		.after_share = b.time_ns > 0 ? b.total_ns / b.time_ns : 0,
		.p = fmin(1, 2 * fmin(more, less)),
	};

	change.weight = fmax(sqrt(change.before_share + change.after_share), 1e-9);
	change.ratio = rate_ratio(&a, &b, &change.low, &change.high);
	return change;
}

static int by_weighted_p(const void *x, const void *y)
{
	const struct jitter_change *a = x, *b = y;
	double of_a = a->p / a->weight, of_b = b->p / b->weight;

	return (of_a > of_b) - (of_a < of_b);
}

static int by_share_difference(const void *x, const void *y)
{
	const struct jitter_change *a = x, *b = y;
	double of_a = fabs(a->after_share - a->before_share),
	       of_b = fabs(b->after_share - b->before_share);

	return (of_a < of_b) - (of_a > of_b);
}

static const struct jitter_row *find_row(const struct jitter_table *table, int64_t source)
{
	for (size_t i = 0; i < table->n; i++)
		if (table->rows[i].source->id == source)
			return &table->rows[i];
	return NULL;
}

struct jitter_changes jitter_changes_make(const struct jitter_table *before,
	const struct jitter_cpu *before_cpus, const struct jitter_table *after,
	const struct jitter_cpu *after_cpus)
{
	struct jitter_changes changes = {
		.items = xcalloc(before->n + after->n, sizeof(*changes.items))};
	double least = 0, weights = 0;

	for (size_t i = 0; i < after->n; i++) {
		const struct jitter_row *row = &after->rows[i];

		changes.items[changes.n++] = compare_rows(
			find_row(before, row->source->id), before_cpus, row, after_cpus);
	}
	for (size_t i = 0; i < before->n; i++) {
		const struct jitter_row *row = &before->rows[i];

		if (!find_row(after, row->source->id))
			changes.items[changes.n++] = compare_rows(
				row, before_cpus, NULL, after_cpus);
	}
	/* Holm's procedure with weights (1979, section 4): each p is divided by its weight's share
	 * in those that are not smaller, and is not less than those before it. */
	qsort(changes.items, changes.n, sizeof(*changes.items), by_weighted_p);
	for (size_t i = 0; i < changes.n; i++)
		weights += changes.items[i].weight;
	for (size_t i = 0; i < changes.n; i++) {
		struct jitter_change *c = &changes.items[i];
		bool firm;

		c->p = least = fmax(least, fmin(1, c->p * fmax(weights / c->weight, 1)));
		weights -= c->weight;
		firm = c->p < SIGNIFICANT;
		if (!c->before)
			c->kind = firm ? CHANGE_NEW : CHANGE_UNCLEAR;
		else if (!c->after)
			c->kind = firm ? CHANGE_GONE : CHANGE_UNCLEAR;
		else if (firm)
			c->kind = c->ratio > 1 ? CHANGE_GROWN : CHANGE_SHRUNK;
		if (c->kind == CHANGE_NEW)
			changes.new_share += c->after->share;
	}
	qsort(changes.items, changes.n, sizeof(*changes.items), by_share_difference);
	return changes;
}

void jitter_changes_clear(struct jitter_changes *changes)
{
	free(changes->items);
	*changes = (struct jitter_changes){};
}

const char *jitter_ratio_text(double ratio)
{
	if (ratio < 0.095)
		return text_brief("%.2g", ratio);
	return text_brief(ratio < 9.995 ? "%.2f" : "%.0f", ratio);
}

const char *jitter_ratio_interval(const struct jitter_change *c)
{
	const char *low = jitter_ratio_text(c->low), *high = jitter_ratio_text(c->high);

	if (c->low > 0 && isfinite(c->high))
		return text_brief("%.12s … %.12s", low, high);
	if (isfinite(c->high))
		return text_brief("< %.12s", high);
	return c->low > 0 ? text_brief("> %.12s", low) : "-";
}
