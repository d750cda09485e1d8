/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze scatter: the scatter plot of dual executions (EMP, Figures 13 to 15). This file chooses the
 * drawing; figure.c draws it. */
#include "analyze/analyze.h"
#include "analyze/figure.h"

#include <errno.h>

static struct {
	const char *output;
	int64_t central_max_ns;
	bool zooms, samples, script;
} options;

const struct option_row scatter_options[] = {
	{'o', "output", "FILE", "the picture: .png, .svg or .pdf", NULL, &options.output},
	{0, "profile", "NAME", "mark the samples that this profile discards, by daemon", NULL,
		&analyze_options.profile},
	{0, "central-max", "TIME", "longest ET of the central cluster, set by hand", option_duration,
		&options.central_max_ns},
	OTHER_CPUS_OPTION,
	BY_WAIT_OPTIONS,
	{0, "zooms", NULL, "draw each zoom of cluster detection in a panel of its own", NULL, &options.zooms},
	{0, "samples", NULL, "draw single samples in order of time", NULL, &options.samples},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL, &options.script},
	{},
};

int verb_scatter(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(analysis_clear) struct analysis analysis = {};
	_cleanup_(discarding_clear) struct discarding d = {};
	_cleanup_(figure_clear) struct figure figure = {};
	const struct analysis_options how = {.central_max_ns = options.central_max_ns};
	int r;

	if (!options.output)
		return error_say(err, -EINVAL, "name the picture with -o FILE.png (or .svg, .pdf)");
	if (options.zooms && options.samples)
		return error_say(err, -EINVAL, "--zooms and --samples are two pictures; choose one");
	r = analyze_load(argv[0], &how, &book, &analysis, err);
	if (r == 0 && analyze_options.profile)
		r = analyze_discard(book, analysis.run.id, &d, err);
	if (r == 0)
		r = figure_prepare(&figure, &analysis, analyze_options.profile ? &d : NULL,
			analyze_options.profile, err);
	if (r < 0)
		return r;
	return plot_drawing(options.zooms     ? figure_zooms(&figure)
			    : options.samples ? figure_samples(&figure)
					      : figure_scatter(&figure),
		options.output, options.script, err);
}
