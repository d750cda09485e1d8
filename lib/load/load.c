/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of a load: see load.h. */
#include "lib/load/load.h"

#include "lib/base/cleanup.h"
#include "lib/base/json_fields.h"

const char *const coordination_names[N_COORDINATIONS] = {
	[LOAD_CONSTANT] = "constant-load",
	[LOAD_NO_TEARDOWN] = "no-teardown",
	[LOAD_BEFORE] = "before",
};

static const struct field load_fields[] = {
	{FIELD(load_row, FIELD_ENUM, coordination), .words = coordination_names, .n_words = N_COORDINATIONS},
	{FIELD(load_row, FIELD_TEXT, cpus), .presence = FIELD_OPTIONAL},
	{FIELD(load_row, FIELD_TEXT, file)},
	{FIELD(load_row, FIELD_TEXT, no_page_waits), .presence = FIELD_OPTIONAL},
};
const struct field_table load_table = {
	"load", "run, ", load_fields, ELEMENTS(load_fields), sizeof(struct load_row)};

static const struct field load_sample_fields[] = {
	{FIELD(load_sample, FIELD_UINT32, sample), .min = 1},
	{FIELD(load_sample, FIELD_INT64, release_ns), .max = JSON_TIME_MAX},
	{FIELD(load_sample, FIELD_INT64, driver_ns), .max = JSON_TIME_MAX},
	{FIELD(load_sample, FIELD_INT64, idle_ns), .presence = FIELD_OPTIONAL, .unknown = -1,
		.max = JSON_TIME_MAX},
	{FIELD(load_sample, FIELD_INT64, cpus), .presence = FIELD_OPTIONAL, .unknown = -1, .min = 1,
		.max = 1000000},
};
const struct field_table load_sample_table = {"load_sample", "run, ", load_sample_fields,
	ELEMENTS(load_sample_fields), sizeof(struct load_sample)};

void load_row_clear(struct load_row *row)
{
	fields_clear(&load_table, row);
}
