/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The precision of the clocks: see figure_clocks.h. */
#include "lib/clocks/figure_clocks.h"

#include "lib/base/text.h"
#include "lib/clocks/clocks_report.h"

#include <inttypes.h>

/* One source of each kind: the others lie on the same line. */
static const struct line {
	const char *name, *colour;
	int point;
} lines[] = {
	{"times()", "#8c564b", 9},
	{"/proc/PID/schedstat", "#e377c2", 11},
	{"getrusage(RUSAGE_SELF)", "#d62728", 7},
	{"perf task-clock", "#e6a000", 5},
	{"clock_gettime(CLOCK_THREAD_CPUTIME_ID)", "#2ca02c", 13},
	{"emp-clock", "#9467bd", 15},
	{"clock_gettime(CLOCK_MONOTONIC)", "#7f7f7f", 4},
	{"rdtsc", "#1f77b4", 6},
	{"cntvct_el0", "#1f77b4", 6},
};

static void print_data(
	const struct clocks *c, const struct clock_source *source, size_t block, struct plot *plot)
{
	size_t index = (size_t)(source - c->sources);

	fprintf(plot->script, "$source%zu << EOD\n", block);
	for (size_t i = 0; i < c->n_precision; i++) {
		const struct clock_precision *row = &c->precision[i];

		if (row->sd_ns[index] > 0) /* the axis is logarithmic */
			fprintf(plot->script, "%" PRId64 " %.9g\n", row->primes, row->sd_ns[index]);
		else
			fprintf(plot->script, "%" PRId64 " NaN\n", row->primes);
	}
	fputs("EOD\n", plot->script);
}

static void draw(const void *subject, struct plot *plot)
{
	const struct clocks *c = subject;
	const char *separator = "plot ";
	char made[TEXT_TIME_SIZE];

	plot_set(plot, "title", "How precisely each source times the first N primes: CPU %" PRId64 ", %s",
		c->cpu, text_moment(made, c->made_ns));
	fputs("set xlabel 'number of primes N'\nset ylabel 'standard deviation'\n"
	      "set logscale y\nset format y '%.0s %cs'\nset xrange [0:*]\n"
	      "set key outside right top reverse Left\n",
		plot->script);
	for (size_t i = 0; i < ELEMENTS(lines); i++) {
		const struct clock_source *source = clocks_find(c, lines[i].name);

		if (source)
			print_data(c, source, i, plot);
	}
	for (size_t i = 0; i < ELEMENTS(lines); i++) {
		if (!clocks_find(c, lines[i].name))
			continue;
		fprintf(plot->script,
			"%s$source%zu using 1:($2/1e9) with linespoints pt %d lc rgb '%s' title ", separator,
			i, lines[i].point, lines[i].colour);
		plot_quote(plot, clocks_short_name(lines[i].name));
		separator = ", ";
	}
	fputc('\n', plot->script);
}

struct drawing figure_clocks(const struct clocks *c)
{
	return (struct drawing){draw, c, 1100, 700};
}
