/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs and their results: the names of enums, the fields for the book and for documents, and
 * freeing. */
#include "lib/record/run.h"

#include "lib/base/argv.h"
#include "lib/record/record_internal.h"

const char *const run_kind_names[N_RUN_KINDS + 1] = {
	[RUN_IMPORT] = "import",
	[RUN_SHORT] = "short",
	[RUN_LONG] = "long",
	[RUN_REVALIDATE] = "revalidate",
	[RUN_MEASURE] = "measure",
	[RUN_JITTER] = "jitter",
	[RUN_CLOCKS] = "clocks",
	[RUN_LOAD] = "load",
	[RUN_DUET] = "duet",
};

const char *const run_state_names[N_RUN_STATES] = {
	[RUN_OPEN] = "open",
	[RUN_DONE] = "done",
	[RUN_INTERRUPTED] = "interrupted",
	[RUN_FAILED] = "failed",
};

const char *const neighbour_rule_names[N_NEIGHBOUR_RULES + 1] = {
	[NEIGHBOUR_OFF] = "off",
	[NEIGHBOUR_DISCARD] = "discard",
	[NEIGHBOUR_ADJUST] = "adjust",
	[NEIGHBOUR_AUTO] = "auto",
};

const char *const source_kind_names[N_SOURCE_KINDS] = {
	[SOURCE_PROCESS] = "process",
	[SOURCE_KERNEL] = "kernel",
	[SOURCE_IRQ] = "irq",
	[SOURCE_SOFTIRQ] = "softirq",
	[SOURCE_VECTOR] = "vector",
	[SOURCE_NMI] = "nmi",
	[SOURCE_FAULT] = "fault",
	[SOURCE_COMBINATION] = "combination",
	[SOURCE_OUTSIDE] = "outside",
};

const char *const note_kind_names[N_NOTE_KINDS] = {
	[NOTE_UNMEASURABLE] = "unmeasurable",
	[NOTE_PROFILE] = "profile",
	[NOTE_PROGRAM] = "program",
	[NOTE_FEW] = "few",
	[NOTE_NOISE] = "noise",
	[NOTE_CORRELATION] = "correlation",
	[NOTE_OTHER] = "other",
	[NOTE_SHELL] = "shell",
	[NOTE_RESOLUTION] = "resolution",
};

#define WORDS(names) .words = (names), .n_words = ELEMENTS(names)

static const struct field run_fields[] = {
	{FIELD(run, FIELD_INT64, id), ID, .expression = "id", .book_only = true},
	{FIELD(run, FIELD_CHARS, uid), .book_only = true},
	{FIELD(run, FIELD_ENUM, kind), .words = run_kind_names, .n_words = N_RUN_KINDS,
		.book_only = true},
	{FIELD(run, FIELD_TEXT, program)},
	{FIELD(run, FIELD_INT64, task_length_ns), IS_OPTIONAL, .seconds = "task_length_s",
		.must_be_given = true},
	{FIELD(run, FIELD_INT64, resolution_ns), .min = 1, IS_TIME},
	{FIELD(run, FIELD_INT, cpu), UNLESS_NEGATIVE, .max = INT32_MAX},
	{FIELD(run, FIELD_TEXT, backend), IS_OPTIONAL},
	{FIELD(run, FIELD_TEXT, pt_source), IS_OPTIONAL},
	{FIELD(run, FIELD_TEXT, wait_source), IS_OPTIONAL},
	{FIELD(run, FIELD_TEXT, profile), IS_OPTIONAL},
	{FIELD(run, FIELD_INT64, profile_id), IS_OPTIONAL, ID, .book_only = true},
	CORRELATION(run),
	{FIELD(run, FIELD_TEXT, inc_digest), IS_OPTIONAL},
	{FIELD(run, FIELD_TEXT, owner), IS_OPTIONAL, .book_only = true},
	{FIELD(run, FIELD_TEXT, name_patterns), IS_OPTIONAL},
	{FIELD(run, FIELD_BOOL, other_cpus), .presence = FIELD_DEFAULTED},
	{FIELD(run, FIELD_INT64, unprofiled_share_ppm), IS_OPTIONAL, .min = 1, .max = INT32_MAX},
	{FIELD(run, FIELD_ENUM, neighbour_rule), .words = neighbour_rule_names,
		.n_words = N_NEIGHBOUR_RULES, .presence = FIELD_DEFAULTED},
	{FIELD(run, FIELD_INT64, neighbour_limit_ppm), IS_OPTIONAL, .min = 1, .max = PPM},
	{FIELD(run, FIELD_INT64, neighbour_slope_ppm), IS_OPTIONAL, .max = 10 * PPM},
	{FIELD(run, FIELD_INT64, neighbour_slope_error_ppm), IS_OPTIONAL, .min = 1,
		.max = 10 * PPM},
	{FIELD(run, FIELD_TEXT, held_back_by), IS_OPTIONAL},
	{FIELD(run, FIELD_TEXT, program_digest), IS_OPTIONAL},
	{FIELD(run, FIELD_TEXT, output_digest), IS_OPTIONAL},
	{FIELD(run, FIELD_TEXT, notes), IS_OPTIONAL},
	{FIELD(run, FIELD_TEXT, command), IS_OPTIONAL, .book_only = true},
	{FIELD(run, FIELD_TEXT, name), IS_OPTIONAL},
	{FIELD(run, FIELD_ENUM, state), WORDS(run_state_names), .book_only = true},
	{FIELD(run, FIELD_INT64, started_ns), IS_MOMENT, .book_only = true},
	{FIELD(run, FIELD_INT64, ended_ns), IS_OPTIONAL, IS_MOMENT, .book_only = true},
	{FIELD(run, FIELD_INT64, environment), IS_OPTIONAL, ID, .book_only = true},
	{FIELD(run, FIELD_UINT32, n_samples), .book_only = true,
		.expression = "(SELECT count(*) FROM sample WHERE run = run.id)"},
};
const struct field_table run_table = FIELD_TABLE(run, "", run_fields);

