/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze load: the rate of work of a load, or of two that are compared. */
#include "analyze/options.h"
#include "analyze/run.h"

#include "lib/base/charset.h"
#include "lib/load/load_export.h"
#include "lib/load/load_figures.h"

enum { LAST = 0 }; /* run of a load */

static struct {
	const char *csv, *markdown, *picture;
	double between; /* percent; below 0: not given */
	struct comparison_rules rules;
	int64_t timeline;         /* below 0: not given */
	int64_t page_wait_bin_ns; /* 0: chosen by the waits */
	bool page_waits, script;
} options = {.between = -1, .rules = COMPARISON_RULES, .timeline = -1};

static int parse_timeline(const char *value, const char *name, void *into, struct error *err)
{
	*(int64_t *)into = LAST;
	return value ? text_parse_int(value, name, 1, UINT32_MAX, into, err) : 0;
}

static const struct option_row load_options[] = {
	{0, "csv", "FILE", "write a row for each run and slave; - is standard output", NULL,
		&options.csv},
	{0, "markdown", "FILE", "write the table of rates for a report; - is standard output", NULL,
		&options.markdown},
	{'o', "output", "FILE", "draw the rates of the runs: .png, .svg or .pdf", NULL,
		&options.picture},
	{0, "timeline", "K",
		"with -o: draw when each slave worked in run K of the load (default: last)",
		parse_timeline, &options.timeline, .optional = true},
	{0, "page-waits", NULL, "with -o: draw how long the slaves waited for pages", NULL,
		&options.page_waits},
	{0, "page-wait-bin", "TIME", "width of the bins in which page waits are shown",
		page_wait_width_parse, &options.page_wait_bin_ns},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL,
		&options.script},
	{0, "between-runs", "PERCENT", "sd of the rates of separate loads, if the book has too few",
		option_percent, &options.between},
	{0, "fail-if-slower", "PERCENT",
		"exit status 2 if the second is slower than the first by more than this",
		option_percent, &options.rules.fail_if_slower},
	VERDICT_OPTIONS(options.rules),
	LAST_RUN_OPTION,
	{},
};

static enum load_picture wanted_picture(void)
{
	if (options.timeline >= 0)
		return LOAD_TIMELINE;
	return options.page_waits ? LOAD_PAGE_WAITS : LOAD_RATES;
}

static int show_loads(const struct load_reports *reports, struct error *err)
{
	const char *path = options.csv ?: options.markdown;
	_cleanup_(output_file_clear) struct output_file output = {};
	int r;

	if (analyze_options.json)
		return json_print(reports->comparison ? load_comparison_as_json(reports->comparison)
						      : load_report_as_json(reports->items[0]),
			stdout, err);
	if (path) {
		r = charset_document_open(&output, path, err);
		if (r < 0)
			return r;
		options.csv ? load_write_csv(output.file, reports)
			    : load_write_markdown(output.file, reports);
		return output_file_commit(&output, err);
	}
	if (options.picture)
		return load_draw(reports, wanted_picture(), options.timeline, options.picture,
			options.script, err);
	if (reports->comparison)
		load_comparison_print(stdout, reports->comparison);
	else
		load_report_print(stdout, reports->items[0], options.page_wait_bin_ns);
	return 0;
}

/* Shows the comparison, and judges by the rate of all work. */
static int compare_two_loads(struct book *book, const struct load_report *a,
	const struct load_report *b, struct error *err)
{
	_cleanup_(load_comparison_clear) struct load_comparison c = {};
	_cleanup_(freep) char *name_a = load_report_name(a), *name_b = load_report_name(b);
	int r = load_comparison_make(
		&c, book, a, b, options.between < 0 ? -1 : options.between / 100, err);

	for (size_t i = 0; r == 0 && i < c.n; i++)
		c.items[i].times.rules = options.rules;
	if (r == 0)
		r = show_loads(&(struct load_reports){{a, b}, 2, &c}, err);
	if (r < 0)
		return r;
	if (!c.same_scripts && (options.rules.fail_if_slower >= 0 || options.rules.strict))
		return error_say(err,
			comparison_verdict_status(&options.rules, COMPARISON_DIFFERENT_WORK),
			"'%s' and '%s' do different work: their scripts differ", name_b, name_a);
	return (int)comparison_judge(&c.items[0].times, name_a, name_b, err);
}

static int analyze_load_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(load_report_clear) struct load_report a = {}, b = {};
	const bool timeline = options.timeline >= 0, page_waits = options.page_waits;
	const struct option_rule rules[] = {
		{analyze_options.json + !!options.csv + !!options.markdown + !!options.picture > 1,
			"--json, --csv, --markdown and -o are for one result; choose one"},
		{timeline && !options.picture, NEEDS_PICTURE("--timeline")},
		{page_waits && !options.picture, NEEDS_PICTURE("--page-waits")},
		{options.script && !options.picture, NEEDS_PICTURE("--script")},
		{options.page_wait_bin_ns > 0 && (argc > 1 || analyze_options.json || options.csv ||
							 options.markdown || options.picture),
			"--page-wait-bin is for the text of one load: name one run, without "
			"--json, --csv, --markdown or -o"},
		{timeline && page_waits,
			"--timeline and --page-waits are two pictures; choose one"},
		{timeline && argc > 1, "--timeline draws one load; name one run"},
		{page_waits && argc > 1, "--page-waits draws one load; name one run"},
		{options.between >= 0 && argc < 2,
			"--between-runs needs two loads to compare: RUN RUN"},
		{options.rules.fail_if_slower >= 0 && argc < 2,
			"--fail-if-slower needs two loads to compare: RUN RUN"},
		{options.rules.fail_if_slower >= 0 && options.rules.equal_within >= 0,
			"--equal-within is for comparisons without --fail-if-slower, which says "
			"what is allowed"},
		{options.rules.equal_within >= 0 && argc < 2,
			"--equal-within needs two loads to compare: RUN RUN"},
		{options.rules.strict && argc < 2, "--strict needs two loads to compare: RUN RUN"},
	};
	int64_t run_a, run_b = 0;
	int r = option_check_rules(rules, ELEMENTS(rules), err);

	if (r == 0)
		r = analyze_open(argv[0], &book, &run_a, err);
	if (r == 0 && argc > 1)
		r = analyze_find_run(book, argv[1], &run_b, err);
	if (r >= 0)
		r = load_report_read(book, run_a, &a, err);
	if (r == 0 && run_b)
		r = load_report_read(book, run_b, &b, err);
	if (r < 0)
		return r;
	return run_b ? compare_two_loads(book, &a, &b, err)
		     : show_loads(&(struct load_reports){{&a}, 1, NULL}, err);
}

const struct verb analyze_load = {
	.name = "load",
	.args = "RUN [RUN]",
	.summary = "show what emp-load measured, or compare two loads",
	.min_args = 1,
	.max_args = 2,
	.options = load_options,
	.run = analyze_load_verb,
};
