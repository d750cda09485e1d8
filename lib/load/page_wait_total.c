/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums and rows of page waits: see page_wait_total.h. */
#include "lib/load/page_wait_total.h"

const struct page_wait *page_wait_find(
	const struct page_waits *waits, enum page_wait_kind kind, uint32_t n)
{
	for (size_t i = 0; i < waits->n; i++)
		if (waits->items[i].sample == n && waits->items[i].kind == kind)
			return &waits->items[i];
	return NULL;
}

/* Adds it to the bin from the same length on, which is inserted if it is new. */
static void add_wait_bin(struct page_wait_total *total, const struct page_wait_bin *bin)
{
	size_t at = total->n_bins;

	while (at > 0 && total->bins[at - 1].low_ns >= bin->low_ns)
		at--;
	if (at == total->n_bins || total->bins[at].low_ns != bin->low_ns) {
		array_add(total->bins, total->n_bins);
		memmove(&total->bins[at + 1], &total->bins[at],
			(total->n_bins - 1 - at) * sizeof(*total->bins));
		total->bins[at] = (struct page_wait_bin){
			.kind = bin->kind, .low_ns = bin->low_ns, .high_ns = bin->high_ns};
	}
	total->bins[at].count = saturate_add(total->bins[at].count, bin->count);
	total->bins[at].total_ns = saturate_add(total->bins[at].total_ns, bin->total_ns);
}

struct page_wait_total page_wait_total_of(const struct page_waits *waits, enum page_wait_kind kind,
	const struct sample *samples, size_t n)
{
	struct page_wait_total total = {};

	for (size_t i = 0; i < n; i++) {
		const struct page_wait *wait = page_wait_find(waits, kind, samples[i].n);

		if (!wait)
			continue;
		total.n++;
		total.count = saturate_add(total.count, wait->count);
		total.total_ns = saturate_add(total.total_ns, wait->total_ns);
		total.lost = saturate_add(total.lost, wait->lost);
		if (wait->ready_ns < 0 || total.ready_ns < 0)
			total.ready_ns = -1;
		else
			total.ready_ns = saturate_add(total.ready_ns, wait->ready_ns);
		for (size_t k = 0; k < waits->n_bins; k++)
			if (waits->bins[k].sample == wait->sample && waits->bins[k].kind == kind)
				add_wait_bin(&total, &waits->bins[k]);
	}
	return total;
}

void page_wait_total_clear(struct page_wait_total *total)
{
	free(total->bins);
	*total = (struct page_wait_total){};
}

/* How many waits the rows of this width hold, without the last one. */
static int64_t waits_shown(const struct page_wait_total *total, int64_t width_ns)
{
	int64_t n = 0;

	for (size_t i = 0; i < total->n_bins; i++) {
		if (total->bins[i].low_ns >= (PAGE_WAIT_ROWS - 1) * width_ns)
			break;
		n = saturate_add(n, total->bins[i].count);
	}
	return n;
}

int64_t page_wait_width(const struct page_wait_total *total)
{
	static const int64_t steps[] = {1, 2, 5};
	static const double MOST_SHOWN = 0.9;
	int64_t decade_ns = 10 * NS_PER_US;

	for (; decade_ns < NS_PER_S; decade_ns *= 10)
		for (size_t i = 0; i < ELEMENTS(steps); i++) {
			int64_t width_ns = steps[i] * decade_ns;
			double shown = (double)waits_shown(total, width_ns);

			if (shown >= MOST_SHOWN * (double)total->count)
				return width_ns;
		}
	return decade_ns;
}

size_t page_wait_rows(const struct page_wait_total *total, int64_t width_ns,
	struct page_wait_bin ret[PAGE_WAIT_ROWS])
{
	size_t n = 0;

	for (size_t i = 0; i < PAGE_WAIT_ROWS; i++)
		ret[i] = (struct page_wait_bin){
			.low_ns = (int64_t)i * width_ns, .high_ns = (int64_t)(i + 1) * width_ns};
	ret[PAGE_WAIT_ROWS - 1].high_ns = -1;

	for (size_t i = 0; i < total->n_bins; i++) {
		int64_t row = total->bins[i].low_ns / width_ns;
		size_t at = row < PAGE_WAIT_ROWS ? (size_t)row : PAGE_WAIT_ROWS - 1;

		ret[at].count = saturate_add(ret[at].count, total->bins[i].count);
		ret[at].total_ns = saturate_add(ret[at].total_ns, total->bins[i].total_ns);
		n = at + 1 > n ? at + 1 : n;
	}
	return n;
}

int page_wait_width_parse(const char *value, const char *name, void *into, struct error *err)
{
	int64_t *width_ns = into;
	int r = text_parse_duration(value, name, width_ns, err);
	bool good;

	if (r < 0)
		return r;
	good = *width_ns <= NS_PER_S;
	for (uint64_t i = 1; i < PAGE_WAIT_ROWS; i++) {
		uint64_t edge_ns = i * (uint64_t)*width_ns;

		good = good && page_wait_bin_from(page_wait_bin_of(edge_ns)) == edge_ns;
	}
	if (good)
		return 0;
	return error_say(err, -EINVAL, "%s must be 10us, 20us, 50us, 100us, 200us, … 100ms, not %s",
		name, value);
}
