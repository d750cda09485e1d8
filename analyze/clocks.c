/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze clocks: shows, draws or compares what emp-calibrate clocks measured. */
#include "analyze/analyze.h"

#include "lib/clocks/clocks.h"

static struct {
	const char *output;
	bool diff, script;
} options;

const struct option_row clocks_options[] = {
	{0, "diff", NULL, "compare with the previous calibration", NULL, &options.diff},
	{'o', "output", "FILE", "draw the precision: .png, .svg or .pdf", NULL, &options.output},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL, &options.script},
	{},
};

int verb_clocks(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(clocks_clear) struct clocks clocks = {};
	int64_t id = 0;
	int r = argc > 0 ? text_parse_int(argv[0], "CALIBRATION", 1, INT64_MAX, &id, err) : 0;

	if (r == 0)
		r = book_open(&book, analyze_options.db, BOOK_READ, err);
	if (r == 0)
		r = book_get_clocks(book, id, false, &clocks, err);
	if (r < 0)
		return r;
	if (r == 0 && id > 0)
		return error_say(err, -ENOENT, "the book has no calibration %" PRId64 " of the clocks", id);
	if (r == 0)
		return error_say(err, -ENOENT,
			"the clocks of this machine are not calibrated: run 'emp-calibrate clocks'");
	if (options.diff)
		return clocks_compare(book, &clocks, analyze_options.json, err);
	if (options.output)
		return plot_drawing(figure_clocks(&clocks), options.output, options.script, err);
	return clocks_print(book, &clocks, analyze_options.json, err);
}
