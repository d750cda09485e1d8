/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run against its baseline: see jitter_change.h. */
#include "lib/jitter/jitter_change.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/stats/interval.h"

#include <math.h>

const char *const jitter_change_names[N_CHANGE_KINDS] = {
	[CHANGE_NONE] = "none",
	[CHANGE_NEW] = "new",
	[CHANGE_GONE] = "gone",
	[CHANGE_GROWN] = "grown",
	[CHANGE_SHRUNK] = "shrunk",
	[CHANGE_UNCLEAR] = "unclear",
};

static const double LEVEL = 0.05;

static struct rate rate_of(const struct jitter_row *row, const struct jitter_cpu *cpus)
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

static double share_of(const struct rate *rate)
{
	return rate->time_ns > 0 ? rate->total_ns / rate->time_ns : 0;
}

/* p is not adjusted yet; it is two-sided. */
static struct jitter_change compare(const struct jitter_row *before, const struct jitter_cpu *before_cpus,
	const struct jitter_row *after, const struct jitter_cpu *after_cpus)
{
	struct rate a = rate_of(before, before_cpus), b = rate_of(after, after_cpus);
	double more = rate_more(&a, &b, JITTER_MARGIN), less = rate_more(&b, &a, JITTER_MARGIN);

	struct jitter_change change = {
		.before = before,
		.after = after,
		.before_share = share_of(&a),
		.after_share = share_of(&b),
		.ratio = rate_ratio(&a, &b),
		.p = fmin(1, 2 * fmin(more, less)),
	};

	rate_ratio_interval(&a, &b, &change.low, &change.high);
	return change;
}

/* Chance is shared out by the time that a source took in both runs, so that many short ones do not hide a long one. */
static double weight_of(const struct jitter_change *c)
{
	return fmax(sqrt(c->before_share + c->after_share), 1e-9);
}

static enum jitter_change_kind kind_of(const struct jitter_change *c)
{
	bool firm = c->p < LEVEL;

	if (!c->before)
		return firm ? CHANGE_NEW : CHANGE_UNCLEAR;
	if (!c->after)
		return firm ? CHANGE_GONE : CHANGE_UNCLEAR;
	if (!firm)
		return CHANGE_NONE;
	return c->ratio > 1 ? CHANGE_GROWN : CHANGE_SHRUNK;
}

static int by_weighted_p(const void *x, const void *y)
{
	const struct jitter_change *a = x, *b = y;
	double of_a = a->p / weight_of(a), of_b = b->p / weight_of(b);

	return (of_a > of_b) - (of_a < of_b);
}

static int by_difference(const void *x, const void *y)
{
	const struct jitter_change *a = x, *b = y;
	double of_a = fabs(a->after_share - a->before_share), of_b = fabs(b->after_share - b->before_share);

	return (of_a < of_b) - (of_a > of_b);
}

/* Holm's procedure with weights (1979, section 4): each p is divided by its weight's share in those that are not smaller, and is
 * not less than those before it. */
static void adjust(struct jitter_changes *changes)
{
	double least = 0, weights = 0;

	qsort(changes->items, changes->n, sizeof(*changes->items), by_weighted_p);
	for (size_t i = 0; i < changes->n; i++)
		weights += weight_of(&changes->items[i]);
	for (size_t i = 0; i < changes->n; i++) {
		struct jitter_change *c = &changes->items[i];

		c->p = least = fmax(least, fmin(1, c->p * fmax(weights / weight_of(c), 1)));
		weights -= weight_of(c);
		c->kind = kind_of(c);
		if (c->kind == CHANGE_NEW)
			changes->new_share += c->after->share;
	}
	qsort(changes->items, changes->n, sizeof(*changes->items), by_difference);
}

static const struct jitter_row *find(const struct jitter_table *table, int64_t source)
{
	for (size_t i = 0; i < table->n; i++)
		if (table->rows[i].source->id == source)
			return &table->rows[i];
	return NULL;
}

int jitter_changes_make(struct jitter_changes *ret, const struct jitter_table *before,
	const struct jitter_cpu *before_cpus, const struct jitter_table *after,
	const struct jitter_cpu *after_cpus, struct error *err)
{
	struct jitter_changes changes = {.items = xcalloc(before->n + after->n + 1, sizeof(*changes.items))};

	for (const struct jitter_row *row = after->rows; row < after->rows + after->n; row++)
		changes.items[changes.n++] = compare(
			find(before, row->source->id), before_cpus, row, after_cpus);
	for (const struct jitter_row *row = before->rows; row < before->rows + before->n; row++)
		if (!find(after, row->source->id))
			changes.items[changes.n++] = compare(row, before_cpus, NULL, after_cpus);
	adjust(&changes);
	*ret = changes;
	return 0;
}

void jitter_changes_clear(struct jitter_changes *changes)
{
	free(changes->items);
	*changes = (struct jitter_changes){};
}
