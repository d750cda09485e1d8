/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of a run for documents: see book_rows.h. */
#include "lib/book/book_rows.h"

#include "lib/base/xalloc.h"
#include "lib/book/book_calibrations.h"
#include "lib/book/query.h"
#include "lib/duet/duet.h"
#include "lib/jitter/jitter.h"
#include "lib/load/load.h"
#include "lib/load/page_waits.h"
#include "lib/record/programs.h"

static const char of_run[] = "WHERE run = ?", no_more[] = "";

#define ROWS(name, of)                                                \
	{                                                             \
		name, &of##_table, .select = of_run, .insert = no_more \
	}

const struct run_rows book_run_rows[] = {
	ROWS("warnings", note),
	ROWS("programs", run_program),
	ROWS("program_samples", sample_program),
	{"load", &load_table, of_run, no_more, .single = true},
	ROWS("load_samples", load_sample),
	ROWS("page_waits", page_wait),
	ROWS("page_wait_bins", page_wait_bin),
	{"duet", &duet_table, of_run, no_more, .single = true},
	ROWS("duet_samples", duet_sample),
	ROWS("duet_alone", duet_alone),
	ROWS("resume_points", resume_point),
	ROWS("jitter_cpus", jitter_cpu),
	ROWS("jitter_periods", jitter_period),
	ROWS("jitter_sources", jitter_source),
	ROWS("jitter_buckets", jitter_bucket),
	ROWS("jitter_matches", jitter_match),
	ROWS("interruptions", interruption),
	ROWS("interruption_parts", interruption_part),
	/* those that its rows name; a combination that is stored keeps its parts */
	{"combination_parts", &combination_part_table,
		"WHERE combination IN (SELECT source FROM jitter_source WHERE run = ?1 UNION"
		" SELECT source FROM jitter_bucket WHERE run = ?1 UNION SELECT source FROM interruption WHERE run = ?1)"
		" ORDER BY combination, n",
		"ON CONFLICT DO NOTHING"},
	{},
};

int book_each_row(struct book *book, int64_t run, const struct run_rows *rows,
	int (*each)(const void *row, void *data), void *data, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(freep) void *row = xcalloc(1, rows->table->size);
	int r = 0, step;

	query_select(&q, book, rows->table, rows->select, err);
	query_int(&q, run);
	while (r == 0 && (step = query_row(&q, rows->table, row, err)) != 0) {
		r = step < 0 ? step : each(row, data);
		fields_clear(rows->table, row);
	}
	return r;
}

int book_add_row(struct book *book, int64_t run, const struct run_rows *rows, const void *row, struct error *err)
{
	_cleanup_(query_end) struct query q = {};

	query_insert(&q, book, rows->table, rows->insert, err);
	if (*rows->table->keys)
		query_int(&q, run);
	query_bind_fields(&q, rows->table, row);
	return query_run(&q, err);
}

static const struct field measurement_fields[] = {
	{FIELD(measurement, FIELD_TEXT, name)},
	{FIELD(measurement, FIELD_REAL, value)},
	{FIELD(measurement, FIELD_TEXT, unit)},
};
const struct field_table measurement_table = {"measurement", "environment, ", measurement_fields,
	ELEMENTS(measurement_fields), sizeof(struct measurement)};

int book_measurements(
	struct book *book, int64_t environment, struct measurement **ret, size_t *ret_n, struct error *err)
{
	return query_all(
		book, &measurement_table, "WHERE environment = ? ORDER BY name", environment, ret, ret_n, err);
}

int book_put_measurement(
	struct book *book, int64_t environment, const struct measurement *measurement, struct error *err)
{
	_cleanup_(query_end) struct query q = {};

	query_insert(&q, book, &measurement_table, "ON CONFLICT DO UPDATE SET value = excluded.value", err);
	query_int(&q, environment);
	query_bind_fields(&q, &measurement_table, measurement);
	return query_run(&q, err);
}
