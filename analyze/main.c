/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze: analyses the runs in the lab book. What its verbs have in common. */
#include "analyze/analyze.h"

#include "lib/base/charset.h"

struct analyze_options analyze_options;

static const struct option_row common_options[] = {
	{0, "db", "FILE", "the lab book (default: EMP_DB, otherwise the user's own)", NULL,
		&analyze_options.db},
	{0, "json", NULL, "print the result as JSON", NULL, &analyze_options.json, .dash = true},
	{},
};

const struct option_row profile_options[] = {
	{0, "profile", "NAME", "the profile of cutoffs (default: that of the run)", NULL,
		&analyze_options.profile},
	OTHER_CPUS_OPTION,
	LAST_RUN_OPTION,
	{},
};

static const struct verb verbs[] = {
	{"list", NULL, "list the runs in the book", 0, 0, list_options, verb_list},
	{"show", "RUN", "show one run: how it was made, its times, its verdict", 1, 1, show_options,
		verb_show},
	{"import", "FILE...", "add runs to the book from emp-run documents (-: standard input)", 1,
		-1, NULL, verb_import, .reads_stdin = true},
	{"export", "RUN", "write a run as an emp-run document", 1, 1, export_options, verb_export},
	{"remove", "RUN...", "delete runs from the book", 1, -1, remove_options, verb_remove,
		.without = "json"},
	{"cutoffs", NULL, "make a profile of cutoffs from a short and a long run", 0, 0,
		cutoffs_options, verb_cutoffs},
	{"discard", "RUN", "apply a profile to a run: discarded samples, causes, statistics", 1, 1,
		profile_options, verb_discard},
	{"daemons", "RUN", "list the daemons in the central cluster and in the L-samples", 1, 1,
		daemons_options, verb_daemons},
	{"sample-size", "RUN", "suggest how many samples are enough", 1, 1, sample_size_options,
		verb_sample_size},
	{"protocols", "RUN...", "show the statistics after each step of the protocol", 1, -1,
		profile_options, verb_protocols},
	{"compare", "A B", "compare two runs, or results of hyperfine, pyperf or emp-measure", 2, 2,
		compare_options, verb_compare},
	{"trend", "NAME", "follow a program over its runs, and say where its time changed", 1, 1,
		trend_options, verb_trend},
	{"load", "RUN [RUN]", "show what emp-load measured, or compare two loads", 1, 2,
		load_options, verb_load},
	{"jitter", "RUN [AFTER]", "list what interrupted a CPU, by name, or what changed", 1, 2,
		jitter_options, verb_jitter},
	{"scatter", "RUN -o FILE", "draw the scatter plot of dual executions", 1, 1,
		scatter_options, verb_scatter, .without = "json"},
	{"clocks", "[CALIBRATION]", "show what reading each clock costs, and how precise it is", 0,
		1, clocks_options, verb_clocks},
	{},
};

static const struct tool tool = {
	.name = "emp-analyze",
	.summary = "Reports what the runs in the lab book show.",
	.notes = "Examples:\n"
		 "  emp-analyze list\n"
		 "  emp-analyze cutoffs --short 1 --long 2 --save lab1\n"
		 "  emp-analyze discard 3 --profile lab1\n"
		 "  emp-analyze scatter 1 -o short.png\n",
	.options = common_options,
	.verbs = verbs,
};

int option_run(const char *value, const char *name, void *into, struct error *err)
{
	if (text_parse_int(value, name, 1, INT64_MAX, into, err) == 0)
		return 0;
	return error_say(err, -EINVAL,
		"%s must be the number of a run, not '%s'; 'emp-analyze list' shows the numbers",
		name, value);
}

int analyze_find_run(struct book *book, const char *operand, int64_t *ret, struct error *err)
{
	_cleanup_(freep) char *name = charset_decode(operand);
	bool last = !strcmp(operand, "--last");
	int r;

	if (!operand[strspn(operand, "0123456789")]) {
		r = option_run(operand, "RUN", ret, err);
		return r < 0 ? r : 1;
	}
	r = last ? 0 : book_find_run(book, name, ret, err);
	if (r == 0 && (last || !strcmp(operand, "last"))) {
		r = book_find_run(book, NULL, ret, err);
		r = r > 0 ? 1 : r;
		if (r == 0)
			return error_say(
				err, -ENOENT, "the lab book '%s' has no runs", book_file(book));
	}
	if (r != 0)
		return r;
	return error_say(err, -EINVAL,
		"RUN must be the number or the name of a run, and '%s' is neither; "
		"'emp-analyze list' shows both",
		operand);
}

