/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The disturbances of a run in the book: see disturbances_load.h. */
#include "lib/report/disturbances_load.h"

#include "lib/stats/summary.h"

int disturbances_load(struct book *book, int64_t run, struct disturbances *ret, struct error *err)
{
	_cleanup_(freep) struct sample_counters *counters = NULL;
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(freep) int64_t *times = NULL;
	size_t n, n_samples;
	int r;

	r = book_counters(book, run, &counters, &n, err);
	if (r == 0)
		r = book_samples(book, run, &samples, &n_samples, err);
	if (r < 0)
		return r;
	times = reallocarray(NULL, n_samples + 1, sizeof(*times));
	if (!times)
		return error_oom(err);
	for (size_t i = 0; i < n_samples; i++)
		times[i] = samples[i].et_ns;
	return disturbances_find(ret, counters, n, (int64_t)summary_of(times, n_samples).median_ns, err);
}
