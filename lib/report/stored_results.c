/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Storing results for readers of the book: see stored_results.h. */
#include "lib/report/stored_results.h"

#include <math.h>

static struct stored_result result_of_clock(const struct discarding *d, bool et)
{
	const struct clock_discarding *c = et ? &d->et : &d->pt;
	const struct summary *kept = &c->kept;
	bool any = kept->n > 0;

	return (struct stored_result){
		.clock = et ? STORED_ET : STORED_PT,
		.samples = (int64_t)c->raw.n,
		.kept = (int64_t)kept->n,
		.adjusted = c->adjusted.times_ns,
		.min_ns = any ? kept->min_ns : -1,
		.max_ns = any ? kept->max_ns : -1,
		.mean_ns = summary_mean(kept),
		.median_ns = any ? kept->median_ns : NAN,
		.sd_ns = summary_sd(kept),
		.low_ns = isfinite(c->interval.high_ns) ? c->interval.low_ns : NAN,
		.high_ns = isfinite(c->interval.low_ns) ? c->interval.high_ns : NAN,
		.lag1 = c->interval.lag1,
		.effective_n = c->interval.effective_n,
		.clean_samples = (int64_t)c->papers.n,
		.clean_mean_ns = summary_mean(&c->papers),
		.clean_sd_ns = summary_sd(&c->papers),
	};
}

struct discard_list {
	struct stored_discard *items;
	size_t n;
};

/* Samples that a rule discards by themselves. */
static void discard_list_numbers(struct discard_list *list, enum stored_rule rule,
	enum stored_clock clock, const uint32_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*array_add(list->items, list->n) = (struct stored_discard){
			.sample = numbers[i],
			.rule = rule,
			.clock = clock,
			.pt_ns = -1,
			.limit_ns = -1,
		};
}

/* Samples that a rule discards because of a daemon. */
static void discard_list_daemons(
	struct discard_list *list, enum stored_rule rule, const struct over_cutoff *over, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*array_add(list->items, list->n) = (struct stored_discard){
			.sample = over[i].sample,
			.rule = rule,
			.daemon = over[i].daemon,
			.unit = over[i].unit,
			.pt_ns = over[i].pt_ns,
			.limit_ns = over[i].cutoff_ns,
		};
}

int result_store(struct book *book, const struct run_result *result, struct error *err)
{
	const struct discarding *d = &result->discarding;
	const struct stored_result results[] = {
		result_of_clock(d, false), result_of_clock(d, true)};
	_cleanup_(freep) struct stored_discard *items = NULL;
	struct discard_list list = {};

	discard_list_daemons(&list, STORED_BY_CUTOFF, d->over, d->n_over);
	discard_list_daemons(&list, STORED_BY_UNPROFILED, d->unprofiled, d->n_unprofiled);
	discard_list_numbers(
		&list, STORED_BY_INCOMPLETE, STORED_NO_CLOCK, d->incomplete, d->n_incomplete);
	discard_list_numbers(
		&list, STORED_BY_NEIGHBOUR, STORED_NO_CLOCK, d->by_neighbour, d->n_by_neighbour);
	discard_list_numbers(&list, STORED_BY_DUET, STORED_NO_CLOCK, d->by_duet, d->n_by_duet);
	discard_list_numbers(
		&list, STORED_BY_TWO_SD, STORED_PT, d->pt.by_two_sd, d->pt.n_by_two_sd);
	discard_list_numbers(
		&list, STORED_BY_TWO_SD, STORED_ET, d->et.by_two_sd, d->et.n_by_two_sd);
	items = list.items;
	return book_put_results(book, d->run.id, results, items, list.n, err);
}

int result_store_run(struct book *book, int64_t id, struct error *err)
{
	_cleanup_(run_result_clear) struct run_result result = {};
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	_cleanup_(run_clear) struct run run = {};
	int r = book_get_run(book, id, &run, err);

	if (r < 0 || run.n_samples == 0)
		return r;
	r = run_rules_load(book, &run, NULL, false, &rules, err);
	if (r == 0)
		r = run_result_read(book, id, &rules.rules, 0, &result, err);
	return r < 0 ? r : result_store(book, &result, err);
}

int results_store_missing(struct book *book, int64_t after, json_t *array, struct error *err)
{
	struct run *runs = NULL;
	size_t n = 0;
	int r = book_runs(book, &runs, &n, err);

	for (size_t i = 0; r >= 0 && i < n; i++) {
		const struct run *run = &runs[i];

		if (run->id <= after || run->state == RUN_OPEN || run->n_samples == 0)
			continue;
		r = book_has_results(book, run->id, err);
		if (r != 0)
			continue;
		r = result_store_run(book, run->id, err);
		if (r == -EINVAL) {
			r = 0;
			continue;
		}
		if (array)
			json_array_append_new(array, json_integer(run->id));
	}
	fields_free(&run_table, runs, n);
	return r < 0 ? r : 0;
}
