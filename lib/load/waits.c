/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page waits of one run of a load: see waits.h. */
#include "lib/load/waits.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/host/process/privilege.h"

struct load_waits {
	const struct page_wait_meter *meter;
	struct page_wait_sums before, after;
};

int load_waits_start(struct load_waits **ret, const struct page_wait_meter *meter,
	const struct cgroup *slaves, struct error *err)
{
	_cleanup_(load_waits_freep) struct load_waits *waits = meter ? xcalloc(1, sizeof(*waits)) : NULL;
	int r;

	if (!waits)
		return meter ? error_oom(err) : 0;
	waits->meter = meter;
	privilege_raise();
	r = page_wait_meter_set(meter, cgroup_fd(slaves), err);
	privilege_lower();
	if (r < 0)
		return r;
	page_wait_meter_read(meter, &waits->before);
	*ret = TAKE(waits);
	return 0;
}

void load_waits_stop(struct load_waits *waits)
{
	if (waits)
		page_wait_meter_read(waits->meter, &waits->after);
}

void load_waits_free(struct load_waits *waits)
{
	free(waits);
}

static int add_bin(struct page_waits *to, struct page_wait *all, uint32_t at,
	const struct page_wait_sum *before, const struct page_wait_sum *after, struct error *err)
{
	struct page_wait_bin *bin;

	if (after->count == before->count)
		return 0;
	bin = array_add(to->bins, to->n_bins);
	*bin = (struct page_wait_bin){
		.sample = all->sample,
		.kind = all->kind,
		.low_ns = (int64_t)page_wait_bin_from(at),
		.high_ns = at + 1 < N_PAGE_WAIT_BINS ? (int64_t)page_wait_bin_from(at + 1) : -1,
		.count = (int64_t)(after->count - before->count),
		.total_ns = (int64_t)(after->total_ns - before->total_ns),
	};
	all->count += bin->count;
	all->total_ns += bin->total_ns;
	return 0;
}

static int add_kind(struct page_waits *to, const struct load_waits *w, enum page_wait_kind kind,
	enum page_wait_histogram from, uint32_t sample, struct error *err)
{
	struct page_wait all = {.sample = sample, .kind = kind, .ready_ns = -1}, *item;
	int r = 0;

	if (kind == PAGE_WAIT_SLAVE)
		all.ready_ns = (int64_t)(w->after.ready_ns - w->before.ready_ns);
	all.lost = (int64_t)(w->after.lost[from] - w->before.lost[from]);
	for (uint32_t i = 0; r == 0 && i < N_PAGE_WAIT_BINS; i++)
		r = add_bin(to, &all, i, &w->before.bins[from][i], &w->after.bins[from][i], err);
	item = r == 0 ? array_add(to->items, to->n) : NULL;
	if (!item)
		return r < 0 ? r : error_oom(err);
	*item = all;
	return 0;
}

int load_waits_record(const struct load_waits *w, uint32_t sample, struct page_waits *ret, struct error *err)
{
	static const enum page_wait_histogram from[N_PAGE_WAIT_KINDS] = {
		[PAGE_WAIT_SLAVE] = PAGE_WAITS_OF_TASKS,
		[PAGE_WAIT_READ] = PAGE_WAITS_OF_READS,
		[PAGE_WAIT_WRITE] = PAGE_WAITS_OF_WRITES,
	};
	_cleanup_(page_waits_clear) struct page_waits waits = {};
	int r = 0;

	for (enum page_wait_kind kind = 0; w && r == 0 && kind < N_PAGE_WAIT_KINDS; kind++)
		if (page_wait_meter_watches(w->meter, from[kind]))
			r = add_kind(&waits, w, kind, from[kind], sample, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(waits);
	return 0;
}
