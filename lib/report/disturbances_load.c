/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The disturbances of a run in the book: see disturbances_load.h. */
#include "lib/report/disturbances_load.h"

static int by_length(const void *a, const void *b)
{
	int64_t x = ((const struct sample *)a)->et_ns, y = ((const struct sample *)b)->et_ns;

	return (x > y) - (x < y);
}

int disturbances_load(struct book *book, int64_t run, struct disturbances *ret, struct error *err)
{
	_cleanup_(freep) struct sample_counters *counters = NULL;
	_cleanup_(freep) struct sample *samples = NULL;
	size_t n, n_samples;
	int r;

	r = book_counters(book, run, &counters, &n, err);
	if (r == 0)
		r = book_samples(book, run, &samples, &n_samples, err);
	if (r < 0)
		return r;
	if (n_samples > 0)
		qsort(samples, n_samples, sizeof(*samples), by_length);
	return disturbances_find(ret, counters, n, n_samples ? samples[n_samples / 2].et_ns : 0, err);
}
