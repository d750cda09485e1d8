/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each source took of the time, in one run and in another: a row each, on a logarithmic axis. */
#include "lib/jitter/jitter_show.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 24 };

static double larger_share(const struct jitter_change *c)
{
	return fmax(c->before_share, c->after_share);
}

static int by_larger_share(const void *x, const void *y)
{
	const struct jitter_change *const *a = x, *const *b = y;

	return (larger_share(*a) < larger_share(*b)) - (larger_share(*a) > larger_share(*b));
}

/* The rows with most of the time, the largest first; how many. */
static size_t choose_rows(
	const struct jitter_changes *changes, const struct jitter_change *rows[static MOST_ROWS])
{
	_cleanup_(freep) const struct jitter_change **all = xcalloc(changes->n + 1, sizeof(*all));
	size_t n = 0;

	if (!all)
		return 0;
	for (size_t i = 0; i < changes->n; i++)
		if (larger_share(&changes->items[i]) > 0)
			all[n++] = &changes->items[i];
	qsort(all, n, sizeof(*all), by_larger_share);
	n = n < MOST_ROWS ? n : MOST_ROWS;
	for (size_t i = 0; i < n; i++)
		rows[i] = all[i];
	return n;
}

/* Percent: before, after, and the band of the share after; what is 0 is at the left edge. */
static void print_rows(
	const struct jitter_change **rows, size_t n, double edge, double most, struct plot *plot)
{
	fputs("$rows << EOD\n", plot->script);
	for (size_t i = 0; i < n; i++) {
		const struct jitter_change *c = rows[i];
		double before = 100 * c->before_share, after = fmax(100 * c->after_share, edge);

		fprintf(plot->script, "%zu %.6g %.6g %.6g %.6g\n", i, fmax(before, edge), after,
			before > 0 ? fmax(before * c->low, edge) : after,
			before > 0 ? fmax(fmin(before * c->high, most), edge) : after);
	}
	fputs("EOD\n", plot->script);
}

/* Names at the left, ratios at the right. */
static void print_labels(const struct jitter_change **rows, size_t n, struct plot *plot)
{
	char ratio[TEXT_TIME_SIZE], interval[TEXT_TIME_SIZE];

	fputs("set ytics ('' -9", plot->script);
	for (size_t i = 0; i < n; i++) {
		fputs(", ", plot->script);
		plot_quote_format(plot, "%.36s", jitter_change_source(rows[i])->name);
		fprintf(plot->script, " %zu", i);
	}
	fputs(")\n", plot->script);
	for (size_t i = 0; i < n; i++) {
		const struct jitter_change *c = rows[i];

		fputs("set label ", plot->script);
		plot_quote_format(plot, "%s (%s)",
			!c->before  ? "only after"
			: !c->after ? "only before"
				    : jitter_ratio_text(ratio, c->ratio),
			jitter_ratio_interval(interval, c));
		fprintf(plot->script, " at graph 1.01,first %zu left font ',9'\n", i);
	}
	fputs("set label 'ratio (95 % CI)' at graph 1.01,first -0.8 left font ',9'\n", plot->script);
}

static void draw(const void *subject, struct plot *plot)
{
	const struct jitter_pair *pair = subject;
	const struct jitter_change *rows[MOST_ROWS];
	size_t n = choose_rows(&pair->changes, rows);
	double least = 100, most = 1e-9;

	for (size_t i = 0; i < n; i++) {
		double smaller = fmin(rows[i]->before_share, rows[i]->after_share);

		most = fmax(most, 100 * larger_share(rows[i]));
		least = fmin(least, 100 * (smaller > 0 ? smaller : larger_share(rows[i])));
	}
	plot_set(plot, "title", "What interrupted the CPU in run %" PRId64 ", and after it in run %" PRId64,
		pair->baseline->run.id, pair->run->run.id);
	if (n == 0) {
		fputs("set xrange [0:1]\nset yrange [0:1]\nplot 0 notitle\n", plot->script);
		return;
	}
	print_rows(rows, n, least / 10, most * 2, plot);
	print_labels(rows, n, plot);
	fprintf(plot->script,
		"set logscale x\nset xrange [%.6g:%.6g]\nset yrange [%zu:-1.3]\nset format x '%%g %%%%'\n"
		"set xlabel 'share of the sampled time'\nset rmargin 26\nset grid ytics\nset key outside top center horizontal\n"
		"plot $rows using 4:1:($5-$4):(0) with vectors nohead lw 6 lc rgb '#f2c4c4' title 'after: 95 %% CI', \\\n"
		" $rows using 2:1:($3-$2):(0) with vectors filled lw 1 lc rgb '#808080' notitle, \\\n"
		" $rows using ($2>%.6g?$2:NaN):1 with points pt 6 ps 1.2 lc rgb '#3366a0' title 'before', \\\n"
		" $rows using ($3>%.6g?$3:NaN):1 with points pt 7 ps 1.1 lc rgb '#d62728' title 'after'\n",
		least / 10, most * 2, n, least / 9, least / 9);
}

struct drawing jitter_shares(const struct jitter_pair *pair)
{
	return (struct drawing){draw, pair, JITTER_WIDTH, JITTER_HEIGHT};
}
