/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure's options, each by its row, and what they come to together. */
#include "tests/unit/check.h"
#include "tests/unit/parameters.h"

#include "measure/options.h"

#include "lib/base/argv.h"
#include "lib/duet/duet_report.h"
#include "lib/duet/inc_units.h"

static const struct option_row *row(const char *name)
{
	for (const struct option_row *r = measure_option_rows; r->name; r++)
		if (!strcmp(r->name, name))
			return r;
	fail_msg("there is no --%s", name);
	return NULL;
}

static int parse(const char *name, const char *value, void *into, struct error *err)
{
	char dashed[64];

	snprintf(dashed, sizeof(dashed), "--%s", name);
	if (row(name)->choices)
		return option_choice(value, dashed, row(name)->choices, into, err);
	return row(name)->parse(value, dashed, into, err);
}

static struct measure_options untouched(void)
{
	return (struct measure_options){.cpu = -1, .warm_ups = -1, .alone = -1};
}

TEST(each_option_has_a_name_and_a_letter_of_its_own)
{
	for (const struct option_row *a = measure_option_rows; a->name; a++)
		for (const struct option_row *b = a + 1; b->name; b++) {
			assert_string_not_equal(a->name, b->name);
			assert_true(!a->letter || a->letter != b->letter);
		}
}

TEST(every_option_of_hyperfine_is_known)
{
	static const struct {
		char letter;
		const char *name;
	} options[] = {
		{'w', "warmup"},
		{'m', "min-runs"},
		{'M', "max-runs"},
		{'r', "runs"},
		{'s', "setup"},
		{0, "reference"},
		{0, "reference-name"},
		{'p', "prepare"},
		{'C', "conclude"},
		{'c', "cleanup"},
		{'P', "parameter-scan"},
		{'D', "parameter-step-size"},
		{'L', "parameter-list"},
		{'S', "shell"},
		{'N', "no-shell"},
		{'i', "ignore-failure"},
		{0, "style"},
		{0, "sort"},
		{'u', "time-unit"},
		{0, "export-asciidoc"},
		{0, "export-csv"},
		{0, "export-json"},
		{0, "export-markdown"},
		{0, "export-orgmode"},
		{0, "show-output"},
		{0, "output"},
		{0, "input"},
		{'n', "command-name"},
	};

	for (size_t i = 0; i < ELEMENTS(options); i++)
		assert_int_equal(row(options[i].name)->letter, options[i].letter);
}

TEST(counts_have_the_documented_defaults)
{
	static const struct {
		struct measure_options o;
		int warm_ups, runs, max_runs, neighbour_runs;
	} cases[] = {
		{{.warm_ups = -1}, 1, 10, 50, 20},
		{{.warm_ups = -1, .fast = true}, 1, 5, 25, 10},
		{{.warm_ups = -1, .rigorous = true}, 3, 40, 200, 80},
		{{.warm_ups = 0, .runs = 2, .rigorous = true}, 0, 2, 10, 4},
		{{.warm_ups = -1, .retain = 20}, 1, 20, 100, 40},
		{{.warm_ups = -1, .retain = 20, .runs = 30}, 1, 30, 150, 60},
		{{.warm_ups = -1, .min_runs = 12}, 1, 12, 60, 24},
		{{.warm_ups = -1, .max_runs = 4}, 1, 4, 4, 4},
		{{.warm_ups = -1, .runs = INT32_MAX}, 1, INT32_MAX, INT32_MAX, INT32_MAX},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		struct measure_options o = cases[i].o;
		struct error err = {};

		o.cpu = o.alone = -1;
		assert_int_equal(measure_options_finish(&o, &err), 0);
		assert_int_equal(o.warm_ups, cases[i].warm_ups);
		assert_int_equal(o.runs, cases[i].runs);
		assert_int_equal(o.max_runs, cases[i].max_runs);
		assert_int_equal(o.neighbour_runs, cases[i].neighbour_runs);
	}
}

