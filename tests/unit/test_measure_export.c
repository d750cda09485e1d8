/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as documents, letter for letter where people and other programs read them. */
#include "tests/unit/scratch.h"
#include "tests/unit/parameters.h"

#include "measure/export.h"

#include "lib/base/cleanup.h"
#include "lib/base/number.h"
#include "lib/base/json.h"
#include "lib/duet/book_duet.h"

#include <string.h>

/* Two commands with two samples each. */
static struct made_up {
	struct measure_options options;
	struct session session;
	struct task tasks[2];
	struct sampling samplings[2];
	struct comparison comparisons[2 * N_COMPARISON_CLOCKS];
	struct command commands[2];
	char *values[2];
	struct sample samples[2][2];
	bool out[2];
} m;

static const char *noise; /* of a profile; NULL: none */

static void fill_task(size_t i, const char *name, double mean_ns, double sd_ns)
{
	struct task *t = &m.tasks[i];
	const struct summary summary = {.n = 2,
		.mean_ns = mean_ns,
		.median_ns = mean_ns,
		.sd_ns = sd_ns,
		.min_ns = (int64_t)(mean_ns - sd_ns),
		.max_ns = (int64_t)(mean_ns + sd_ns)};

	for (size_t k = 0; k < 2; k++)
		m.samples[i][k] = (struct sample){.n = (uint32_t)k + 1,
			.wait_ns = -1,
			.neighbour_ppm = -1,
			.neighbour_error_ppm = -1,
			.probe_ns = -1,
			.start_ns = INT64_C(1700000000000000001),
			.et_ns = (int64_t)mean_ns,
			.pt_ns = (int64_t)mean_ns,
			.user_ns = (int64_t)mean_ns / 2,
			.max_rss_bytes = 4096,
			.exit_status = (int)k};
	m.commands[i].text = (char *)(i ? "quick" : "slow");
	t->command = &m.commands[i];
	t->run.wait_source = (char *)"schedstat";
	t->name = (char *)(uintptr_t)name;
	t->sampling = &m.samplings[i];
	t->result = (struct run_result){
		.samples = m.samples[i],
		.n_samples = 2,
		.discarding = {.run.id = (int64_t)i + 7,
			.et.raw = summary,
			.pt.kept = summary,
			.out = m.out,
			.mark = {noise ? 16400000 : 0, (char *)(uintptr_t)noise}},
	};
	m.options.profile = noise ? "lab" : NULL;
}

static int fill(void **state)
{
	m = (struct made_up){};
	fill_task(0, "slow | cat", 200.5e6, 1.5e6);
	fill_task(1, "quick, 'this'", 100.3e6, 2e6);
	m.session.options = &m.options;
	m.session.base.observer = (struct observer){
		.backend = "none", .pt_source = "wait4", .wait_source = "schedstat"};
	m.session.tasks = m.tasks;
	m.session.comparisons = m.comparisons;
	m.session.n = 2;
	return 0;
}

/* A test that failed may have left a noise. */
static int begin(void **state)
{
	noise = NULL;
	return fill(state);
}

#define TEST_OF_SESSION(name) TEST_WITH(name, begin, NULL)

static char *write_with(enum export format)
{
	struct error err = {};

	return PRINTED(file, assert_int_equal(export_write(&m.session, format, file, &err), 0));
}

static void assert_written(enum export format, const char *expected)
{
	_cleanup_(freep) char *text = write_with(format);

	assert_string_equal(text, expected);
}

#define HEAD_WITH(u, ratio)                                                        \
	"| Command | Mean [" u "] | Min [" u "] | Max [" u "] | Relative | PT [" u \
	"] | Discarded |" ratio
#define HEAD(u)                                             \
	HEAD_WITH(u, " PT ratio (95 % CI) | PT verdict |\n" \
		     "|:---|---:|---:|---:|---:|---:|---:|---:|:---|\n")
#define HEAD_WITHOUT_RATIO HEAD_WITH("ms", "\n|:---|---:|---:|---:|---:|---:|---:|\n")
#define KEY(which, relative, name)                                        \
	"Mean, Min and Max are elapsed times (ET) of all samples, " which \
	"; Relative is of " relative " to '" name "'. PT and the ratios to 'slow "

