/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results in documents of hyperfine, pyperf and emp-measure: see compare_document.h. */
#include "analyze/compare_document.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/protocol/comparison.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void compare_input_clear(struct compare_input *side)
{
	free(side->name);
	free(side->profile);
	free(side->digest);
	free(side->noise);
	for (size_t i = 0; i < N_COMPARISON_CLOCKS; i++)
		comparison_side_clear(&side->sides[i]);
}

/* Numbers times `scale` (1e9 for seconds), appended. */
static int append(const json_t *numbers, double scale, struct comparison_side *side, struct error *err)
{
	json_t *number;
	size_t i;

	json_array_foreach (numbers, i, number) {
		struct comparison_time *time = array_add(side->items, side->n);

		if (!json_is_number(number) || json_number_value(number) < 0 ||
			json_number_value(number) * scale > 9e18)
			return error_say(err, -EINVAL, "number %zu of its times is not a valid time", i + 1);
		*time = (struct comparison_time){
			(uint32_t)side->n, 0, llround(json_number_value(number) * scale)};
	}
	return 0;
}

/* The process times that emp-measure wrote, and when the samples started. Those that it discarded are dropped from both clocks. */
static int read_process_times(const json_t *emp, struct compare_input *input, struct error *err)
{
	_cleanup_(freep) bool *discarded = NULL;
	struct comparison_side *side = &input->sides[COMPARISON_PT];
	const json_t *starts = json_object_get(emp, "start_ns");
	const char *digest = json_string_value(json_object_get(emp, "environment"));
	size_t n;
	int r = append(json_object_get(emp, "pt_ns"), 1, side, err);
	static const char *const lists[] = {"incomplete", "by_cutoff", "by_unprofiled"};

	if (r < 0)
		return r;
	discarded = xcalloc(side->n + 1, sizeof(*discarded));
	input->digest = text_copy(digest);
	n = side->n;
	/* Marks the samples (of n) for which emp-measure named a cause: those whose numbers are in its
	 * lists, or that have an execution over its cutoff. */
	for (size_t k = 0; k < ELEMENTS(lists); k++) {
		json_t *entry;
		size_t i;

		json_array_foreach (json_object_get(emp, lists[k]), i, entry) {
			json_int_t number = json_integer_value(
				json_is_object(entry) ? json_object_get(entry, "sample") : entry);

			if (number >= 1 && (size_t)number <= n)
				discarded[number - 1] = true;
		}
	}
	for (size_t clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		for (size_t i = 0; i < n && i < input->sides[clock].n; i++)
			input->sides[clock].items[i].start_ns = json_integer_value(json_array_get(starts, i));
	for (size_t clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
		size_t kept = 0;

		if (input->sides[clock].n != n)
			continue;
		for (size_t i = 0; i < n; i++)
			if (!discarded[i])
				input->sides[clock].items[kept++] = input->sides[clock].items[i];
		input->sides[clock].n = kept;
	}
	return 0;
}

static const char *hyperfine_name(const json_t *result)
{
	return json_string_value(json_object_get(result, "command")) ?: "?";
}

/* The mark of the profile that emp-measure discarded by, if it has one. */
static void read_noise(const json_t *emp, struct compare_input *side)
{
	const char *noise = json_string_value(json_object_get(emp, "profile_noise"));
	const char *profile = json_string_value(json_object_get(emp, "profile"));
	json_int_t blind_ns = json_integer_value(json_object_get(emp, "profile_blind_ns"));

	if (!profile || (!noise && blind_ns <= 0))
		return;
	side->blind_ns = blind_ns > 0 ? blind_ns : 0;
	side->noise = text_copy(noise);
	side->profile = text_copy(profile);
}

/* hyperfine's results[]: seconds in times; process times too where emp-measure wrote it. */
static int read_hyperfine(const json_t *result, struct compare_input *side, struct error *err)
{
	const json_t *emp = json_object_get(result, "emp");
	struct json_fields fields = json_fields_begin(result, (struct json_location){"the result"}, err);
	json_t *times;
	int r;

	json_fields_array(&fields, "times", &times);
	r = fields.r;
	if (r == 0)
		r = append(times, 1e9, &side->sides[COMPARISON_ET], err);
	if (r == 0 && emp)
		r = read_process_times(emp, side, err);
	if (r == 0 && emp)
		read_noise(emp, side);
	return r;
}

static const char *pyperf_name(const json_t *benchmark)
{
	return json_string_value(json_object_get(json_object_get(benchmark, "metadata"), "name"))
		       ?: "benchmark";
}

/* pyperf's benchmarks[]: seconds in the values of each run; runs that only calibrate have none. */
static int read_pyperf(const json_t *benchmark, struct compare_input *side, struct error *err)
{
	struct json_fields fields = json_fields_begin(
		benchmark, (struct json_location){"the benchmark"}, err);
	json_t *runs, *one;
	size_t i;

	json_fields_array(&fields, "runs", &runs);
	if (fields.r < 0)
		return fields.r;
	json_array_foreach (runs, i, one) {
		int r = append(json_object_get(one, "values"), 1e9, &side->sides[COMPARISON_ET], err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The formats, by the member that has the results. */
static const struct format {
	const char *member;
	const char *(*name)(const json_t *result);
	int (*read)(const json_t *result, struct compare_input *side, struct error *err);
} formats[] = {
	{"results", hyperfine_name, read_hyperfine},
	{"benchmarks", pyperf_name, read_pyperf},
};

/* `number` counts from 1; 0: it was not given. */
static int compare_read_result(const char *path, const json_t *results, const struct format *format,
	int64_t number, struct compare_input *side, struct error *err)
{
	const json_t *result;
	int r;

	if (number == 0 && json_array_size(results) > 1) {
		enum { MOST = 6 };
		_cleanup_(freep) char *list = NULL;
		size_t n = json_array_size(results), size;
		FILE *memory = xopen_memstream(&list, &size);

		/* The file has several results: the user must name one. */
		for (size_t i = 0; i < n && i < MOST; i++)
			fprintf(memory, "%s%s:%zu (%s)", i > 0 ? ", " : "", path, i + 1,
				format->name(json_array_get(results, i)));
		text_stream_close(memory, &list);
		return error_say(
			err, -EINVAL, "it has %zu results; name one: %s%s", n, list, n > MOST ? ", …" : "");
	}
	number = number ?: 1;
	result = json_array_get(results, (size_t)number - 1);
	if (!result)
		return error_say(err, -EINVAL, "it has %zu result%s, but no number %" PRId64,
			json_array_size(results), json_array_size(results) == 1 ? "" : "s", number);
	r = format->read(result, side, err);
	if (r < 0)
		return r;
	side->name = xstrdup(format->name(result));
	return 0;
}

int compare_document_read(struct compare_input *ret, const json_t *document, const char *path, int64_t number,
	struct error *err)
{
	ret->sides[COMPARISON_ET].clock = COMPARISON_ET;
	for (size_t i = 0; i < ELEMENTS(formats); i++) {
		const json_t *results = json_object_get(document, formats[i].member);
		int r;

		if (!json_is_array(results))
			continue;
		r = compare_read_result(path, results, &formats[i], number, ret, err);
		return r < 0 ? error_prefix(err, r, "'%s'", path) : 0;
	}
	return error_say(err, -EINVAL,
		"'%s' is not JSON of emp-measure, hyperfine or pyperf: it has no 'results' and no 'benchmarks'",
		path);
}
