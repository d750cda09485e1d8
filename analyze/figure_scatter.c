/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scatter of dual executions as a gnuplot script: one point a pair, x the ET of its first execution and y
 * that of its second, both beyond the median of the central cluster. Near the centre the axes are linear,
 * further out logarithmic, so that one picture shows a cluster of milliseconds and arms of minutes. */
#include "analyze/figure.h"

#include "lib/base/text.h"

#include <inttypes.h>
#include <math.h>

static const struct look {
	const char *title;
	int point;
	const char *colour;
} looks[] = {
	[CAUSE_NONE] = {"central cluster", 7, "#7a9cc6"},
	[CAUSE_UNEXPLAINED] = {"long, no daemon ran long", 1, "#404040"},
	[CAUSE_BELOW] = {"shorter than the central cluster", 2, "#404040"},
	[CAUSE_TWO_SD] = {"discarded by two sd of PT", 6, "#202020"},
	[CAUSE_OTHER_DAEMON] = {"other daemons", 3, "#808080"},
	{NULL, 9, "#d62728"},
	{NULL, 5, "#e6a000"},
	{NULL, 13, "#2ca02c"},
	{NULL, 11, "#9467bd"},
	{NULL, 15, "#8c564b"},
	{NULL, 8, "#e377c2"},
};

static double beyond_median(const struct figure *f, size_t sample)
{
	return (double)(f->reading->samples[sample].et_ns - f->reading->central.median_ns) / 1e9;
}

/* The cause of a pair is that of its longer sample. */
static uint8_t pair_cause(const struct figure *f, size_t i)
{
	const struct sample *s = f->reading->samples;
	uint8_t a = f->causes[i], b = f->causes[i + 1];

	if (a == CAUSE_NONE || b == CAUSE_NONE)
		return a == CAUSE_NONE ? b : a;
	return s[i].et_ns >= s[i + 1].et_ns ? a : b;
}

static size_t print_pairs(const struct figure *f, uint8_t cause, struct plot *plot)
{
	size_t n = 0;

	for (size_t i = 0; i + 1 < f->reading->n_samples; i += 2) {
		if (pair_cause(f, i) != cause)
			continue;
		if (n++ == 0)
			fprintf(plot->script, "$cause%d << EOD\n", cause);
		fprintf(plot->script, "%.9f %.9f %" PRIu32 " %" PRIu32 "\n", beyond_median(f, i),
			beyond_median(f, i + 1), f->reading->samples[i].n, f->reading->samples[i + 1].n);
	}
	if (n > 0)
		fputs("EOD\n", plot->script);
	return n;
}

static void print_title(const struct figure *f, size_t cause, size_t n, struct plot *plot)
{
	_cleanup_(freep) char *title = NULL;

	if (cause == CAUSE_UNEXPLAINED && f->profile)
		title = text_format("long, but kept (%zu)", n);
	else if (cause < CAUSE_DAEMON)
		title = text_format("%s (%zu)", looks[cause].title, n);
	else
		title = text_format("%s (%zu)", f->daemons[cause - CAUSE_DAEMON], n);
	plot_quote(plot, title ?: "");
}

static void print_labels(const struct figure *f, double linear_s, struct plot *plot)
{
	const struct reading *r = f->reading;
	char median[TEXT_TIME_SIZE], linear[TEXT_TIME_SIZE];
	_cleanup_(freep) char *title = NULL, *note = NULL, *x = NULL, *y = NULL;

	text_precise(
		median, (double)r->central.median_ns, (double)(r->central.high_ns - r->central.low_ns) / 10);
	text_duration(linear, llround(linear_s * 1e9));
	title = text_format("%s, run %" PRId64 ": %zu pairs of executions, %s%s", r->run.program, r->run.id,
		r->n_samples / 2, f->profile ? "discarded by profile " : "L-samples by daemon",
		f->profile ?: "");
	note = text_format("axes linear up to %s, logarithmic further out", linear);
	x = text_format("ET of the first of a pair, beyond the central median of %s", median);
	y = text_format("ET of the second of a pair, beyond %s", median);
	fputs("set title ", plot->script);
	plot_quote(plot, title ?: "");
	if (linear_s > 0) {
		fputs(" . \"\\n\" . ", plot->script);
		plot_quote(plot, note ?: "");
	}
	fputs("\nset xlabel ", plot->script);
	plot_quote(plot, x ?: "");
	fputs("\nset ylabel ", plot->script);
	plot_quote(plot, y ?: "");
	fputs("\nset key outside right top reverse Left title 'pairs (how many)'\nset size square\n",
		plot->script);
}

/* How far the axes are linear, 0: all the way. */
static double print_axes(const struct figure *f, struct plot *plot)
{
	const struct central *c = &f->reading->central;
	double low = (double)(c->low_ns - c->median_ns) / 1e9,
	       high = (double)(c->high_ns - c->median_ns) / 1e9;
	double linear = fmax(fmax(high, -low), 1e-9), least = low, most = high;

	for (size_t i = 0; i < f->reading->n_samples; i++) {
		least = fmin(least, beyond_median(f, i));
		most = fmax(most, beyond_median(f, i));
	}
	if (most <= least)
		most = least + 1e-9;
	if (!plot_time_axis(plot, "x", linear, least, most))
		linear = 0;
	plot_time_axis(plot, "y", fmax(fmax(high, -low), 1e-9), least, most);
	fprintf(plot->script,
		"set object 1 rectangle from %.9g,%.9g to %.9g,%.9g behind fc rgb '#dce9f7' fs solid border "
		"lc rgb "
		"'#5580b0'\n",
		low, low, high, high);
	return linear;
}

void figure_scatter(const struct figure *f, struct plot *plot)
{
	size_t n[CAUSE_DAEMON + FIGURE_DAEMONS], drawn = 0;

	print_labels(f, print_axes(f, plot), plot);
	for (uint8_t cause = 0; cause < ELEMENTS(n); cause++)
		n[cause] = print_pairs(f, cause, plot);
	for (size_t cause = 0; cause < ELEMENTS(n); cause++) {
		if (n[cause] == 0)
			continue;
		fprintf(plot->script, "%s$cause%zu using 1:2 with points pt %d ps %s lc rgb '%s' title ",
			drawn++ > 0 ? ", " : "plot ", cause, looks[cause].point,
			cause == CAUSE_NONE ? "0.6" : "1.3", looks[cause].colour);
		print_title(f, cause, n[cause], plot);
	}
	fputc('\n', plot->script);
}