TEST_OF_SESSION(tables_are_hyperfines_with_the_comparison_of_the_screen)
{
	assert_written(EXPORT_MARKDOWN,
		HEAD("ms") "| `slow \\| cat` | 200.5 ± 1.5 | 199.0 | 202.0 | 2.00 ± 0.04 | 200.5 ± 1.5 | 0 | - | - |\n"
			   "| `quick, 'this'` | 100.3 ± 2.0 | 98.3 | 102.3 | 1.00 | 100.3 ± 2.0 | 0 | 0.500 | cannot tell |\n"
			   "\n`" KEY("as in hyperfine", "Mean",
				   "quick, 'this'") "| cat' are of the samples kept.`\n");
	assert_written(EXPORT_ASCIIDOC,
		"[cols=\"<,>,>,>,>,>,>,>,<\"]\n|===\n"
		"| Command \n| Mean [ms] \n| Min [ms] \n| Max [ms] \n| Relative \n| PT [ms] \n"
		"| Discarded \n| PT ratio (95 % CI) \n| PT verdict \n"
		"\n| `slow \\| cat` \n| 200.5 ± 1.5 \n| 199.0 \n| 202.0 \n| 2.00 ± 0.04 \n"
		"| 200.5 ± 1.5 \n| 0 \n| - \n| - \n"
		"\n| `quick, 'this'` \n| 100.3 ± 2.0 \n| 98.3 \n| 102.3 \n| 1.00 \n"
		"| 100.3 ± 2.0 \n| 0 \n| 0.500 \n| cannot tell \n"
		"|===\n\n`" KEY("as in hyperfine", "Mean",
			"quick, 'this'") "| cat' are of the samples kept.`\n");
	assert_written(EXPORT_ORGMODE,
		"| Command  |  Mean [ms] |  Min [ms] |  Max [ms] |  Relative |  PT [ms] |  Discarded |  PT ratio (95 % CI) |  PT verdict |\n"
		"|--+--+--+--+--+--+--+--+--|\n"
		"| slow \\vert{} cat  |  200.5 ± 1.5 |  199.0 |  202.0 |  2.00 ± 0.04 |  200.5 ± 1.5 |  0 |  - |  - |\n"
		"| =quick, 'this'=  |  100.3 ± 2.0 |  98.3 |  102.3 |  1.00 |  100.3 ± 2.0 |  0 |  0.500 |  cannot tell |\n"
		"\n=" KEY("as in hyperfine", "Mean",
			"quick, 'this'") "| cat' are of the samples kept.=\n");
}

static void assert_command(enum export format, const char *name, const char *expected)
{
	_cleanup_(freep) char *text = NULL;

	fill(NULL);
	m.tasks[0].name = (char *)name;
	text = write_with(format);
	if (!strstr(text, expected))
		fail_msg("'%s' is not in: %s", expected, text);
}

TEST_OF_SESSION(the_mark_of_a_noisy_profile_is_exported)
{
	noise = "PSI 41 %, steal 3.2 %";
	assert_command(EXPORT_MARKDOWN, "x",
		"\n\n`Profile 'lab' is noisy: blind to daemons below 16 ms (PSI 41 %, "
		"steal 3.2 %)`\n");
	assert_command(EXPORT_ORGMODE, "x",
		"\n\n=Profile 'lab' is noisy: blind to daemons below 16 ms (PSI 41 %, "
		"steal 3.2 %)=\n");
	assert_command(EXPORT_ASCIIDOC, "x",
		"\n\n`Profile 'lab' is noisy: blind to daemons below 16 ms (PSI 41 %, "
		"steal 3.2 %)`\n");
	assert_command(EXPORT_CSV, "x", ",profile_blind,profile_noise,pt_ratio,");
	assert_command(EXPORT_CSV, "x", ",0.016400000,\"PSI 41 %, steal 3.2 %\",,,,\n");
	noise = "<b>`*";
	assert_command(EXPORT_MARKDOWN, "x",
		"\n`` Profile 'lab' is noisy: blind to daemons below 16 ms (<b>`*) ``\n");
}

