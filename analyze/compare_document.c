/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results in documents of hyperfine, pyperf and emp-measure: see analyze.h. */
#include "analyze/analyze.h"

void compare_input_clear(struct compare_input *side)
{
	free(side->name);
	free(side->profile);
	free(side->digest);
	free(side->call);
	free(side->duet_doubt);
	discarding_clear(&side->discarding);
	for (size_t i = 0; i < N_COMPARISON_CLOCKS; i++)
		comparison_side_clear(&side->sides[i]);
}

/* Numbers times `scale` (1e9 for seconds), appended. */
static int append(const json_t *numbers, double scale, struct comparison_side *side, struct error *err)
{
	json_t *number;
	size_t i;

	json_array_foreach (numbers, i, number) {
		double ns = json_number_value(number) * scale;
		struct comparison_time *time;

		if (!json_is_number(number) || ns < 0 || ns > 9e18)
			return error_say(err, -EINVAL, "number %zu of its times is not a valid time", i + 1);
		time = array_add(side->items, side->n);
		*time = (struct comparison_time){.n = (uint32_t)side->n, .time_ns = llround(ns)};
	}
	return 0;
}

/* What emp-measure wrote beside hyperfine's members: the process times, when the samples started,
 * those that it discarded by name, which are dropped from both clocks, the machine, and the mark of
 * the profile, if that has one. Results of the same duet have the call in common; others need not
 * be of one call, even in one file, since files can be merged. */
static int read_emp(const json_t *emp, const char *path, struct compare_input *input, struct error *err)
{
	static const char *const lists[] = {"incomplete", "by_cutoff", "by_unprofiled", "by_duet"};
	struct comparison_side *pt = &input->sides[COMPARISON_PT];
	const json_t *starts = json_object_get(emp, "start_ns"), *ets = json_object_get(emp, "et_ns");
	const char *profile = json_string_value(json_object_get(emp, "profile"));
	const char *noise = json_string_value(json_object_get(emp, "profile_noise"));
	bool duet = json_is_array(json_object_get(emp, "by_duet"));
	json_int_t blind_ns = json_integer_value(json_object_get(emp, "profile_blind_ns"));
	_cleanup_(freep) bool *discarded = NULL;
	int r = append(json_object_get(emp, "pt_ns"), 1, pt, err);
	const struct comparison_side *et = &input->sides[COMPARISON_ET];
	size_t n = pt->n, n_et = et->n, i;

	if (r < 0)
		return r;
	discarded = xcalloc(n + 1, sizeof(*discarded));
	for (size_t k = 0; k < ELEMENTS(lists); k++) {
		json_t *entry;

		json_array_foreach (json_object_get(emp, lists[k]), i, entry) {
			json_int_t number = json_integer_value(
				json_is_object(entry) ? json_object_get(entry, "sample") : entry);

			if (number >= 1 && (size_t)number <= n)
				discarded[number - 1] = true;
		}
	}
	input->digest = text_copy(json_string_value(json_object_get(emp, "environment")));
	input->call = duet ? text_copy(path) : NULL;
	for (struct comparison_side *side = input->sides; side < input->sides + N_COMPARISON_CLOCKS; side++) {
		size_t kept = 0;

		side->duet = duet;
		side->origin = (struct comparison_origin){
			.call = input->call, .machine = input->digest, .cpu = -1};
		for (i = 0; i < n && i < side->n; i++) {
			const json_t *et_ns = json_array_get(ets, i); /* or else "times" */

			side->items[i].start_ns = json_integer_value(json_array_get(starts, i));
			side->items[i].end_ns = side->items[i].start_ns +
						(et_ns	       ? json_integer_value(et_ns)
							: i < n_et ? et->items[i].time_ns
								   : 0);
		}
		if (side->n != n)
			continue;
		for (i = 0; i < n; i++)
			if (!discarded[i])
				side->items[kept++] = side->items[i];
		side->n = kept;
		if (json_is_true(json_object_get(json_object_get(emp, "held_back"), "unmeasurable")))
			side->unmeasurable = UNMEASURABLE_HELD_BACK;
		else if (n > 0 && kept == 0)
			side->unmeasurable = UNMEASURABLE_DISTURBED;
	}
	input->discarding.run.program_digest = text_copy(
		json_string_value(json_object_get(emp, "program_digest")));
	input->discarding.run.output_digest = text_copy(
		json_string_value(json_object_get(emp, "output_digest")));
	if (!profile || (!noise && blind_ns <= 0))
		return 0;
	input->discarding.mark = (struct profile_mark){blind_ns > 0 ? blind_ns : 0, text_copy(noise)};
	input->profile = text_copy(profile);
	return 0;
}

