/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scatter of dual executions in one view, and all samples in the order of time. The axes are linear near the
 * centre and logarithmic further out, so that one picture shows a cluster of milliseconds and arms of minutes. */
#include "analyze/figure_marks.h"

#include "lib/base/text.h"

#include <inttypes.h>
#include <math.h>

/* The axis of a picture, in seconds from the central median. */
struct extent {
	double low, high;   /* of the central cluster */
	double least, most; /* of all samples */
	double linear;      /* up to here the axis is linear */
};

static struct extent extent_of(const struct figure *f)
{
	const struct cluster *c = &f->analysis->central;
	struct extent e = {.low = beyond_median(f, c->low_ns), .high = beyond_median(f, c->high_ns)};

	e.least = e.low;
	e.most = e.high;
	for (size_t i = 0; i < f->analysis->n_samples; i++) {
		e.least = fmin(e.least, beyond_median(f, f->analysis->samples[i].et_ns));
		e.most = fmax(e.most, beyond_median(f, f->analysis->samples[i].et_ns));
	}
	e.linear = central_reach(f);
	if (e.most <= e.least)
		e.most = e.least + e.linear;
	return e;
}

/* A title of two lines; `logarithmic`: it mentions the logarithmic axes. */
static void print_title(
	const struct figure *f, const char *what, const struct extent *e, bool logarithmic, struct plot *plot)
{
	char linear[TEXT_TIME_SIZE];

	fputs("set title ", plot->script);
	plot_quote_format(plot, "%s, run %" PRId64 ": %s, %s%s", f->analysis->run.program,
		f->analysis->run.id, what,
		f->profile ? "discarded by profile " : "L-samples marked by daemon", f->profile ?: "");
	if (logarithmic) {
		fputs(" . \"\\n\" . ", plot->script);
		plot_quote_format(plot, "%s axis linear up to %s from the median, logarithmic beyond",
			time_name(f), text_duration(linear, llround(e->linear * 1e9)));
	}
	fputc('\n', plot->script);
}

static void draw_scatter(const void *subject, struct plot *plot)
{
	const struct figure *f = subject;
	struct extent e = extent_of(f);
	bool logarithmic = plot_time_axis(plot, "x", e.linear, e.least, e.most);
	_cleanup_(freep) char *what = text_format("%zu pairs of samples", f->analysis->n_samples / 2);
	char median[TEXT_TIME_SIZE];
	struct marks marks;

	plot_time_axis(plot, "y", e.linear, e.least, e.most);
	print_title(f, what ?: "", &e, logarithmic, plot);
	median_text(median, f);
	plot_set(plot, "xlabel", "%s of the first sample of a pair, minus the median (%s)", time_name(f),
		median);
	plot_set(plot, "ylabel", "%s of the second sample of a pair, minus the median", time_name(f));
	fputs("set key outside right top reverse Left title 'pairs (number)'\nset size square\n",
		plot->script);
	fprintf(plot->script,
		"set object 1 rectangle from %.9g,%.9g to %.9g,%.9g behind fc rgb '#dce9f7' fs solid border lc rgb '#5580b0'\n",
		e.low, e.low, e.high, e.high);
	marks = marks_of_pairs(f, plot);
	marks_plot(f, &marks, true, plot);
}

struct drawing figure_scatter(const struct figure *f)
{
	return (struct drawing){draw_scatter, f, 1100, 800};
}

static void draw_samples(const void *subject, struct plot *plot)
{
	const struct figure *f = subject;
	struct extent e = extent_of(f);
	bool logarithmic = plot_time_axis(plot, "y", e.linear, e.least, e.most);
	_cleanup_(freep) char *what = text_format("%zu samples", f->analysis->n_samples);
	char median[TEXT_TIME_SIZE];
	struct marks marks;

	print_title(f, what ?: "", &e, logarithmic, plot);
	plot_set(plot, "ylabel", "%s minus the median of the central cluster (%s)", time_name(f),
		median_text(median, f));
	fprintf(plot->script,
		"set xlabel 'sample'\nset xrange [0:%" PRIu32
		"]\nset key outside right top reverse Left title 'samples (number)'\n"
		"set object 1 rectangle from graph 0,first %.9g to graph 1,first %.9g behind fc rgb '#dce9f7' fs solid noborder\n",
		f->analysis->samples[f->analysis->n_samples - 1].n + 1, e.low, e.high);
	marks = marks_of_samples(f, plot);
	marks_plot(f, &marks, true, plot);
}

struct drawing figure_samples(const struct figure *f)
{
	return (struct drawing){draw_samples, f, 1300, 600};
}