TEST_OF_SESSION(a_command_stays_in_its_cell)
{
	assert_command(EXPORT_MARKDOWN, "echo `id`", "| `` echo `id` `` | 200.5");
	assert_command(EXPORT_MARKDOWN, "a``|\n| b", "| ``` a``\\| \\| b ``` | 200.5");
	assert_command(EXPORT_MARKDOWN, "a\x1b[1mb\x80", "| `a?[1mb\\x80` | 200.5");
	assert_command(EXPORT_ASCIIDOC, "a`{b}|[c]+", "\n| `a&#96;&#123;b}\\|&#91;c]&#43;` \n");
	assert_command(EXPORT_ASCIIDOC, "*a* _b_ #c# d--e f... -n 5.0",
		"\n"
		"| `&#42;a&#42; &#95;b&#95; &#35;c&#35; d&#45;&#45;e f&#46;&#46;&#46; -n 5.0` \n");
	assert_command(EXPORT_ORGMODE, "a=b c", "| ~a=b c~  |");
	assert_command(EXPORT_ORGMODE, "a=b|/c/", "| a\\equal{}b\\vert{}\\slash{}c\\slash{}  |");
}

TEST_OF_SESSION(a_command_is_no_formula)
{
	assert_command(EXPORT_CSV, "=1+1", "\n'=1+1,0.2005");
	assert_command(EXPORT_CSV, "@sum(a)", "\n'@sum(a),");
	assert_command(EXPORT_CSV, "-x,y", "\n\"'-x,y\",");
	assert_command(EXPORT_CSV, "+cmd|' /C calc'!A0", "\n'+cmd|");
	assert_command(EXPORT_CSV, "\t=1", "\n'\t=1,");
	assert_command(EXPORT_CSV, "\r=1", "\n\"'\r=1\",");
	assert_command(EXPORT_CSV, "-5", "\n-5,");
	assert_command(EXPORT_CSV, "+1.5e-3", "\n+1.5e-3,");
}

TEST_OF_SESSION(a_unit_a_reference_and_an_order_that_were_asked_for_are_used)
{
	m.options.unit = "s";
	m.options.reference = "slow | cat";
	m.options.sort = SORT_MEAN_TIME;
	assert_written(EXPORT_MARKDOWN,
		HEAD("s") "| `quick, 'this'` | 0.1003 ± 0.0020 | 0.0983 | 0.1023 | 0.50 ± 0.01 | 0.1003 ± 0.0020 | 0 | 0.500 | cannot tell |\n"
			  "| `slow \\| cat` | 0.2005 ± 0.0015 | 0.1990 | 0.2020 | 1.00 | 0.2005 ± 0.0015 | 0 | - | - |\n"
			  "\n`" KEY("as in hyperfine", "Mean",
				  "slow | cat") "| cat' are of the samples kept.`\n");
}

/* The elapsed time of each is that of both, and so says nothing of them. */
TEST_IN_BOOK(tables_of_a_duet_have_the_ratio_of_process_times)
{
	int64_t reference = 0;

	fill(NULL);
	m.session.order = ORDER_DUET;
	for (size_t i = 0; i < 2; i++) {
		m.tasks[i].result.discarding.run.kind = RUN_DUET;
		m.tasks[i].result.discarding.pt.kept.mean_ns = i ? 101e6 : 200.5e6;
		for (size_t k = 0; k < 2; k++) {
			m.samples[i][k].start_ns += (int64_t)(10 * k + i);
			m.samples[i][k].pt_ns = i ? 101000001 : 200000003 + 1000000 * (int64_t)k;
			m.samples[i][k].system_ns = m.samples[i][k].observer_ns = -1;
		}
	}
	/* The duet is in the book: two runs, whose samples were taken together. */
	for (size_t i = 0; i < 2; i++) {
		struct run run = {
			.program = (char *)"duet", .kind = RUN_DUET, .resolution_ns = 1, .cpu = -1};

		assert_done(s, book_begin_run(s->book, &run, &s->err));
		reference = reference ?: run.id;
		assert_done(s, book_add_rows(s->book, run.id, &duet_table,
				       &(struct duet_row){
					       .reference = reference, .slice_ns = 10 * NS_PER_MS},
				       1, &s->err));
		for (size_t k = 0; k < 2; k++) {
			const struct duet_sample together = {
				m.samples[i][k].n, (int)i + 1, 1, m.samples[i][k].et_ns};

			assert_done(s, book_add_sample(s->book, run.id, &m.samples[i][k], NULL, 0,
					       &s->err));
			assert_done(s, book_add_rows(s->book, run.id, &duet_sample_table, &together,
					       1, &s->err));
		}
		m.tasks[i].run.id = run.id;
	}
	m.session.base.book = s->book;
	assert_written(EXPORT_MARKDOWN,
		HEAD("ms") "| `slow \\| cat` | 200.5 ± 1.5 | 199.0 | 202.0 | 1.99 ± 0.04 | 200.5 ± 1.5 | 0 | - | - |\n"
			   "| `quick, 'this'` | 100.3 ± 2.0 | 98.3 | 102.3 | 1.00 | 101.0 ± 2.0 | 0 | 0.504 (0.488 to 0.520) | faster |\n"
			   "\n`" KEY("in which the other programs had turns, too", "PT",
				   "quick, 'this'") "| cat' are of the samples kept.`\n");
}

