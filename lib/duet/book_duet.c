/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A duet in the lab book: see book_duet.h. */
#include "lib/duet/book_duet.h"

#include "lib/book/sql.h"

static const struct field duet_fields[] = {
	{FIELD(duet_row, FIELD_INT64, reference), .min = 1, .refers = FIELD_TO_RUN},
	{FIELD(duet_row, FIELD_BOOL, frozen)},
	{FIELD(duet_row, FIELD_INT64, slice_ns), .min = 1, IS_TIME},
	{FIELD(duet_row, FIELD_INT64, increments), IS_OPTIONAL, .min = 1, .max = INT64_MAX},
	{FIELD(duet_row, FIELD_INT64, working_set), UNLESS_NEGATIVE, .max = INT64_C(1) << 50},
	{FIELD(duet_row, FIELD_INT64, own_cache), UNLESS_NEGATIVE, .max = INT64_C(1) << 50},
	{FIELD(duet_row, FIELD_INT, cpus), IS_OPTIONAL, .min = 2, .max = INT32_MAX},
	{FIELD(duet_row, FIELD_BOOL, signalled), .presence = FIELD_DEFAULTED},
	{FIELD(duet_row, FIELD_INT64, run), .min = 1, .expression = "run", .book_only = true},
};
const struct field_table duet_table = {
	"duet", "run, ", duet_fields, ELEMENTS(duet_fields), sizeof(struct duet_row)};

static const struct field duet_sample_fields[] = {
	{FIELD(duet_sample, FIELD_UINT32, sample), .min = 1, .max = UINT32_MAX},
	{FIELD(duet_sample, FIELD_INT, position), .min = 1, .max = INT32_MAX},
	{FIELD(duet_sample, FIELD_INT, repetitions), .min = 1, .max = INT32_MAX},
	{FIELD(duet_sample, FIELD_INT64, together_ns), IS_TIME},
	{FIELD(duet_sample, FIELD_INT64, turns), UNLESS_NEGATIVE, .max = INT64_MAX},
};
const struct field_table duet_sample_table = FIELD_TABLE(duet_sample, "run, ", duet_sample_fields);

static const struct field duet_alone_fields[] = {
	{FIELD(duet_alone, FIELD_UINT32, n), .min = 1, .max = UINT32_MAX},
	{FIELD(duet_alone, FIELD_UINT32, after), .max = UINT32_MAX},
	{FIELD(duet_alone, FIELD_INT64, start_ns), IS_MOMENT},
	{FIELD(duet_alone, FIELD_INT64, et_ns), IS_TIME},
	{FIELD(duet_alone, FIELD_INT64, pt_ns), IS_TIME},
};
const struct field_table duet_alone_table = FIELD_TABLE(duet_alone, "run, ", duet_alone_fields);

#define OF_THE_SAME_DUET "WHERE reference = (SELECT reference FROM duet WHERE run = ?) ORDER BY run"

int book_duet(
	struct book *book, int64_t run, struct duet_row **ret, size_t *ret_n, struct error *err)
{
	return sql_all(book, err, &duet_table, OF_THE_SAME_DUET, ret, ret_n, "i", run);
}

static const struct field_table duet_run_table = {"duet", "",
	&(const struct field){"run", FIELD_INT64, .size = sizeof(int64_t), .min = 1}, 1,
	sizeof(int64_t)};

const struct document_feature duet_feature = {
	.rows = (const struct run_rows[]){{"duet", &duet_table, .single = true},
		{"duet_samples", &duet_sample_table}, {"duet_alone", &duet_alone_table}, {}},
	.companions = {"duet_runs", &duet_run_table, OF_THE_SAME_DUET},
};
