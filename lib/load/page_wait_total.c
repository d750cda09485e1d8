/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page waits of several runs together: see page_wait_total.h. */
#include "lib/load/page_wait_total.h"

#include "lib/base/array.h"
#include "lib/base/cleanup.h"
#include "lib/base/saturate.h"
#include "lib/base/text.h"

#include <string.h>

static const double MOST_SHOWN = 0.9;

const struct page_wait *page_wait_find(const struct page_waits *waits, enum page_wait_kind kind, uint32_t n)
{
	for (size_t i = 0; i < waits->n; i++)
		if (waits->items[i].sample == n && waits->items[i].kind == kind)
			return &waits->items[i];
	return NULL;
}

/* The bin from low_ns on, which is inserted if it is new. NULL: no memory. */
static struct page_wait_bin *find_bin(struct page_wait_total *total, const struct page_wait_bin *like)
{
	size_t at = total->n_bins;

	while (at > 0 && total->bins[at - 1].low_ns >= like->low_ns)
		at--;
	if (at < total->n_bins && total->bins[at].low_ns == like->low_ns)
		return &total->bins[at];
	if (!array_add(total->bins, total->n_bins))
		return NULL;
	memmove(&total->bins[at + 1], &total->bins[at], (total->n_bins - 1 - at) * sizeof(*total->bins));
	total->bins[at] = (struct page_wait_bin){
		.kind = like->kind, .low_ns = like->low_ns, .high_ns = like->high_ns};
	return &total->bins[at];
}

static int add_bins(struct page_wait_total *total, const struct page_waits *waits, const struct page_wait *of,
	struct error *err)
{
	for (size_t i = 0; i < waits->n_bins; i++) {
		const struct page_wait_bin *bin = &waits->bins[i];
		struct page_wait_bin *sum;

		if (bin->sample != of->sample || bin->kind != of->kind)
			continue;
		sum = find_bin(total, bin);
		if (!sum)
			return error_oom(err);
		sum->count = saturate_add(sum->count, bin->count);
		sum->total_ns = saturate_add(sum->total_ns, bin->total_ns);
	}
	return 0;
}

static int add(struct page_wait_total *total, const struct page_waits *waits, const struct page_wait *wait,
	struct error *err)
{
	total->ready_ns = wait->ready_ns < 0 || total->ready_ns < 0
				  ? -1
				  : saturate_add(total->ready_ns, wait->ready_ns);
	total->n++;
	total->count = saturate_add(total->count, wait->count);
	total->total_ns = saturate_add(total->total_ns, wait->total_ns);
	total->lost = saturate_add(total->lost, wait->lost);
	return add_bins(total, waits, wait, err);
}

int page_wait_total_of(struct page_wait_total *ret, const struct page_waits *waits, enum page_wait_kind kind,
	const struct sample *samples, size_t n, struct error *err)
{
	_cleanup_(page_wait_total_clear) struct page_wait_total total = {};
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct page_wait *wait = page_wait_find(waits, kind, samples[i].n);

		if (wait)
			r = add(&total, waits, wait, err);
	}
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(total);
	return 0;
}

void page_wait_total_clear(struct page_wait_total *total)
{
	free(total->bins);
	*total = (struct page_wait_total){};
}

static int64_t count_below(const struct page_wait_total *total, int64_t ns)
{
	int64_t count = 0;

	for (size_t i = 0; i < total->n_bins && total->bins[i].low_ns < ns; i++)
		count = saturate_add(count, total->bins[i].count);
	return count;
}

int64_t page_wait_width(const struct page_wait_total *total)
{
	static const int64_t steps[] = {1, 2, 5};
	int64_t decade_ns = 10 * NS_PER_US;

	for (; decade_ns < NS_PER_S; decade_ns *= 10)
		for (size_t i = 0; i < ELEMENTS(steps); i++) {
			int64_t width_ns = steps[i] * decade_ns,
				below = count_below(total, (PAGE_WAIT_ROWS - 1) * width_ns);

			if ((double)below >= MOST_SHOWN * (double)total->count)
				return width_ns;
		}
	return decade_ns;
}

size_t page_wait_rows(
	const struct page_wait_total *total, int64_t width_ns, struct page_wait_bin ret[PAGE_WAIT_ROWS])
{
	size_t n = 0;

	for (size_t i = 0; i < PAGE_WAIT_ROWS; i++)
		ret[i] = (struct page_wait_bin){.low_ns = (int64_t)i * width_ns,
			.high_ns = i + 1 < PAGE_WAIT_ROWS ? (int64_t)(i + 1) * width_ns : -1};
	for (size_t i = 0; i < total->n_bins; i++) {
		int64_t row = total->bins[i].low_ns / width_ns;
		size_t at = row < PAGE_WAIT_ROWS ? (size_t)row : PAGE_WAIT_ROWS - 1;

		ret[at].count = saturate_add(ret[at].count, total->bins[i].count);
		ret[at].total_ns = saturate_add(ret[at].total_ns, total->bins[i].total_ns);
		n = at + 1 > n ? at + 1 : n;
	}
	return n;
}