TEST_OF_SESSION(csv_has_seconds_quotes_and_parameters)
{
	struct error err = {};

	assert_int_equal(parameters_add_list(&m.options.parameters, "x,y", "1", &err), 0);
	m.values[0] = (char *)"a \"b\"";
	m.commands[1].values = m.values;
	assert_written(EXPORT_CSV,
		"command,mean,stddev,median,user,system,min,max,\"parameter_x,y\",pt_mean,"
		"pt_stddev,pt_samples,discarded,peak_memory,command_line,pt_ratio,pt_ratio_low,"
		"pt_ratio_high,pt_verdict\n"
		"slow | cat,0.200500000,0.001500000,0.200500000,0.100250000,0.000000000,"
		"0.199000000,0.202000000,,0.200500000,0.001500000,2,0,4096,slow,,,,\n"
		"\"quick, 'this'\",0.100300000,0.002000000,0.100300000,0.050150000,0.000000000,"
		"0.098300000,0.102300000,\"a \"\"b\"\"\",0.100300000,0.002000000,2,0,4096,quick,"
		"0.500249377,,,cannot tell\n");
	parameters_clear(&m.options.parameters);
}

TEST_OF_SESSION(json_has_hyperfines_names_and_says_what_it_is)
{
	static const char *const names[] = {"command", "mean", "stddev", "median", "user", "system",
		"min", "max", "times", "exit_codes", "memory_usage_byte"};
	_cleanup_(json_decrefp) json_t *document = NULL;
	_cleanup_(freep) char *text = NULL;
	json_t *result, *emp;
	text = write_with(EXPORT_JSON);
	document = json_loads(text, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(document, "format")), "emp-measure");
	assert_int_equal(json_integer_value(json_object_get(document, "version")), 1);
	result = json_array_get(json_object_get(document, "results"), 1);
	for (size_t i = 0; i < ELEMENTS(names); i++)
		assert_non_null(json_object_get(result, names[i]));
	assert_int_equal(
		json_integer_value(json_array_get(json_object_get(result, "exit_codes"), 1)), 1);
	emp = json_object_get(result, "emp");
	assert_int_equal(json_integer_value(json_object_get(emp, "run")), 8);
	assert_string_equal(json_string_value(json_array_get(json_object_get(emp, "start"), 0)),
		"2023-11-14T22:13:20.000000001Z");
	assert_non_null(json_object_get(emp, "backend"));
	assert_null(json_object_get(emp, "accounting")); /* the same by another name, in 0.2 */
	assert_null(json_object_get(emp, "perf"));
}

