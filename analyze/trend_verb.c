/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze trend: follows a program over the runs in the book, and says where its level changed. */
#include "lib/base/base.h"
#include "analyze/analyze.h"
#include "lib/trend/trend.h"

#include "lib/base/paths.h"

#include <math.h>

static struct {
	double fail_if_slower; /* percent; below 0: not given */
	const char *output, *csv, *markdown;
	bool seconds, script;
} options = {.fail_if_slower = -1};

const struct option_row trend_options[] = {
	{0, "seconds", NULL, "follow PT in seconds, even where runs have it in units of INC", NULL,
		&options.seconds},
	{0, "csv", "FILE", "write a row for each run; - is standard output", NULL, &options.csv},
	{0, "markdown", "FILE", "write the table of levels for a report; - is standard output", NULL,
		&options.markdown},
	{0, "fail-if-slower", "PERCENT",
		"exit status 2 if the last level is slower than the previous one by this much",
		option_percent, &options.fail_if_slower},
	{'o', "output", "FILE", "draw the series: .png, .svg or .pdf", NULL, &options.output},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL, &options.script},
	{},
};

/* STATUS_NOT_FIT with a sentence: slower than --fail-if-slower allows, beyond what chance explains. */
static int trend_judge(const struct trend_view *view, struct error *err)
{
	const struct levels *levels = &view->levels;
	struct level_change change;
	double percent;

	if (options.fail_if_slower < 0 || levels->n < 2)
		return 0;
	change = levels_change(levels, levels->n - 1);
	percent = 100 * expm1(change.by);
	if (!(percent >= options.fail_if_slower) || !(change.by - change.half > 0))
		return 0;
	return error_say(err, STATUS_NOT_FIT,
		"'%s' is slower by %.2f %% (95 %% CI: %.2f to %.2f %%) since run %" PRId64 ", %g %% or more",
		view->series.name, percent, 100 * expm1(change.by - change.half),
		100 * expm1(change.by + change.half),
		view->series.items[levels->items[levels->n - 1].first].run.id, options.fail_if_slower);
}

static int trend_write(const struct trend_view *view, struct error *err)
{
	const struct {
		const char *path;
		void (*write)(FILE *file, const struct trend_view *view);
	} files[] = {{options.csv, trend_write_csv}, {options.markdown, trend_write_markdown}};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ELEMENTS(files); i++) {
		_cleanup_(output_file_clear) struct output_file output = {};

		if (!files[i].path)
			continue;
		r = output_file_open(&output, files[i].path, err);
		if (r < 0)
			return r;
		files[i].write(output.file, view);
		r = output_file_commit(&output, err);
	}
	return r;
}

int verb_trend(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(trend_clear) struct trend_view view = {};
	bool csv_printed = options.csv && !strcmp(options.csv, "-");
	bool markdown_printed = options.markdown && !strcmp(options.markdown, "-");
	const struct option_rule rules[] = {
		{analyze_options.json + csv_printed + markdown_printed > 1,
			"--json, --csv - and --markdown - share standard output: give all but one a file"},
		{options.script && !options.output, NEEDS_PICTURE("--script")},
	};
	int r = analyze_check_options(rules, ELEMENTS(rules), err);

	if (r == 0)
		r = book_open(&book, analyze_options.db, BOOK_READ, err);
	if (r == 0)
		r = trend_load(book, argv[0], options.seconds, &view, err);
	if (r == 0 && options.output && view.series.n == 0)
		return error_say(err, -ENODATA,
			"no run of '%s' can be drawn; without -o, the reasons are shown", view.series.name);
	if (r == 0 && options.output)
		r = plot_drawing(trend_drawing(&view), options.output, options.script, err);
	if (r == 0)
		r = trend_write(&view, err);
	if (r == 0 && analyze_options.json)
		r = json_print_document("emp-trend", trend_as_json(&view), err);
	else if (r == 0 && !options.csv && !options.markdown)
		trend_print(&view);
	return r < 0 ? r : trend_judge(&view, err);
}
