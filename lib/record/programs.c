/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of programs that run at once: see programs.h. */
#include "lib/record/programs.h"

#include "lib/base/cleanup.h"
#include "lib/base/json_fields.h"

#define TIME .max = JSON_TIME_MAX
#define UNLESS_NEGATIVE .presence = FIELD_OPTIONAL, .unknown = -1

static const struct field program_fields[] = {
	{FIELD(run_program, FIELD_UINT32, n), .min = 1},
	{FIELD(run_program, FIELD_TEXT, name)},
	{FIELD(run_program, FIELD_TEXT, command), .presence = FIELD_OPTIONAL},
};
const struct field_table run_program_table = {
	"program", "run, ", program_fields, ELEMENTS(program_fields), sizeof(struct run_program)};

static const struct field fields[] = {
	{FIELD(sample_program, FIELD_UINT32, sample), .min = 1},
	{FIELD(sample_program, FIELD_UINT32, program), .min = 1},
	{FIELD(sample_program, FIELD_INT64, start_ns), .max = JSON_MOMENT_MAX},
	{FIELD(sample_program, FIELD_INT64, et_ns), TIME},
	{FIELD(sample_program, FIELD_INT64, pt_ns), TIME},
	{FIELD(sample_program, FIELD_INT64, user_ns), UNLESS_NEGATIVE, TIME},
	{FIELD(sample_program, FIELD_INT64, system_ns), UNLESS_NEGATIVE, TIME},
	{FIELD(sample_program, FIELD_INT64, max_rss_bytes), UNLESS_NEGATIVE, .max = INT64_MAX},
	{FIELD(sample_program, FIELD_INT, exit_status), UNLESS_NEGATIVE, .max = 255},
	{FIELD(sample_program, FIELD_INT, left_behind), .presence = FIELD_DEFAULTED, .max = INT32_MAX},
	{FIELD(sample_program, FIELD_INT64, repetitions), UNLESS_NEGATIVE, .max = INT64_MAX},
	{FIELD(sample_program, FIELD_INT64, finished_ns), UNLESS_NEGATIVE, TIME},
	{FIELD(sample_program, FIELD_INT64, wait_ns), UNLESS_NEGATIVE, TIME},
	{FIELD(sample_program, FIELD_INT64, io_wait_ns), UNLESS_NEGATIVE, TIME},
	{FIELD(sample_program, FIELD_INT64, major_faults), UNLESS_NEGATIVE, .max = INT64_MAX},
};
const struct field_table sample_program_table = {
	"sample_program", "run, ", fields, ELEMENTS(fields), sizeof(struct sample_program)};

void run_programs_free(struct run_program *programs, size_t n)
{
	fields_free(&run_program_table, programs, n);
}