/* Of the first command no sample is kept, of the second there is one. */
TEST_OF_SESSION(what_too_few_samples_do_not_say_is_not_written)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	_cleanup_(freep) char *text = NULL;
	json_t *emp, *pt, *result;

	m.tasks[0].result.discarding.out = (bool[]){true, true};
	m.tasks[0].result.discarding.pt.kept = (struct summary){};
	m.tasks[1].result.n_samples = 1;
	m.tasks[1].result.discarding.et.raw = m.tasks[1].result.discarding.pt.kept =
		(struct summary){.n = 1,
			.mean_ns = 100.3e6,
			.median_ns = 100.3e6,
			.min_ns = 100300000,
			.max_ns = 100300000};
	assert_written(EXPORT_MARKDOWN,
		HEAD("ms") "| `slow \\| cat` | 200.5 ± 1.5 | 199.0 | 202.0 | 2.00 | - | 2 | - | - |\n"
			   "| `quick, 'this'` | 100.3 | 100.3 | 100.3 | 1.00 | 100.3 | 0 | - | unmeasurable |\n"
			   "\n`" KEY("as in hyperfine", "Mean",
				   "quick, 'this'") "| cat' are of the samples kept.`\n");
	assert_written(EXPORT_CSV,
		"command,mean,stddev,median,user,system,min,max,pt_mean,pt_stddev,pt_samples,"
		"discarded,peak_memory,command_line,pt_ratio,pt_ratio_low,pt_ratio_high,"
		"pt_verdict\n"
		"slow | cat,0.200500000,0.001500000,0.200500000,,,0.199000000,0.202000000,,,0,2,,"
		"slow,,,,\n"
		"\"quick, 'this'\",0.100300000,,0.100300000,0.050150000,0.000000000,0.100300000,"
		"0.100300000,0.100300000,,1,0,4096,quick,,,,unmeasurable\n");

	text = write_with(EXPORT_JSON);
	document = json_loads(text, 0, NULL);
	result = json_array_get(json_object_get(document, "results"), 0);
	assert_true(json_is_null(json_object_get(result, "user")));
	emp = json_object_get(result, "emp");
	pt = json_object_get(json_object_get(emp, "pt"), "kept");
	assert_true(json_is_null(json_object_get(pt, "mean_ns")));
	assert_true(json_is_null(json_object_get(pt, "min_ns")));
	result = json_array_get(json_object_get(document, "results"), 1);
	assert_true(json_is_null(json_object_get(result, "stddev")));
	assert_true(json_is_real(json_object_get(result, "mean")));
}

TEST_OF_SESSION(shares_of_time_with_a_neighbour_are_there_if_it_was_looked_for)
{
	_cleanup_(freep) char *text = NULL, *csv = NULL;
	_cleanup_(json_decrefp) json_t *document = NULL;
	json_t *emp, *shares, *of_run;

	m.samples[0][1].neighbour_ppm = PPM / 4;
	csv = write_with(EXPORT_CSV);
	assert_non_null(strstr(csv, ",command_line,neighbour_share,pt_ratio,"));
	assert_non_null(strstr(csv, ",slow,0.250000000,"));
	assert_non_null(strstr(csv, ",quick,,")); /* that one was not probed */

	text = write_with(EXPORT_JSON);
	document = json_loads(text, 0, NULL);
	emp = json_object_get(json_array_get(json_object_get(document, "results"), 0), "emp");
	shares = json_object_get(emp, "neighbour_ppm");
	assert_true(json_is_null(json_array_get(shares, 0)));
	assert_int_equal(json_integer_value(json_array_get(shares, 1)), PPM / 4);
	of_run = json_object_get(emp, "neighbour");
	assert_int_equal(json_integer_value(json_object_get(of_run, "samples")), 1);
	assert_int_equal(json_integer_value(json_object_get(of_run, "probed")), 1);
	assert_string_equal(json_string_value(json_object_get(of_run, "rule")), "off");
	emp = json_object_get(json_array_get(json_object_get(document, "results"), 1), "emp");
	assert_true(json_is_null(json_object_get(emp, "neighbour")));
}

