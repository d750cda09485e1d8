/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of two documents: see compare_suite.h. */
#include "analyze/compare_suite.h"

#include "analyze/compare_query.h"
#include "analyze/options.h"
#include "lib/base/table.h"
#include "lib/report/comparison_report.h"
#include "lib/report/results.h"

/* The results of two files, in pairs of the same name. */
struct compare_suite {
	const struct compare_file *files;
	struct compare_query *pairs;
	size_t n;
	size_t worst;                         /* the pair with the verdict that weighs most */
	size_t counts[N_COMPARISON_VERDICTS]; /* of the pairs */
	double geometric_mean;                /* of the ratios; NAN: there is none */
};

static void compare_suite_clear(struct compare_suite *suite)
{
	for (size_t i = 0; i < suite->n; i++)
		compare_query_clear(&suite->pairs[i]);
	free(suite->pairs);
}

static int compare_pairs(struct compare_suite *suite, struct error *err)
{
	const struct compare_document *a = &suite->files[0].document,
				      *b = &suite->files[1].document;
	double sum = 0;
	size_t n_ratios = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->n; i++) {
		const struct compare_result *of_a = &a->results[i];
		struct compare_query *q;

		if (!of_a->match || of_a->unit || b->results[of_a->match - 1].unit)
			continue;
		q = array_add(suite->pairs, suite->n);
		r = compare_document_read(&q->sides[0], a, (int64_t)i + 1, err);
		if (r == 0)
			r = compare_document_read(&q->sides[1], b, (int64_t)of_a->match, err);
		if (r == 0)
			r = compare_query_clocks(q, err);
		if (r == 0)
			r = compare_query_changes(q, err);
		if (r < 0)
			return error_prefix(err, r, "'%s'", of_a->name);
	}
	if (suite->n == 0)
		return error_say(err, -EINVAL, "'%s' and '%s': no result of both is a time",
			a->path, b->path);
	compare_queries_finish(suite->pairs, suite->n);
	for (size_t i = 0; i < suite->n; i++) {
		const struct compare_query *q = &suite->pairs[i];
		const struct comparison *of_pair = compare_query_worst(q);
		double ratio = q->comparisons[q->main].ratio;

		suite->counts[comparison_verdict(of_pair)]++;
		if (comparison_worse(compare_query_worst(&suite->pairs[suite->worst]), of_pair) ==
			of_pair)
			suite->worst = i;
		if (!(ratio > 0 && isfinite(ratio)))
			continue;
		sum += log(ratio);
		n_ratios++;
	}
	suite->geometric_mean = n_ratios > 0 ? exp(sum / (double)n_ratios) : NAN;
	return 0;
}

/* The results of file i without a partner, or those with one that are no times. The caller frees
 * the list; NULL: there are none. */
static char *results_left_out(const struct compare_suite *suite, size_t i, bool no_times)
{
	const struct compare_document *d = &suite->files[i].document;
	char *list = NULL;

	for (const struct compare_result *result = d->results; result < d->results + d->n; result++)
		if (no_times && result->match && result->unit)
			text_append(&list, ", ", "'%s' (%s)", result->name, result->unit);
		else if (!no_times && !result->match)
			text_append(&list, ", ", "'%s'", result->name);
	return list;
}

static void print_left_out(const char *words, const char *path, char *list)
{
	_cleanup_(freep) char *line = list ? text_format("%s '%s': %s", words, path, list) : NULL;

	free(list);
	if (line)
		terminal_wrap(stdout, line, 0, 2);
}

