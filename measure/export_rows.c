/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See export_rows.h. */
#include "measure/export_rows.h"

#include "lib/base/xalloc.h"
#include "measure/comparisons.h"
#include "measure/export.h"
#include "lib/record/peak_memory.h"

#include <math.h>

static struct export_row make_row(const struct result *r)
{
	const struct summary *et = &r->run.discarding.et.raw, *pt = &r->run.discarding.pt.kept;
	struct result_means means = result_means(r);
	struct peak_memory memory =
		peak_memory_of(r->run.samples, r->run.discarding.out, r->run.n_samples);

	return (struct export_row){
		.result = r,
		.mean_ns = et->mean_ns,
		.sd_ns = et->sd_ns,
		.median_ns = et->median_ns,
		.user_ns = means.user_ns,
		.system_ns = means.system_ns,
		.min_ns = (double)et->min_ns,
		.max_ns = (double)et->max_ns,
		.pt_mean_ns = pt->mean_ns,
		.pt_sd_ns = pt->sd_ns,
		.pt_samples = (double)pt->n,
		.discarded = (double)(r->run.n_samples - pt->n),
		.memory_bytes = memory.n > 0 ? memory.mean_bytes : NAN,
		.pt_ratio = NAN,
	};
}

/* In a duet, the elapsed time of each program is that of all. */
static double mean_of(const struct export_row *row, bool duet)
{
	return duet ? row->pt_mean_ns : row->mean_ns;
}

/* The ratio of two means, and its sd by propagation of their sds, as in hyperfine. */
static void relate(struct export_row *row, const struct export_row *base, bool duet)
{
	double mean = mean_of(row, duet), base_mean = mean_of(base, duet);
	double of_row = (duet ? row->pt_sd_ns : row->sd_ns) / mean;
	double of_base = (duet ? base->pt_sd_ns : base->sd_ns) / base_mean;

	row->relative = mean / base_mean;
	row->relative_sd = row->result == base->result
				   ? NAN
				   : row->relative * sqrt(of_row * of_row + of_base * of_base);
}

static void relate_all(struct export_rows *rows, bool to_first, bool duet)
{
	struct export_row base = rows->items[0];

	for (size_t i = 1; !to_first && i < rows->n; i++)
		base = mean_of(&rows->items[i], duet) < mean_of(&base, duet) ? rows->items[i] : base;
	for (size_t i = 0; i < rows->n; i++)
		relate(&rows->items[i], &base, duet);
}

static void add_ratio(struct export_row *row, const struct comparison *c)
{
	if (c->a.n == 0)
		return;
	row->pt_ratio = c->ratio;
	row->pt_ratio_low = c->ratio_low;
	row->pt_ratio_high = c->ratio_high;
}

/* As on the screen. */
static int add_ratios(const struct session *s, struct export_rows *rows, struct error *err)
{
	_cleanup_(comparisons_clear) struct comparisons comparisons = {};
	int r = comparisons_make(s, &comparisons, err);

	for (size_t i = 0; r == 0 && i < rows->n; i++)
		for (size_t k = 1; k < s->n; k++)
			if (rows->items[i].result == &s->tasks[k].result)
				add_ratio(&rows->items[i], comparisons_of(&comparisons, COMPARISON_PT, k));
	return r;
}

int export_rows_make(const struct session *of, struct export_rows *ret, struct error *err)
{
	const struct session *s = session_judged(of);
	_cleanup_(export_rows_clear) struct export_rows rows = {
		.items = xcalloc(s->n + 1, sizeof(*rows.items))};
	bool duet = of->options->order == ORDER_DUET;
	int r;

	for (size_t i = 0; i < session_n_shown(s); i++)
		if (s->tasks[i].result.run.n_samples > 0)
			rows.items[rows.n++] = make_row(&s->tasks[i].result);
	relate_all(&rows, s->options->reference, duet);
	r = duet ? add_ratios(s, &rows, err) : 0;
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(rows);
	return 0;
}

static int by_mean(const void *x, const void *y)
{
	const struct export_row *a = x, *b = y;

	return (a->mean_ns > b->mean_ns) - (a->mean_ns < b->mean_ns);
}

void export_rows_sort(struct export_rows *rows)
{
	qsort(rows->items, rows->n, sizeof(*rows->items), by_mean);
}

void export_rows_clear(struct export_rows *rows)
{
	free(rows->items);
}