TEST(what_is_done_about_a_neighbour_may_have_a_limit)
{
	static const struct {
		const char *value, *sentence; /* NULL: it is valid */
		enum neighbour_rule rule;
		double percent;
	} cases[] = {
		{"auto", NULL, NEIGHBOUR_AUTO, 7},
		{"discard", NULL, NEIGHBOUR_DISCARD, 7},
		{"discard=12.5%", NULL, NEIGHBOUR_DISCARD, 12.5},
		{"auto=1", NULL, NEIGHBOUR_AUTO, 1},
		{"adjust", NULL, NEIGHBOUR_ADJUST, 7},
		{"off", NULL, NEIGHBOUR_OFF, 7},
		{"on", "--neighbour must be off, discard, adjust or auto, not 'on'"},
		{"discard=0", "--neighbour discard must be above 0 and at most 100 %, not '0'"},
		{"discard=101%",
			"--neighbour discard must be above 0 and at most 100 %, not '101%'"},
		{"discard=", "--neighbour discard must be a percentage such as 2 or 0.5, not ''"},
		{"adjust=5%", "--neighbour: only auto and discard have a limit, as in discard=5%, "
			      "not 'adjust'"},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		struct measure_options o = {.neighbour_percent = 7};
		struct error err = {};
		int r = parse("neighbour", cases[i].value, &o, &err);

		if (cases[i].sentence) {
			assert_int_equal(r, -EINVAL);
			assert_string_equal(err.text, cases[i].sentence);
			continue;
		}
		assert_int_equal(r, 0);
		assert_true(o.neighbour_given);
		assert_int_equal(o.neighbour, cases[i].rule);
		assert_true(o.neighbour_percent == cases[i].percent);
	}
}

TEST(a_neighbour_is_looked_for_where_programs_are_pinned)
{
	static const struct {
		struct measure_options o;
		const char *sentence; /* NULL: it is valid */
		enum neighbour_rule rule;
	} cases[] = {
		{{.cpu = 0}, NULL, NEIGHBOUR_AUTO},
		{{.cpu = -1}, NULL, NEIGHBOUR_OFF},
		{{.cpu = -1, .order = ORDER_DUET}, NULL, NEIGHBOUR_AUTO},
		{{.cpu = -1, .order = ORDER_DUET, .neighbour_given = true}, NULL, NEIGHBOUR_AUTO},
		{{.cpu = -1, .order = ORDER_DUET, .probe_given = true}, NULL, NEIGHBOUR_AUTO},
		{{.cpu = -1, .probe_given = true},
			"--probe looks for a neighbour of one CPU; name the one that the program "
			"is to run on with --cpu N"},
		{{.cpu = 0, .probe_share = -1}, NULL, NEIGHBOUR_OFF},
		{{.cpu = -1, .neighbour_given = true},
			"--neighbour is for programs on one CPU, whose core is known: add --cpu N"},
		{{.cpu = 0, .neighbour_given = true, .probe_share = -1},
			"without probes no neighbour is seen: omit --probe off, or --neighbour"},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		struct measure_options o = cases[i].o;
		struct error err = {};
		int r;

		o.warm_ups = o.alone = -1;
		o.neighbour = NEIGHBOUR_AUTO;
		o.rules = COMPARISON_RULES;
		r = measure_options_finish(&o, &err);
		assert_int_equal(r, cases[i].sentence ? -EINVAL : 0);
		if (cases[i].sentence)
			assert_string_equal(err.text, cases[i].sentence);
		else
			assert_int_equal(o.neighbour, cases[i].rule);
	}
}

TEST(an_order_that_is_chosen_is_a_duet_or_has_a_reason)
{
	static const struct {
		struct measure_options o;
		size_t n;
		const char *why; /* NULL: a duet */
	} cases[] = {
		{{.cpu = 1, .warm_ups = 1}, 2, NULL},
		{{.cpu = -1, .warm_ups = 1}, 3, NULL},
		{{.cpu = -1, .warm_ups = 1}, 1, ""},
		{{.cpu = 1}, 2, "warm-up"},
		{{.cpu = 1, .warm_ups = 1, .perf = "cycles"}, 2, "--perf"},
		{{.cpu = 1, .warm_ups = 1, .prepare.n = 1}, 2, "--prepare"},
		{{.cpu = 1, .warm_ups = 1, .compare = COMPARE_BOTH}, 2, "ET"},
		{{.cpu = -1, .affine = true, .warm_ups = 1, .compare = COMPARE_BOTH}, 2, NULL},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		struct measure_options o = cases[i].o;
		bool duet = cases[i].why == NULL;

		o.order = ORDER_AUTO;
		o.alone = -1;
		measure_options_choose_order(&o, cases[i].n);
		assert_int_equal(o.order, duet ? ORDER_DUET : ORDER_INTERLEAVE);
		assert_true(duet ? !o.in_turn_why : strstr(o.in_turn_why, cases[i].why) != NULL);
		assert_int_equal(o.cpu_chosen, duet && cases[i].o.cpu < 0 && !o.affine);
	}
}

