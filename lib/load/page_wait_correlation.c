/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run time and page waits: see page_wait_correlation.h. */
#include "lib/load/page_wait_correlation.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/load/page_wait_total.h"

#include <math.h>

static double repetitions_of(const struct page_wait_runs *runs, uint32_t sample)
{
	double sum = 0;

	for (size_t i = 0; i < runs->n_slaves; i++)
		if (runs->slaves[i].sample == sample && runs->slaves[i].repetitions > 0)
			sum += (double)runs->slaves[i].repetitions;
	return sum;
}

static double mean_of(const struct page_wait *wait)
{
	int64_t ready_ns = wait->ready_ns > 0 ? wait->ready_ns : 0;

	return wait->count > 0 ? (double)(wait->total_ns - ready_ns) / (double)wait->count : NAN;
}

/* Of each run, in three columns; false: one of them is not known. */
static bool fill(const struct page_wait_runs *runs, double *times, double *numbers, double *means)
{
	for (size_t i = 0; i < runs->n; i++) {
		uint32_t n = runs->samples[i].n;
		const struct page_wait *wait = page_wait_find(runs->waits, PAGE_WAIT_SLAVE, n);
		double repetitions = repetitions_of(runs, n);

		if (!wait || !(repetitions > 0) || runs->rates[i] <= 0)
			return false;
		times[i] = 1 / (double)runs->rates[i];
		numbers[i] = (double)wait->count / repetitions;
		means[i] = mean_of(wait);
	}
	return true;
}

int page_wait_correlation_of(
	struct page_wait_correlation *ret, const struct page_wait_runs *runs, struct error *err)
{
	_cleanup_(freep) double *columns = xcalloc(3 * runs->n + 1, sizeof(*columns));
	double *times = columns, *numbers = columns + runs->n, *means = columns + 2 * runs->n;

	*ret = (struct page_wait_correlation){pearson_of(NULL, NULL, 0), pearson_of(NULL, NULL, 0)};
	if (!fill(runs, times, numbers, means))
		return 0;
	ret->number = pearson_of(times, numbers, runs->n);
	ret->length = pearson_of(times, means, runs->n);
	return 0;
}
