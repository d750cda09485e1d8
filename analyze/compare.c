/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze compare: two runs, from the book or from what hyperfine, pyperf or emp-measure wrote. Process
 * times where both have them, else the elapsed times that all of them have. */
#include "analyze/analyze.h"

#include "lib/base/json_fields.h"
#include "lib/base/text.h"
#include "lib/protocol/comparison.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char *profile_name;
static double fail_if_slower = -1;

const struct option_row compare_options[] = {
	{.name = "profile",
		.value = "NAME",
		.summary = "discard from runs of the book by this profile",
		.into = &profile_name},
	{.name = "fail-if-slower",
		.value = "PERCENT",
		.summary = "exit status 2 if B is slower than A by more than this",
		.parse = option_percent,
		.into = &fail_if_slower},
	{},
};

/* One side. times[COMPARISON_PT] is NULL where only elapsed times are known. */
struct side {
	char *name;
	int64_t *times[2];
	size_t n[2];
};

static void side_clear(struct side *side)
{
	free(side->name);
	free(side->times[0]);
	free(side->times[1]);
}

static int read_stored(const char *text, struct side *side, struct error *err)
{
	_cleanup_(discarding_clearp) struct discarding d = {};
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) struct sample *samples = NULL;
	int64_t id;
	size_t n;
	int r;

	r = analyze_parse_run(text, "the run", &id, err);
	if (r == 0)
		r = analyze_open_book(BOOK_READ, &book, err);
	if (r == 0)
		r = analyze_discard(book, id, profile_name, &d, err);
	if (r == 0)
		r = book_samples(book, id, &samples, &n, err);
	if (r < 0)
		return r;
	side->name = text_format("run %s (%s)", text, d.run.program);
	for (int clock = COMPARISON_PT; r == 0 && clock <= COMPARISON_ET; clock++)
		r = comparison_times(
			&d, samples, n, (enum comparison_clock)clock, &side->times[clock], &side->n[clock]);
	return r < 0 || !side->name ? error_os(err, -ENOMEM, "cannot compare") : 0;
}

/* Numbers times `scale` (1e9 for seconds), appended. */
static int append(const json_t *numbers, double scale, int64_t **times, size_t *n, struct error *err)
{
	int64_t *bigger = reallocarray(*times, *n + json_array_size(numbers) + 1, sizeof(*bigger));
	json_t *number;
	size_t i;

	if (!bigger)
		return error_os(err, -ENOMEM, "cannot compare");
	*times = bigger;
	json_array_foreach (numbers, i, number) {
		if (!json_is_number(number) || json_number_value(number) < 0 ||
			json_number_value(number) * scale > 9e18)
			return error_say(err, -EINVAL, "number %zu of its times is not a time", i + 1);
		(*times)[(*n)++] = llround(json_number_value(number) * scale);
	}
	return 0;
}

/* Marks the samples that emp-measure discarded, of n: those whose numbers are in its lists, or that hold an
 * execution over its cutoff. */
static void mark_discarded(const json_t *emp, bool *discarded, size_t n)
{
	static const char *const lists[] = {"by_two_sd", "incomplete", "by_cutoff"};

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
}

/* The process times that emp-measure wrote, without those of discarded samples. */
static int read_process_times(const json_t *emp, struct side *side, struct error *err)
{
	_cleanup_(freep) bool *discarded = NULL;
	int64_t *times;
	size_t n = 0, kept = 0;
	int r = append(json_object_get(emp, "pt_ns"), 1, &side->times[COMPARISON_PT], &n, err);

	if (r < 0)
		return r;
	times = side->times[COMPARISON_PT];
	discarded = calloc(n + 1, sizeof(*discarded));
	if (!discarded)
		return error_os(err, -ENOMEM, "cannot compare");
	mark_discarded(emp, discarded, n);
	for (size_t i = 0; i < n; i++)
		if (!discarded[i])
			times[kept++] = times[i];
	side->n[COMPARISON_PT] = kept;
	return 0;
}

/* hyperfine's results[]: seconds in times; process times where emp-measure wrote it. */
static int read_hyperfine(const json_t *results, size_t which, struct side *side, struct error *err)
{
	const json_t *result = json_array_get(results, which), *emp = json_object_get(result, "emp");
	struct json_fields fields;
	const char *command;
	json_t *times;
	int r;

	if (!result)
		return error_say(err, -EINVAL, "it has %zu results, and no number %zu",
			json_array_size(results), which + 1);
	fields = json_fields_begin(result, (struct json_location){"the result"}, err);
	json_fields_text_or_empty(&fields, "command", &command);
	json_fields_array(&fields, "times", &times);
	r = fields.r;
	if (r == 0)
		r = append(times, 1e9, &side->times[COMPARISON_ET], &side->n[COMPARISON_ET], err);
	if (r == 0 && emp)
		r = read_process_times(emp, side, err);
	if (r < 0)
		return r;
	side->name = strdup(command);
	return side->name ? 0 : error_os(err, -ENOMEM, "cannot compare");
}

