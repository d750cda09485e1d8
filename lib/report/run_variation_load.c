/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much separate runs vary: see run_variation_load.h. */
#include "lib/report/run_variation_load.h"

static const struct run_mean *find(const struct run_means *means, int64_t run)
{
	for (size_t i = 0; i < means->n; i++)
		if (means->items[i].run == run)
			return &means->items[i];
	return NULL;
}

int run_variation_load(struct book *book, int64_t run_a, int64_t run_b, enum comparison_clock clock,
	struct run_variation *ret, struct error *err)
{
	struct run_means a = {}, b = {};
	struct run_mean compared[2];
	size_t n = 0;
	int r;

	*ret = (struct run_variation){};
	r = book_run_means(book, run_a, clock == COMPARISON_ET, &a, err);
	if (r == 0)
		r = book_run_means(book, run_b, clock == COMPARISON_ET, &b, err);
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