/* hyperfine's results[]: seconds in times. */
static int read_hyperfine(
	const json_t *result, const char *path, struct compare_input *side, struct error *err)
{
	const json_t *emp = json_object_get(result, "emp");
	struct json_fields fields = json_fields_begin(result, (struct json_location){"the result"}, err);
	json_t *times;
	int r;

	times = json_fields_array(&fields, "times");
	r = fields.r;
	if (r == 0)
		r = append(times, 1e9, &side->sides[COMPARISON_ET], err);
	return r == 0 && emp ? read_emp(emp, path, side, err) : r;
}

/* pyperf's benchmarks[]: seconds in the values of each run; runs that only calibrate have none. */
static int read_pyperf(
	const json_t *benchmark, const char *path, struct compare_input *side, struct error *err)
{
	struct json_fields fields = json_fields_begin(
		benchmark, (struct json_location){"the benchmark"}, err);
	json_t *runs, *one;
	size_t i;

	runs = json_fields_array(&fields, "runs");
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
	const char *within, *name,
		*unnamed; /* of a result: the object (NULL: itself) and the member that has its name */
	int (*read)(const json_t *result, const char *path, struct compare_input *side, struct error *err);
} formats[] = {
	{"results", NULL, "command", "?", read_hyperfine},
	{"benchmarks", "metadata", "name", "benchmark", read_pyperf},
};

static const char *result_name(const struct format *format, const json_t *result)
{
	const json_t *object = format->within ? json_object_get(result, format->within) : result;

	return json_string_value(json_object_get(object, format->name)) ?: format->unnamed;
}

int compare_document_read(struct compare_input *ret, const json_t *document, const char *path, int64_t number,
	struct error *err)
{
	const struct format *format = formats;
	const json_t *results = NULL, *result;
	size_t n;
	int r;

	while (format < formats + ELEMENTS(formats) &&
		!json_is_array(results = json_object_get(document, format->member)))
		format++;
	if (format == formats + ELEMENTS(formats))
		return error_say(err, -EINVAL,
			"'%s' is not JSON of emp-measure, hyperfine or pyperf: it has no 'results' and no 'benchmarks'",
			path);
	n = json_array_size(results);
	if (number == 0 && n > 1) {
		enum { MOST = 6 };
		_cleanup_(freep) char *list = NULL;

		for (size_t i = 0; i < n && i < MOST; i++)
			text_append(&list, ", ", "%s:%zu (%s)", path, i + 1,
				result_name(format, json_array_get(results, i)));
		return error_say(err, -EINVAL, "'%s': it has %zu results; name one: %s%s", path, n, list,
			n > MOST ? ", …" : "");
	}
	number = number ?: 1;
	result = json_array_get(results, (size_t)number - 1);
	if (!result)
		return error_say(err, -EINVAL, "'%s': it has %s, but no number %" PRId64, path,
			text_count(n, "result"), number);
	ret->sides[COMPARISON_ET].clock = COMPARISON_ET;
	r = format->read(result, path, ret, err);
	if (r < 0)
		return error_prefix(err, r, "'%s'", path);
	ret->name = xstrdup(result_name(format, result));
	if (ret->sides[COMPARISON_PT].duet)
		ret->duet_doubt = text_copy(
			json_string_value(json_object_get(json_object_get(document, "duet"), "doubt")));
	return 0;
}