int analyze_open(const char *run, struct book **ret_book, int64_t *ret_run, struct error *err)
{
	int r = book_open(ret_book, analyze_options.db, BOOK_READ, err);

	if (r == 0)
		r = analyze_find_run(*ret_book, run, ret_run, err);
	return r < 0 ? r : 0;
}

int analyze_check_by(struct error *err)
{
	const struct option_rule rules[] = {
		{analyze_options.by_et && analyze_options.analysis.by_wait,
			"--by-wait and --by-et exclude each other"}};

	return option_check_rules(rules, ELEMENTS(rules), err);
}

int analyze_load(const char *run, struct book **ret_book, struct analysis *ret, struct error *err)
{
	int64_t id;
	int r = analyze_open(run, ret_book, &id, err);

	if (r == 0)
		r = analyze_check_by(err);
	analyze_options.analysis.by_wait_if_exact = !analyze_options.by_et;
	return r < 0 ? r : analysis_load(*ret_book, id, &analyze_options.analysis, ret, err);
}

int analyze_discard(struct book *book, int64_t run, struct run_result *ret, struct error *err)
{
	_cleanup_(profile_clear) struct profile cutoffs = {};
	_cleanup_(run_clear) struct run of = {};
	const char *profile = analyze_options.profile;
	const struct discard_rules rules = {.profile = profile ? &cutoffs : NULL,
		.other_cpus = analyze_options.analysis.other_cpus};
	int r = profile ? book_get_profile(book, 0, profile, &cutoffs, err) : 0;

	if (r == 0 && profile)
		r = book_get_run(book, run, &of, err);
	if (r == 0)
		profile_for_inc(&cutoffs, of.inc_digest);
	return r < 0 ? r : run_result_read(book, run, &rules, 0, ret, err);
}

void print_numbers(const char *label, const uint32_t *numbers, size_t n)
{
	enum { MOST = 40 };
	_cleanup_(freep) char *text = NULL;

	for (size_t i = 0; i < n && i < MOST; i++)
		text_append(&text, " ", "%" PRIu32, numbers[i]);
	if (n > MOST)
		text_append(&text, " ", "and %zu more", n - MOST);
	if (text)
		terminal_wrap(stdout, text, (size_t)printf("%s:", label), 2);
}

void print_analysis(const struct analysis *a)
{
	const struct column columns[] = {{"ZOOM", COLUMN_NUMBER}, {"SAMPLES", COLUMN_NUMBER},
		{a->by_wait ? "W FROM" : "FROM", COLUMN_NUMBER}, {"TO", COLUMN_NUMBER},
		{"NEXT", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *zooms = table_new(columns);
	const struct cluster *c = &a->central;
	int at = printf("Run %" PRId64 " (%s, %s):", a->run.id, terminal_text(a->run.program),
		text_count(a->n_samples, "sample"));

	terminal_wrap(stdout, a->why, (size_t)at, 2);
	if (a->by_wait) {
		terminal_say(stdout, 2,
			"Long samples were found by waiting time W, not by ET (--by-et).");
		terminal_say(
			stdout, 2, "The median ET - W is %s.", text_duration(a->median_rest_ns));
	}
	if (a->n_by_et > 0)
		terminal_say(stdout, 2,
			"W of %s is unknown: ET minus the longest ET - W of the others is used",
			text_count(a->n_by_et, "sample"));
	for (size_t i = 0; i < c->n_zooms; i++) {
		const struct zoom *z = &c->zooms[i];
		const int64_t bounds[] = {z->low_ns, z->high_ns};

		table_begin_row(zooms);
		table_add(zooms, NUMBER(i + 1), NUMBER(z->left));
		/* W, or ET with the significant digits */
		for (size_t k = 0; k < ELEMENTS(bounds); k++)
			table_add(zooms,
				TEXT(a->by_wait ? text_duration(bounds[k] - a->median_rest_ns)
						: text_precise((double)bounds[k],
							  (double)(z->high_ns - z->low_ns) / 10)));
		table_add(zooms, TEXT(text_brief("%s%s", z->end == ZOOM_LAST ? "" : "without ",
					 zoom_why(z))));
	}
	table_print(zooms, stdout);
	if (c->n_above > 0)
		printf("Long pairs: %zu in the arms, %zu in the upper right\n", c->n_arms,
			c->n_corners);
	print_numbers("L-samples", a->l_samples, a->n_l_samples);
	print_numbers("Long samples that no daemons explain", a->unexplained, a->n_unexplained);
}

int main(int argc, char **argv)
{
	return tool_main(&tool, argc, argv);
}