static const struct field note_fields[] = {
	{FIELD(note, FIELD_UINT32, n), .min = 1, .max = UINT32_MAX},
	{FIELD(note, FIELD_ENUM, kind), WORDS(note_kind_names)},
	{FIELD(note, FIELD_TEXT, text)},
};
const struct field_table note_table = FIELD_TABLE(note, "run, ", note_fields);

static const struct field sample_fields[] = {
	{FIELD(sample, FIELD_UINT32, n), .min = 1, .max = UINT32_MAX},
	{FIELD(sample, FIELD_INT64, start_ns), IS_MOMENT},
	{FIELD(sample, FIELD_INT64, et_ns), IS_TIME},
	{FIELD(sample, FIELD_INT64, pt_ns), IS_TIME},
	{FIELD(sample, FIELD_INT64, user_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(sample, FIELD_INT64, system_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(sample, FIELD_INT64, max_rss_bytes), UNLESS_NEGATIVE, .max = INT64_MAX},
	{FIELD(sample, FIELD_INT64, observer_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(sample, FIELD_INT64, lost), .presence = FIELD_DEFAULTED, .max = INT64_MAX},
	{FIELD(sample, FIELD_INT, exit_status), UNLESS_NEGATIVE, .max = 255},
	{FIELD(sample, FIELD_INT, left_behind), .presence = FIELD_DEFAULTED, .max = INT32_MAX},
	{FIELD(sample, FIELD_BOOL, incomplete), .presence = FIELD_DEFAULTED},
	{FIELD(sample, FIELD_INT64, wait_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(sample, FIELD_BOOL, max_rss_at_most), .presence = FIELD_DEFAULTED},
	{FIELD(sample, FIELD_INT64, et_late_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(sample, FIELD_INT64, held_back_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(sample, FIELD_INT64, neighbour_ppm), UNLESS_NEGATIVE, .max = PPM},
	{FIELD(sample, FIELD_INT64, neighbour_error_ppm), UNLESS_NEGATIVE, .max = PPM},
	{FIELD(sample, FIELD_INT64, probe_ns), UNLESS_NEGATIVE, IS_TIME},
};
const struct field_table sample_table = FIELD_TABLE(sample, "run, ", sample_fields);

#define COUNTER(which, its_name)                                                                 \
	{                                                                                        \
		its_name, FIELD_INT64, offsetof(struct counters, value[which]), sizeof(int64_t), \
			FIELD_OPTIONAL, INT64_MIN, -JSON_TIME_MAX, JSON_TIME_MAX                 \
	}

static const struct field counters_fields[] = {
	{FIELD(counters, FIELD_UINT32, sample), .min = 1, .book_only = true},
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
};
const struct field_table counters_table = FIELD_TABLE(counters, "run, ", counters_fields);

static const struct field execution_fields[] = {
	{FIELD(execution, FIELD_UINT32, source), ID, .book_only = true},
	{FIELD(execution, FIELD_INT64, pt_ns), IS_TIME},
	{FIELD(execution, FIELD_INT, pid), IS_OPTIONAL, .max = INT32_MAX},
	{FIELD(execution, FIELD_INT64, tick_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(execution, FIELD_INT, cpu), UNLESS_NEGATIVE, .max = INT32_MAX},
	{FIELD(execution, FIELD_INT64, same_cpu_ns), UNLESS_NEGATIVE, IS_TIME},
};
const struct field_table execution_table = FIELD_TABLE(
	execution, "run, sample, seq, ", execution_fields);

static const struct field source_fields[] = {
	{FIELD(source, FIELD_INT64, id), ID, .expression = "id", .book_only = true},
	{FIELD(source, FIELD_TEXT, name)},
	{FIELD(source, FIELD_TEXT, exe), IS_OPTIONAL},
	{FIELD(source, FIELD_TEXT, unit), IS_OPTIONAL},
	{FIELD(source, FIELD_ENUM, kind), WORDS(source_kind_names), .presence = FIELD_DEFAULTED},
};
const struct field_table source_table = FIELD_TABLE(source, "", source_fields);

static const struct field program_fields[] = {
	{FIELD(run_program, FIELD_UINT32, n), .min = 1},
	{FIELD(run_program, FIELD_TEXT, name)},
	{FIELD(run_program, FIELD_TEXT, command), IS_OPTIONAL},
};
const struct field_table run_program_table = {
	"program", "run, ", program_fields, ELEMENTS(program_fields), sizeof(struct run_program)};

static const struct field sample_program_fields[] = {
	{FIELD(sample_program, FIELD_UINT32, sample), .min = 1},
	{FIELD(sample_program, FIELD_UINT32, program), .min = 1},
	{FIELD(sample_program, FIELD_INT64, start_ns), IS_MOMENT},
	{FIELD(sample_program, FIELD_INT64, et_ns), IS_TIME},
	{FIELD(sample_program, FIELD_INT64, pt_ns), IS_TIME},
	{FIELD(sample_program, FIELD_INT64, user_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(sample_program, FIELD_INT64, system_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(sample_program, FIELD_INT64, max_rss_bytes), UNLESS_NEGATIVE, .max = INT64_MAX},
	{FIELD(sample_program, FIELD_INT, exit_status), UNLESS_NEGATIVE, .max = 255},
	{FIELD(sample_program, FIELD_INT, left_behind), .presence = FIELD_DEFAULTED,
		.max = INT32_MAX},
	{FIELD(sample_program, FIELD_INT64, repetitions), UNLESS_NEGATIVE, .max = INT64_MAX},
	{FIELD(sample_program, FIELD_INT64, finished_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(sample_program, FIELD_INT64, wait_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(sample_program, FIELD_INT64, io_wait_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(sample_program, FIELD_INT64, major_faults), UNLESS_NEGATIVE, .max = INT64_MAX},
};
const struct field_table sample_program_table = FIELD_TABLE(
	sample_program, "run, ", sample_program_fields);

void run_clear(struct run *run)
{
	fields_clear(&run_table, run);
	*run = (struct run){};
}

char *run_command_json(char *const *argv)
{
	_cleanup_(json_decrefp) json_t *array = json_array();

	for (; *argv; argv++) {
		_cleanup_(freep) char *word = text_utf8(*argv);

		json_array_append_new(array, json_string(word));
	}
	return json_dumps(array, JSON_COMPACT);
}

/* "/bin/sh -c 'a | b'": emp-measure has added the shell, because the line needs one. */
static bool was_typed_as_line(char *const *words)
{
	_cleanup_(argv_freep) char **split = NULL;
	int r;

	if (strcmp(words[0], "/bin/sh") != 0 || strcmp(words[1], "-c") != 0)
		return false;
	r = argv_split(words[2], &split, NULL);
	return r == -ENOEXEC || (r == 0 && argv_is_of_shell(split[0]));
}

char *run_command_line(const struct run *run)
{
	_cleanup_(json_decrefp) json_t *array = run->command ? json_loads(run->command, 0, NULL)
							     : NULL;
	_cleanup_(argv_freep) char **words = NULL;
	size_t i, n = json_array_size(array);
	json_t *word;

	if (n == 0)
		return xstrdup(run->program);
	words = xcalloc(n + 1, sizeof(char *));
	json_array_foreach (array, i, word)
		words[i] = xstrdup(json_string_value(word) ?: "?");
	if (n == 3 && was_typed_as_line(words))
		return xstrdup(words[2]);
	return argv_join(words);
}

void sources_clear(struct sources *sources)
{
	fields_free(&source_table, sources->items, sources->n);
	*sources = (struct sources){};
}
