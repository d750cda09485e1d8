/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze trend: follows a program over the runs in the book, and says where its level
 * changed. */
#include "analyze/options.h"

#include "lib/trend/trend_show.h"

static struct trend_options options = {.rules = COMPARISON_RULES};

static const char *since;

/* "64" is a run, "12h" a moment, and anything else the name of a run. */
static int find_reference(struct book *book, struct trend_reference *ret, struct error *err)
{
	int r = 0;

	if (!since[strspn(since, "0123456789")])
		return option_run(since, "--since", &ret->run, err);
	if (option_since(since, "--since", &ret->since_ns, NULL) < 0) {
		r = book_find_run(book, since, &ret->run, err);
		if (r == 0)
			r = option_since(since, "--since", &ret->since_ns, err);
	}
	return r;
}

static const struct option_row trend_options[] = {
	{0, "seconds", NULL, "follow PT in seconds, even where runs have it in units of INC", NULL,
		&options.seconds},
	{0, "csv", "FILE", "write a row for each run; - is standard output", NULL, &options.csv},
	{0, "markdown", "FILE", "write the table of levels for a report; - is standard output",
		NULL, &options.markdown},
	{0, "fail-if-slower", "PERCENT",
		"exit status 2 if the last run is slower than the reference by more than this",
		option_percent, &options.rules.fail_if_slower},
	{0, "since", "RUN|TIME",
		"the reference: this run, or the first one since then (default: the first)", NULL,
		&since},
	VERDICT_OPTIONS(options.rules),
	{'o', "output", "FILE", "draw the series: .png, .svg or .pdf", NULL, &options.output},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL,
		&options.script},
	{},
};

static int analyze_trend_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	const char *const documents[] = {
		analyze_options.json ? "-" : NULL, options.csv, options.markdown};
	const struct option_rule rules[] = {
		{options.script && !options.output, NEEDS_PICTURE("--script")},
		{options.rules.fail_if_slower >= 0 && options.rules.equal_within >= 0,
			EQUAL_WITHIN_NO_GATE},
	};
	int r = option_check_rules(rules, ELEMENTS(rules), err);

	if (r == 0)
		r = output_files_apart(documents, ELEMENTS(documents), err);
	if (r == 0)
		r = book_open(&book, analyze_options.db, BOOK_READ, err);
	if (r == 0 && since)
		r = find_reference(book, &options.since, err);
	options.json = analyze_options.json;
	return r >= 0 ? trend_show(book, argv[0], &options, err) : r;
}

const struct verb analyze_trend = {
	.name = "trend",
	.args = "NAME",
	.summary = "follow a program over its runs, and say where its time changed",
	.min_args = 1,
	.max_args = 1,
	.options = trend_options,
	.run = analyze_trend_verb,
};