TEST_OF_SESSION(times_without_a_neighbour_stand_beside_those_that_were_measured)
{
	_cleanup_(freep) char *csv = write_with(EXPORT_CSV), *table = NULL;
	struct clock_discarding *pt = &m.tasks[0].result.discarding.pt;

	assert_null(strstr(csv, "pt_as_measured"));
	free(csv);
	pt->adjusted.times_ns = (int64_t[]){1, 2};
	pt->adjusted.before = pt->kept;
	pt->adjusted.before.mean_ns *= 2;
	csv = write_with(EXPORT_CSV);
	assert_non_null(strstr(csv, ",pt_as_measured,pt_ratio,"));
	assert_non_null(strstr(csv, ",slow,0.401000000,"));
	assert_non_null(strstr(csv, ",quick,0.100300000,"));
	table = write_with(EXPORT_MARKDOWN);
	assert_non_null(strstr(table, "| PT as measured [ms] |"));
	assert_non_null(strstr(table, "without the neighbour on the core"));
}

TEST_OF_SESSION(the_interval_between_runs_is_there_if_it_is_known)
{
	_cleanup_(freep) char *text = NULL, *csv = write_with(EXPORT_CSV);
	_cleanup_(json_decrefp) json_t *document = NULL;
	json_t *results, *between;

	assert_null(strstr(csv, "pt_between_runs"));
	free(csv);
	m.tasks[0].result.discarding.pt.between = (struct run_interval){
		190e6, 210e6, {.sd = 0.02, .df = 11, .n_runs = 12}};
	csv = write_with(EXPORT_CSV);
	assert_non_null(
		strstr(csv, ",command_line,pt_between_runs_low,pt_between_runs_high,pt_ratio,"));
	assert_non_null(strstr(csv, ",slow,0.190000000,0.210000000,"));
	assert_non_null(strstr(csv, ",quick,,,"));

	text = write_with(EXPORT_JSON);
	document = json_loads(text, 0, NULL);
	results = json_object_get(document, "results");
	assert_int_equal(json_unpack(json_array_get(results, 0), "{s:{s:{s:{s:o}}}}", "emp", "pt",
				 "kept", "between_runs", &between),
		0);
	assert_int_equal(json_integer_value(json_object_get(between, "runs")), 12);
	assert_true(json_number_value(json_array_get(json_object_get(between, "interval_ns"), 1)) ==
		    210e6);
	assert_int_equal(json_unpack(json_array_get(results, 1), "{s:{s:{s:{s:o}}}}", "emp", "pt",
				 "kept", "between_runs", &between),
		-1);
}

/* In a duet process times are related: to the fastest of those that have one. */
TEST_OF_SESSION(nothing_is_related_to_a_program_of_which_no_sample_is_kept)
{
	_cleanup_(freep) char *text = NULL;

	m.session.order = m.options.order = ORDER_DUET;
	m.session.n = 1; /* one program has no ratio */
	m.tasks[0].result.discarding.out = (bool[]){true, true};
	m.tasks[0].result.discarding.pt.kept = (struct summary){};
	text = write_with(EXPORT_MARKDOWN);
	assert_non_null(strstr(text, "| 202.0 | - | - | 2 |"));
}

TEST_OF_SESSION(a_command_without_samples_is_left_out)
{
	static const char expected[] = HEAD_WITHOUT_RATIO
		"| `quick, 'this'` | 100.3 ± 2.0 | 98.3 | 102.3 | 1.00 | 100.3 ± 2.0 | 0 |\n"
		"\n`Mean, Min and Max are elapsed times (ET) of all samples, as in hyperfine. "
		"PT is of the samples kept.`\n";
	_cleanup_(freep) char *text = NULL;

	m.tasks[0].result.n_samples = 0;
	m.tasks[0].result.discarding.pt.kept.n = 0;
	assert_written(EXPORT_MARKDOWN, expected);
	m.tasks[1].result.n_samples = 0;
	text = write_with(EXPORT_CSV);
	assert_non_null(strstr(text, "command,mean,"));
	assert_ptr_equal(strchr(text, '\n') + 1, text + strlen(text)); /* no row */
}

TEST(standard_output_belongs_to_a_document_that_is_written_to_it)
{
	struct measure_options o = {};

	assert_false(export_takes_stdout(&o));
	o.exports[EXPORT_CSV] = "file.csv";
	assert_false(export_takes_stdout(&o));
	o.exports[EXPORT_ORGMODE] = "-";
	assert_true(export_takes_stdout(&o));
	o = (struct measure_options){.json = true};
	assert_true(export_takes_stdout(&o));
}
