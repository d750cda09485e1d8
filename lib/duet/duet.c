/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of a duet: see duet.h. */
#include "lib/duet/duet.h"

#include "lib/base/cleanup.h"
#include "lib/base/json_fields.h"

static const struct field duet_fields[] = {
	{FIELD(duet_row, FIELD_INT64, reference), .min = 1},
	{FIELD(duet_row, FIELD_BOOL, frozen)},
	{FIELD(duet_row, FIELD_INT64, slice_ns), .min = 1, .max = JSON_TIME_MAX},
	{FIELD(duet_row, FIELD_INT64, increments), .presence = FIELD_OPTIONAL, .min = 1, .max = INT64_MAX},
};
const struct field_table duet_table = {
	"duet", "run, ", duet_fields, ELEMENTS(duet_fields), sizeof(struct duet_row)};

static const struct field sample_fields[] = {
	{FIELD(duet_sample, FIELD_UINT32, sample), .min = 1, .max = UINT32_MAX},
	{FIELD(duet_sample, FIELD_INT, position), .min = 1, .max = INT32_MAX},
	{FIELD(duet_sample, FIELD_INT, repetitions), .min = 1, .max = INT32_MAX},
	{FIELD(duet_sample, FIELD_INT64, together_ns), .max = JSON_TIME_MAX},
};
const struct field_table duet_sample_table = {
	"duet_sample", "run, ", sample_fields, ELEMENTS(sample_fields), sizeof(struct duet_sample)};

static const struct field alone_fields[] = {
	{FIELD(duet_alone, FIELD_UINT32, n), .min = 1, .max = UINT32_MAX},
	{FIELD(duet_alone, FIELD_UINT32, after), .max = UINT32_MAX},
	{FIELD(duet_alone, FIELD_INT64, start_ns), .max = JSON_MOMENT_MAX},
	{FIELD(duet_alone, FIELD_INT64, et_ns), .max = JSON_TIME_MAX},
	{FIELD(duet_alone, FIELD_INT64, pt_ns), .max = JSON_TIME_MAX},
};
const struct field_table duet_alone_table = {
	"duet_alone", "run, ", alone_fields, ELEMENTS(alone_fields), sizeof(struct duet_alone)};