TEST(contradictions_are_named)
{
	static const struct {
		struct measure_options o;
		const char *sentence;
	} cases[] = {
		{{.cpu = -1, .no_shell = true, .shell = "sh"},
			"-N (no shell) and -S (a shell) exclude each other"},
		{{.cpu = 1, .affine = true}, "--cpu and --affinity exclude each other"},
		{{.cpu = 1, .order = ORDER_DUET, .compare = COMPARE_ET},
			"in a duet on one CPU the elapsed time is that of all programs"},
		{{.cpu = -1, .affine = true, .against_inc = true, .rules = COMPARISON_RULES},
			"the program and INC share one CPU"},
		{{.cpu = -1,
			 .order = ORDER_DUET,
			 .slicing = SLICING_SIGNALS,
			 .new_session = true},
			"--slices-by signals needs process groups"},
		{{.cpu = -1, .fast = true, .rigorous = true},
			"--fast and --rigorous exclude each other"},
		{{.cpu = -1, .min_runs = 5, .max_runs = 4},
			"--min-runs 5 is more than --max-runs 4"},
		{{.cpu = -1, .step = "2"},
			"--parameter-step-size (-D) needs --parameter-scan (-P)"},
		{{.cpu = -1, .reference_name = "base"}, "--reference-name needs --reference"},
		{{.cpu = -1, .shell = "sh '"}, "--shell 'sh '': a quote is not closed"},
		/* INC is compared with one program only, which runs on one CPU */
		{{.cpu = -1,
			 .against_inc = true,
			 .rules = COMPARISON_RULES,
			 .order = ORDER_SHUFFLE},
			"with --against inc, the program and INC alternate: no other --order"},
		{{.cpu = -1, .against_inc = true, .rules = COMPARISON_RULES, .aa = true}, ""},
		{{.cpu = -1, .against_inc = true, .rules.fail_if_slower = 2},
			"--fail-if-slower compare several"},
		{{.cpu = 1, .against_inc = true, .rules = COMPARISON_RULES, .trace = true}, ""},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		struct measure_options o = cases[i].o;
		struct error err = {};

		o.warm_ups = o.alone = -1;
		assert_int_equal(measure_options_finish(&o, &err), -EINVAL);
		assert_non_null(strstr(err.text, cases[i].sentence));
	}
}

TEST(shells_are_hyperfines)
{
	static const struct {
		const char *shell;
		const char *words[3];
	} cases[] = {{"default", {"/bin/sh"}}, {"none", {}}, {"bash --norc", {"bash", "--norc"}}};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		struct measure_options o = untouched();
		struct error err = {};

		o.shell = cases[i].shell;
		assert_int_equal(measure_options_finish(&o, &err), 0);
		for (size_t k = 0; cases[i].words[k]; k++)
			assert_string_equal(o.shell_words[k], cases[i].words[k]);
		assert_true(cases[i].words[0] || !o.shell_words);
		argv_freep(&o.shell_words);
	}
}

TEST(a_scan_becomes_a_parameter)
{
	static const char *items[] = {"n", "1", "3"};
	struct measure_options o = untouched();
	struct error err = {};

	o.scans = (struct option_list){items, 3};
	o.step = "2";
	assert_int_equal(measure_options_finish(&o, &err), 0);
	assert_int_equal(o.parameters.n, 1);
	assert_int_equal(o.parameters.items[0].n, 2);
	parameters_clear(&o.parameters);
}