/* pyperf's benchmarks[]: seconds in the values of each run; runs that only calibrate have none. */
static int read_pyperf(const json_t *document, size_t which, struct side *side, struct error *err)
{
	const json_t *benchmark = json_array_get(json_object_get(document, "benchmarks"), which), *name;
	struct json_fields fields;
	json_t *runs, *one;
	size_t i;
	int r;

	if (!benchmark)
		return error_say(err, -EINVAL, "it has no benchmark number %zu", which + 1);
	fields = json_fields_begin(benchmark, (struct json_location){"the benchmark"}, err);
	json_fields_array(&fields, "runs", &runs);
	if (fields.r < 0)
		return fields.r;
	json_array_foreach (runs, i, one) {
		r = append(json_object_get(one, "values"), 1e9, &side->times[COMPARISON_ET],
			&side->n[COMPARISON_ET], err);
		if (r < 0)
			return r;
	}
	name = json_object_get(json_object_get(benchmark, "metadata"), "name")
		       ?: json_object_get(json_object_get(document, "metadata"), "name");
	side->name = strdup(json_string_value(name) ?: "benchmark");
	return side->name ? 0 : error_os(err, -ENOMEM, "cannot compare");
}

/* "FILE" or "FILE:N", the N-th result in it. */
static int read_file(const char *text, struct side *side, struct error *err)
{
	const char *colon = strrchr(text, ':');
	_cleanup_(freep) char *path = strdup(text);
	_cleanup_(json_decrefp) json_t *document = NULL;
	int64_t which = 1;
	int r;

	if (!path)
		return error_os(err, -ENOMEM, "cannot compare");
	if (colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")]) {
		path[colon - text] = '\0';
		r = text_parse_int(colon + 1, "the number behind the colon", 1, INT32_MAX, &which, err);
		if (r < 0)
			return r;
	}
	r = json_read(&document, path, err);
	if (r < 0)
		return r;
	if (json_is_array(json_object_get(document, "results")))
		r = read_hyperfine(json_object_get(document, "results"), (size_t)which - 1, side, err);
	else if (json_is_array(json_object_get(document, "benchmarks")))
		r = read_pyperf(document, (size_t)which - 1, side, err);
	else
		return error_say(err, -EINVAL,
			"'%s' is neither hyperfine's nor pyperf's JSON: it has no 'results' and no 'benchmarks'",
			path);
	return r < 0 ? error_prefix(err, r, "'%s'", path) : 0;
}

/* All digits: a run of the book; else a file. */
static int read_side(const char *text, struct side *side, struct error *err)
{
	return text[strspn(text, "0123456789")] ? read_file(text, side, err) : read_stored(text, side, err);
}

static int print(const struct side *a, const struct side *b, enum comparison_clock clock,
	const struct comparison *c, struct error *err)
{
	_cleanup_(table_freep) struct table *table = NULL;
	char mean_a[TEXT_TIME_SIZE], mean_b[TEXT_TIME_SIZE];
	int r;

	printf("%s: '%s' %s in %zu sample%s, '%s' %s in %zu\n",
		clock == COMPARISON_PT ? "Process times" : "Elapsed times", a->name,
		text_duration(mean_a, llround(c->a.mean_ns)), c->a.n, c->a.n == 1 ? "" : "s", b->name,
		text_duration(mean_b, llround(c->b.mean_ns)), c->b.n);
	if (clock == COMPARISON_ET && (a->n[COMPARISON_PT] > 0 || b->n[COMPARISON_PT] > 0))
		printf("Only one of them has process times, so elapsed times are compared.\n");
	r = comparison_table_new(&table, err);
	if (r < 0)
		return r;
	comparison_row(table, b->name, c);
	return comparison_table_print(table, err);
}

int verb_compare(int argc, char **argv, struct error *err)
{
	_cleanup_(side_clear) struct side a = {};
	_cleanup_(side_clear) struct side b = {};
	_cleanup_(json_decrefp) json_t *document = NULL;
	enum comparison_clock clock;
	struct comparison c;
	int r;

	r = read_side(argv[0], &a, err);
	if (r == 0)
		r = read_side(argv[1], &b, err);
	if (r < 0)
		return r;
	clock = a.n[COMPARISON_PT] > 0 && b.n[COMPARISON_PT] > 0 ? COMPARISON_PT : COMPARISON_ET;
	r = compare(a.times[clock], a.n[clock], b.times[clock], b.n[clock], &c, err);
	if (r < 0)
		return r;
	if (analyze_options.json) {
		document = comparison_as_json(a.name, b.name, &c);
		json_object_set_new(document, "clock", json_string(clock == COMPARISON_PT ? "pt" : "et"));
		r = json_print(document, stdout, err);
	} else
		r = print(&a, &b, clock, &c, err);
	if (r < 0)
		return r;
	return comparison_judge(&c, &(struct comparison_limit){fail_if_slower, a.name, b.name}, err)
		       ? STATUS_NOT_FIT
		       : 0;
}
