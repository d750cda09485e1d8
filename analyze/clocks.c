/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze clocks: shows, draws or compares what emp-calibrate clocks measured. */
#include "analyze/options.h"

#include "lib/clocks/clocks_report.h"

static struct clocks_view view;

static const struct option_row clocks_options[] = {
	{0, "diff", NULL, "compare with the previous calibration", NULL, &view.diff},
	{'o', "output", "FILE", "draw the precision: .png, .svg or .pdf", NULL, &view.output},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL,
		&view.script},
	{},
};

static int analyze_clocks_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	const struct option_rule rules[] = {
		{view.script && !view.output, NEEDS_PICTURE("--script")},
		{view.diff + !!view.output > 1 || (view.output && analyze_options.json),
			"--diff and -o are for one result, and -o draws in place of --json; "
			"choose one"},
	};
	int64_t id = 0;
	int r = option_check_rules(rules, ELEMENTS(rules), err);

	if (r == 0 && argc > 0)
		r = text_parse_int(argv[0], "CALIBRATION", 1, INT64_MAX, &id, err);

	view.json = analyze_options.json;
	if (r == 0)
		r = book_open(&book, analyze_options.db, BOOK_READ, err);
	return r < 0 ? r : clocks_show(book, id, &view, err);
}

const struct verb analyze_clocks = {
	.name = "clocks",
	.args = "[CALIBRATION]",
	.summary = "show what reading each clock costs, and how precise it is",
	.max_args = 1,
	.options = clocks_options,
	.run = analyze_clocks_verb,
};