TEST(failures_are_ignored_all_or_by_exit_code)
{
	bool all[256] = {}, named[256] = {}, bare[256] = {};
	struct error err = {};

	assert_int_equal(parse("ignore-failure", NULL, bare, &err), 0);
	assert_int_equal(parse("ignore-failure", "all-non-zero", all, &err), 0);
	assert_memory_equal(bare, all, sizeof(all));
	assert_true(!all[0] && all[1] && all[255]);
	assert_int_equal(parse("ignore-failure", "1,143", named, &err), 0);
	assert_true(named[1] && named[143] && !named[2] && !named[0]);
	assert_int_equal(parse("ignore-failure", "1,x", named, &err), -EINVAL);
	assert_int_equal(parse("ignore-failure", "256", named, &err), -EINVAL);
	assert_int_equal(parse("ignore-failure", "", named, &err), -EINVAL);
	assert_true(row("ignore-failure")->optional);
}

TEST(words_are_checked_and_all_of_them_listed)
{
	struct error err = {};
	enum order order;
	enum sort sort;
	const char *unit;

	assert_int_equal(parse("order", "shuffle", &order, &err), 0);
	assert_int_equal(order, ORDER_SHUFFLE);
	assert_int_equal(parse("sort", "mean-time", &sort, &err), 0);
	assert_int_equal(sort, SORT_MEAN_TIME);
	assert_int_equal(parse("time-unit", "microsecond", &unit, &err), 0);
	assert_string_equal(unit, "us");
	assert_int_equal(parse("sort", "size", &sort, &err), -EINVAL);
	assert_string_equal(err.text, "--sort must be auto, command or mean-time, not 'size'");
	assert_int_equal(parse("style", "loud", NULL, &err), -EINVAL);
	assert_string_equal(
		err.text, "--style must be auto, basic, full, nocolor, color or none, not 'loud'");
}

static struct measure_options against_inc(void)
{
	struct measure_options o = untouched();

	o.against_inc = true;
	o.rules = COMPARISON_RULES;
	return o;
}

TEST(against_inc_is_a_duet_that_is_repeated_after_a_warm_up)
{
	struct measure_options o = against_inc();
	struct error err = {};

	o.warm_ups = 0;
	assert_int_equal(measure_options_finish(&o, &err), 0);
	assert_int_equal(o.order, ORDER_DUET);
	assert_true(o.repeat && o.cpu >= 0);
	assert_int_equal(o.warm_ups, 1);
	o = against_inc();
	o.warm_ups = 2;
	o.order = ORDER_DUET;
	assert_int_equal(measure_options_finish(&o, &err), 0);
	assert_int_equal(o.warm_ups, 2);
}

TEST(inc_is_nearly_as_long_as_the_program_or_as_several_runs_of_it)
{
	for (int64_t pt_ns = 0; pt_ns < 100 * NS_PER_S; pt_ns += pt_ns / 7 + 1) {
		int64_t length_ns = inc_length_beside(pt_ns), parts = pt_ns / length_ns;

		assert_true(length_ns >= 200 * NS_PER_MS && length_ns <= 500 * NS_PER_MS);
		/* the part of INC without a complete run */
		if (pt_ns > 0 && pt_ns < 222 * NS_PER_MS)
			assert_true(20 * (length_ns % pt_ns) <= 2 * length_ns);
		else if (pt_ns > 0)
			assert_true(parts >= 1 && length_ns * parts > pt_ns / 10 * 8);
	}
}

TEST(the_old_name_of_ignore_lock_still_works)
{
	assert_ptr_equal(row("anyway")->into, row("ignore-lock")->into);
	assert_true(row("anyway")->hidden);
}

TEST(the_share_of_unprofiled_daemons_is_as_it_is_stored)
{
	static const struct {
		double given, used;
	} rows[] = {{0, 0}, {2, 2}, {0.12345678, 0.1235}, {1e-9, 0.0001}, {1e300, INT32_MAX / 1e4}};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		struct measure_options o = untouched();
		struct error err = {};

		o.unprofiled_percent = rows[i].given;
		assert_int_equal(measure_options_finish(&o, &err), 0);
		assert_true(o.unprofiled_percent == rows[i].used);
	}
}
