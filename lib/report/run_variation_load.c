/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much separate runs vary: see run_variation_load.h. */
#include "lib/report/run_variation_load.h"

#include "lib/report/run_result.h"
#include "lib/report/run_rules.h"

static const struct run_mean *find(const struct run_means *means, int64_t run)
{
	for (size_t i = 0; i < means->n; i++)
		if (means->items[i].run == run)
			return &means->items[i];
	return NULL;
}

/* The mean of the samples that the rules of its run keep. */
static int take_kept(struct book *book, bool et, struct run_mean *mean, struct error *err)
{
	_cleanup_(discarding_clear) struct discarding d = {};
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	_cleanup_(run_clear) struct run run = {};
	const struct summary *kept = et ? &d.et.kept : &d.pt.kept;
	int r = book_get_run(book, mean->run, &run, err);

	if (r == 0)
		r = run_rules_load(book, &run, NULL, false, &rules, err);
	if (r < 0 || !discard_rules_by_name(&rules.rules))
		return r;
	r = discard_run(book, mean->run, &rules.rules, &d, err);
	mean->mean_ns = kept->mean_ns;
	mean->n_samples = (int64_t)kept->n;
	return r;
}

static int load_means(struct book *book, int64_t run, bool et, struct run_means *ret, struct error *err)
{
	int r = book_run_means(book, run, et, ret, err);

	for (size_t i = 0; r == 0 && i < ret->n; i++)
		r = take_kept(book, et, &ret->items[i], err);
	return r;
}

int run_variation_load(struct book *book, int64_t run_a, int64_t run_b, enum comparison_clock clock,
	struct run_variation *ret, struct error *err)
{
	struct run_means a = {}, b = {};
	struct run_mean compared[2];
	size_t n = 0;
	int r;

	*ret = (struct run_variation){};
	r = load_means(book, run_a, clock == COMPARISON_ET, &a, err);
	if (r == 0)
		r = load_means(book, run_b, clock == COMPARISON_ET, &b, err);
	if (r == 0 && find(&a, run_a))
		compared[n++] = *find(&a, run_a);
	if (r == 0 && find(&b, run_b))
		compared[n++] = *find(&b, run_b);
	if (n == 2) /* if both are of one command, its runs must not count twice */
		*ret = run_variation_find(&a, find(&a, run_b) ? NULL : &b, compared, n);
	free(a.items);
	free(b.items);
	return r;
}
