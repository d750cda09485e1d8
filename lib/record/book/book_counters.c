/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentinels of each sample in the lab book: see book_counters.h. */
#include "lib/record/book/book_counters.h"

#include "lib/record/book/query.h"

#include <errno.h>
#include <inttypes.h>

const char *const counter_names[N_COUNTERS] = {
	[COUNTER_STEAL] = "steal_ns",
	[COUNTER_THROTTLES] = "throttles",
	[COUNTER_SWAPPED_IN] = "swapped_in_pages",
	[COUNTER_SWAPPED_OUT] = "swapped_out_pages",
	[COUNTER_MAJOR_FAULTS] = "major_faults",
	[COUNTER_SUSPENDED] = "suspended_ns",
	[COUNTER_CLOCK_RATE] = "clock_rate_ppb",
	[COUNTER_CPU_PRESSURE] = "cpu_pressure_ns",
	[COUNTER_VOLUNTARY] = "voluntary_switches",
	[COUNTER_INVOLUNTARY] = "involuntary_switches",
};

/* The columns of the table stand in the order of the names. */
int book_add_counters(
	struct book *book, int64_t run, uint32_t sample, const struct counters *moved, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book, "INSERT INTO sentinels VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", err);
	if (r < 0)
		return r;
	query_int(&q, run);
	query_int(&q, sample);
	for (int i = 0; i < N_COUNTERS; i++)
		if (counters_know(moved, i))
			query_int(&q, moved->value[i]);
		else
			query_unless(&q, 0, 0);
	return query_run(&q, err);
}

static struct sample_counters read_row(struct query *q)
{
	struct sample_counters row = {.sample = (uint32_t)query_column(q, 0)};

	for (int i = 0; i < N_COUNTERS; i++) {
		int64_t value = query_column_or(q, i + 1, INT64_MIN);

		if (value != INT64_MIN)
			counters_set(&row.moved, i, value);
	}
	return row;
}

int book_counters(
	struct book *book, int64_t run, struct sample_counters **ret, size_t *ret_n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(freep) struct sample_counters *rows = NULL;
	size_t n = 0, capacity = 0;
	int r;

	r = query_begin(&q, book,
		"SELECT sample, steal_ns, throttles, swapped_in_pages, swapped_out_pages, major_faults,"
		" suspended_ns, clock_rate_ppb, cpu_pressure_ns, voluntary_switches, involuntary_switches"
		" FROM sentinels WHERE run = ? ORDER BY sample",
		err);
	if (r < 0)
		return r;
	query_int(&q, run);
	while ((r = query_step(&q, err)) > 0) {
		if (n == capacity) {
			struct sample_counters *bigger;

			capacity = capacity ? 2 * capacity : 64;
			bigger = reallocarray(rows, capacity, sizeof(*rows));
			if (!bigger)
				return error_os(
					err, -ENOMEM, "cannot read the sentinels of run %" PRId64, run);
			rows = bigger;
		}
		rows[n++] = read_row(&q);
	}
	if (r < 0)
		return r;
	*ret = TAKE(rows);
	*ret_n = n;
	return 0;
}