static void suite_print(const struct compare_suite *suite)
{
	_cleanup_(table_freep) struct table *list = table_new(comparison_columns);
	const struct compare_query *worst = &suite->pairs[suite->worst];
	const char *between = "";
	bool both = false;

	for (const struct compare_query *q = suite->pairs; q < suite->pairs + suite->n; q++)
		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
			if (q->clocks >> clock & 1) {
				comparison_list_add(list, q->sides[0].name, q->sides[1].name,
					&q->comparisons[clock]);
				both |= q->clocks == COMPARE_BOTH;
			}

	for (size_t i = 0; i < 2; i++) {
		print_left_out("Only in", suite->files[i].path, results_left_out(suite, i, false));
		print_left_out("Not compared, because these are no times, in", suite->files[i].path,
			results_left_out(suite, i, true));
	}
	compare_print_design(&worst->comparisons[worst->main]);
	comparison_list_print(list, suite->n > 1 || both, stdout);

	printf("%s: ", text_count((int64_t)suite->n, "pair"));
	for (size_t verdict = 0; verdict < N_COMPARISON_VERDICTS; verdict++)
		if (suite->counts[verdict] > 0) {
			printf("%s%zu %s", between, suite->counts[verdict],
				comparison_verdict_words[verdict] ?: "not compared");
			between = ", ";
		}

	if (!isnan(suite->geometric_mean))
		printf("; geometric mean of the ratios %.4g", suite->geometric_mean);
	printf("\n");
	comparison_verdict_print(stdout,
		&(struct verdict_line){worst->sides[0].name, worst->sides[1].name, true,
			worst->clocks == COMPARE_BOTH},
		compare_query_worst(worst));
}

static json_t *suite_as_json(const struct compare_suite *suite)
{
	const struct compare_query *worst = &suite->pairs[suite->worst];
	json_t *pairs = json_array(), *files = json_array(), *counts = json_object();

	for (size_t i = 0; i < suite->n; i++)
		json_array_append_new(pairs, compare_query_as_json(&suite->pairs[i]));
	for (size_t verdict = 0; verdict < N_COMPARISON_VERDICTS; verdict++)
		if (comparison_verdict_words[verdict])
			json_object_set_new(counts, comparison_verdict_words[verdict],
				json_integer((json_int_t)suite->counts[verdict]));
	for (size_t i = 0; i < 2; i++) {
		const struct compare_document *d = &suite->files[i].document;
		json_t *only = json_array(), *no_times = json_array();

		for (const struct compare_result *result = d->results; result < d->results + d->n;
			result++)
			if (!result->match || result->unit)
				json_array_append_new(
					result->match ? no_times : only, json_string(result->name));
		json_array_append_new(
			files, json_pack("{s:s, s:I, s:o, s:o}", "file", d->path, "results",
				       (json_int_t)d->n, "only_here", only, "no_times", no_times));
	}
	return JSON_OBJECT({"comparisons", pairs}, {"files", files}, {"verdicts", counts},
		{"geometric_mean", json_real_or_null(suite->geometric_mean)},
		{"verdict", json_text(comparison_verdict_text(compare_query_worst(worst)))},
		{"worst", json_text(worst->sides[1].name)});
}

/* The ratios of all pairs. Nothing without -o. */
static int draw_suite(const struct compare_suite *suite, struct error *err)
{
	_cleanup_(freep) struct pictured_program *programs = xcalloc(suite->n, sizeof(*programs));
	_cleanup_(freep) char *title = text_format(
		"%s against %s", suite->files[1].path, suite->files[0].path);
	struct comparison_picture picture = {.title = title, .programs = programs, .n = suite->n};

	for (size_t i = 0; i < suite->n; i++) {
		programs[i] = compare_query_pictured(&suite->pairs[i].sides[1], &suite->pairs[i]);
		picture.clocks |= suite->pairs[i].clocks;
	}
	return compare_asked.picture ? comparison_picture_draw(&picture, compare_asked.picture,
					       compare_asked.keep_script, err)
				     : 0;
}

int compare_suites(const struct compare_file files[2], struct error *err)
{
	_cleanup_(compare_suite_clear) struct compare_suite suite = {.files = files};
	const struct compare_query *worst;
	int r = compare_pairs(&suite, err);

	if (r == 0 && analyze_options.json)
		r = json_print_document("emp-comparisons", suite_as_json(&suite), err);
	else if (r == 0)
		suite_print(&suite);
	if (r == 0)
		r = draw_suite(&suite, err);
	if (r < 0)
		return r;
	worst = &suite.pairs[suite.worst];
	return (int)comparison_judge(
		compare_query_worst(worst), worst->sides[0].name, worst->sides[1].name, err);
}
