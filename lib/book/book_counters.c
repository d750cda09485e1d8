/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The disturbance counters of each sample in the lab book: see book_counters.h. */
#include "lib/book/book_counters.h"

#include "lib/base/array.h"
#include "lib/base/json_fields.h"
#include "lib/book/query.h"

#define COUNTER(which, member)                                                                              \
	{                                                                                                   \
		member, FIELD_INT64, (which) * sizeof(int64_t), sizeof(int64_t), FIELD_OPTIONAL, INT64_MIN, \
			-JSON_TIME_MAX, JSON_TIME_MAX                                                       \
	}

static const struct field fields[N_COUNTER_VALUES] = {
	COUNTER(COUNTER_STEAL, "steal_ns"),
	COUNTER(COUNTER_THROTTLES, "throttles"),
	COUNTER(COUNTER_SWAPPED_IN, "swapped_in_pages"),
	COUNTER(COUNTER_SWAPPED_OUT, "swapped_out_pages"),
	COUNTER(COUNTER_MAJOR_FAULTS, "major_faults"),
	COUNTER(COUNTER_SUSPENDED, "suspended_ns"),
	COUNTER(COUNTER_CLOCK_RATE, "clock_rate_ppb"),
	COUNTER(COUNTER_CPU_PRESSURE, "cpu_pressure_ns"),
	COUNTER(COUNTER_VOLUNTARY, "voluntary_switches"),
	COUNTER(COUNTER_INVOLUNTARY, "involuntary_switches"),
	COUNTER(COUNTER_SMIS, "smis"),
	COUNTER(COUNTER_TEMPERATURE, "temperature_change_millicelsius"),
	COUNTER(COUNTER_SPEED, "clock_speed_ppm"),
	COUNTER(COUNTER_INTERRUPTS, "interrupts_ns"),
	{"sample", FIELD_INT64, N_COUNTERS * sizeof(int64_t), sizeof(int64_t), .expression = "sample",
		.book_only = true, .min = 1, .max = UINT32_MAX},
};
const struct field_table counters_table = {
	"counters", "run, sample, ", fields, N_COUNTER_VALUES, N_COUNTER_VALUES * sizeof(int64_t)};

void counters_values(const struct counters *counters, int64_t ret[N_COUNTER_VALUES])
{
	for (int i = 0; i < N_COUNTERS; i++)
		ret[i] = counters_know(counters, i) ? counters->value[i] : INT64_MIN;
}

struct counters counters_of_values(const int64_t values[N_COUNTER_VALUES])
{
	struct counters counters = {};

	for (int i = 0; i < N_COUNTERS; i++)
		if (values[i] != INT64_MIN)
			counters_set(&counters, i, values[i]);
	return counters;
}

int book_add_counters(
	struct book *book, int64_t run, uint32_t sample, const struct counters *changes, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int64_t values[N_COUNTER_VALUES];

	query_insert(&q, book, &counters_table, "", err);
	counters_values(changes, values);
	query_int(&q, run);
	query_int(&q, sample);
	query_bind_fields(&q, &counters_table, values);
	return query_run(&q, err);
}

int book_counters(
	struct book *book, int64_t run, struct sample_counters **ret, size_t *ret_n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(freep) struct sample_counters *rows = NULL;
	size_t n = 0;
	int r;

	query_select(&q, book, &counters_table, "WHERE run = ? ORDER BY sample", err);
	query_int(&q, run);
	while ((r = query_step(&q, err)) > 0) {
		struct sample_counters *row = array_add(rows, n);
		int64_t values[N_COUNTER_VALUES];

		r = query_read_fields(&q, &counters_table, values, err);
		if (r < 0)
			return r;
		row->sample = (uint32_t)values[N_COUNTERS];
		row->changes = counters_of_values(values);
	}
	if (r < 0)
		return r;
	*ret = TAKE(rows);
	*ret_n = n;
	return 0;
}
