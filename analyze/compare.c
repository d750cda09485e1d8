/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze compare: whether B takes another time than A, for two runs of the book or two results
 * in files. */
#include "analyze/compare_query.h"
#include "analyze/compare_run.h"
#include "analyze/compare_suite.h"
#include "analyze/options.h"

#include "lib/report/comparison_report.h"
#include "lib/report/results.h"

static const struct option_row compare_options[] = {
	{0, "profile", "NAME", "discard from stored runs by this profile, not by their own", NULL,
		&analyze_options.profile},
	{0, "between-runs", "PERCENT", "sd of the means of separate runs, if the book has too few",
		option_percent, &compare_asked.between_percent},
	{0, "compare", "WHAT",
		"compare pt, et or both (default: pt; both if programs wait or have threads)",
		comparison_clocks_option, &compare_asked.clocks, .words = comparison_clock_words},
	RECOMPUTE_OPTION,
	{0, "fail-if-slower", "PERCENT", "exit status 2 if B is slower than A by more than this",
		option_percent, &compare_asked.rules.fail_if_slower},
	VERDICT_OPTIONS(compare_asked.rules),
	{'o', "output", "FILE", "also draw the samples and the ratio: .png, .svg or .pdf", NULL,
		&compare_asked.picture},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL,
		&compare_asked.keep_script},
	LAST_RUN_OPTION,
	{},
};

static int compare_one_with_one(char **operands, struct compare_file files[2], struct error *err)
{
	_cleanup_(compare_query_clear) struct compare_query q = {};
	const struct compare_input *a = &q.sides[0], *b = &q.sides[1];
	int r = 0;

	for (size_t i = 0; r == 0 && i < 2; i++) {
		bool stored = !files[i].path;

		if (stored && !q.book)
			r = book_open(&q.book, analyze_options.db, BOOK_READ, err);
		if (r == 0)
			r = stored ? compare_read_run(q.book, operands[i], &q.sides[i], err)
				   : compare_document_read(
					     &q.sides[i], &files[i].document, files[i].number, err);
	}
	if (!files[0].path != !files[1].path) /* a document names the process, also of a duet */
		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
			struct compare_input *stored = &q.sides[files[0].path != NULL];

			stored->sides[clock].origin.call = stored->discarding.run.owner;
		}
	if (r == 0)
		r = compare_query_clocks(&q, err);
	if (r == 0)
		compare_queries_finish(&q, 1);
	if (r == 0 && b->discarding.run.id) {
		size_t of_a = a->sides[q.main].n, of_b = b->sides[q.main].n;

		r = mdd_text(
			q.book, &b->discarding.run, NULL, of_a < of_b ? of_a : of_b, q.mdd, err);
	}
	if (r == 0)
		r = compare_query_changes(&q, err);
	if (r == 0 && analyze_options.json)
		r = json_print_document("emp-comparison", compare_query_as_json(&q), err);
	else if (r == 0)
		compare_query_print(&q);
	if (r == 0) /* the result is shown whether or not it can be drawn */
		r = compare_query_draw(&q, err);
	return r < 0 ? r : (int)comparison_judge(compare_query_worst(&q), a->name, b->name, err);
}

static int analyze_compare_verb(int argc, char **argv, struct error *err)
{
	struct compare_file files[2] = {};
	const int is_file[] = {compare_names_file(argv[0], err), compare_names_file(argv[1], err)};
	const bool of_files = is_file[0] > 0 && is_file[1] > 0;
	const struct option_rule rules[] = {
		{compare_asked.rules.fail_if_slower >= 0 && compare_asked.rules.equal_within >= 0,
			EQUAL_WITHIN_NO_GATE},
		{of_files && (analyze_options.profile || analyze_options.recompute),
			"--profile and --recompute are for stored runs, and both sides are "
			"documents"},
		{compare_asked.keep_script && !compare_asked.picture, NEEDS_PICTURE("--script")},
	};
	bool both = is_file[0] < 0 || is_file[1] < 0; /* a file and a run */
	int r = both ? -EINVAL : option_check_rules(rules, ELEMENTS(rules), err);

	for (size_t i = 0; r == 0 && i < 2; i++)
		if (is_file[i])
			r = compare_file_open(argv[i], &files[i], err);
	if (r == 0) {
		struct compare_document *a = &files[0].document, *b = &files[1].document;
		bool suites = of_files && !files[0].number && !files[1].number && a->n + b->n > 2;

		r = suites && compare_document_match(a, b) > 0
			    ? compare_suites(files, err)
			    : compare_one_with_one(argv, files, err);
	}
	compare_file_clear(&files[0]);
	compare_file_clear(&files[1]);
	return r;
}

const struct verb analyze_compare = {
	.name = "compare",
	.args = "A B",
	.summary = "compare two runs, or results of hyperfine, pyperf or emp-measure",
	.min_args = 2,
	.max_args = 2,
	.options = compare_options,
	.run = analyze_compare_verb,
};
