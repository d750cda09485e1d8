/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page waits of a load's slaves, and the transfers of block devices, by their length: how many, and the time that they took
 * together. */
#include "lib/load/load_show.h"

#include "lib/base/saturate.h"
#include "lib/base/text.h"

#include <inttypes.h>

enum { WIDTH = 1240, HEIGHT = 700, NAME = 60, MOST_EDGES = 20 };

/* How each kind is drawn. */
static const struct look {
	const char *title, *colour;
} looks[N_PAGE_WAIT_KINDS] = {
	[PAGE_WAIT_SLAVE] = {"page waits of slaves", "#1f77b4"},
	[PAGE_WAIT_READ] = {"block reads", "#2ca02c"},
	[PAGE_WAIT_WRITE] = {"block writes", "#e6a000"},
};

struct bar {
	int64_t count, total_ns;
};

/* Bars between edges of 1, 2 or 5 in a decade, which are edges of the bins that are recorded. */
struct histogram {
	int64_t edges[MOST_EDGES]; /* the last bar has no upper edge */
	size_t n;
	struct bar bars[N_PAGE_WAIT_KINDS][MOST_EDGES];
	size_t first, last; /* that hold something */
	bool drawn[N_PAGE_WAIT_KINDS];
};

static void make_edges(struct histogram *h)
{
	static const int64_t steps[] = {1, 2, 5};

	h->edges[h->n++] = 0;
	for (int64_t decade_ns = 10 * NS_PER_US; decade_ns <= NS_PER_S; decade_ns *= 10)
		for (size_t i = 0; i < ELEMENTS(steps) && h->n < MOST_EDGES; i++)
			h->edges[h->n++] = steps[i] * decade_ns;
}

static void add_bin(struct histogram *h, enum page_wait_kind kind, const struct page_wait_bin *bin)
{
	size_t i = h->n - 1;
	struct bar *bar;

	while (i > 0 && h->edges[i] > bin->low_ns)
		i--;
	bar = &h->bars[kind][i];
	bar->count = saturate_add(bar->count, bin->count);
	bar->total_ns = saturate_add(bar->total_ns, bin->total_ns);
	h->first = i < h->first ? i : h->first;
	h->last = i > h->last ? i : h->last;
	h->drawn[kind] = true;
}

static struct histogram make_histogram(const struct page_wait_report *report)
{
	struct histogram h = {.first = MOST_EDGES};

	make_edges(&h);
	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		for (size_t i = 0; i < report->total[kind].n_bins; i++)
			add_bin(&h, kind, &report->total[kind].bins[i]);
	h.first = h.first < h.last ? h.first : h.last;
	return h;
}

static size_t count_drawn(const struct histogram *h, enum page_wait_kind before)
{
	size_t n = 0;

	for (enum page_wait_kind kind = 0; kind < before; kind++)
		n += h->drawn[kind];
	return n;
}

/* x x_low x_high count seconds */
static void print_bars(const struct histogram *h, enum page_wait_kind kind, struct plot *plot)
{
	double width = 0.86 / (double)count_drawn(h, N_PAGE_WAIT_KINDS);
	double offset = 0.07 + width * (double)count_drawn(h, kind);

	fprintf(plot->script, "$kind%d << EOD\n", kind);
	for (size_t i = h->first; i <= h->last; i++) {
		const struct bar *bar = &h->bars[kind][i];
		double low = (double)i + offset;

		if (bar->count > 0)
			fprintf(plot->script, "%.3f %.3f %.3f %" PRId64 " %.9f\n", low + width / 2, low,
				low + width, bar->count, (double)bar->total_ns / 1e9);
	}
	fputs("EOD\n", plot->script);
}

static void print_x_axis(const struct histogram *h, struct plot *plot)
{
	fprintf(plot->script, "set xrange [%zu:%zu]\nset xtics (", h->first, h->last + 1);
	for (size_t i = h->first; i <= h->last + 1 && i < h->n; i++) {
		char text[TEXT_TIME_SIZE];
		int64_t edge = h->edges[i];

		snprintf(text, sizeof(text), "%" PRId64 " %s",
			edge >= NS_PER_S    ? edge / NS_PER_S
			: edge >= NS_PER_MS ? edge / NS_PER_MS
					    : edge / NS_PER_US,
			edge >= NS_PER_S    ? "s"
			: edge >= NS_PER_MS ? "ms"
					    : "us");
		fputs(i > h->first ? ", " : "", plot->script);
		plot_quote(plot, edge ? text : "0");
		fprintf(plot->script, " %zu", i);
	}
	fputs(")\n", plot->script);
}

static void print_panel(const struct histogram *h, int column, const char *base, struct plot *plot)
{
	const char *separator = "plot";

	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++) {
		if (!h->drawn[kind])
			continue;
		fprintf(plot->script,
			"%s $kind%d using 1:%d:2:3:(%s):%d with boxxyerror fs solid 0.9 noborder lc rgb '%s' title '%s'",
			separator, kind, column, base, column, looks[kind].colour, looks[kind].title);
		separator = ",";
	}
	fputc('\n', plot->script);
}

static void print_title(const struct load_report *p, struct plot *plot)
{
	_cleanup_(freep) char *whole = load_report_name(p);
	_cleanup_(freep) char *name = load_short_text(whole ?: "", NAME);

	plot_set(plot, "multiplot layout 2,1 title",
		"What the slaves of %s waited for: %zu run%s of the load", name ?: "", p->n_kept,
		p->n_kept == 1 ? "" : "s");
}

static int64_t most_of_a_bar(const struct histogram *h)
{
	int64_t most = 1;

	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		for (size_t i = h->first; i <= h->last; i++)
			most = h->bars[kind][i].count > most ? h->bars[kind][i].count : most;
	return most;
}

static void draw(const void *subject, struct plot *plot)
{
	const struct load_reports *all = subject;
	struct histogram h = make_histogram(&all->items[0]->page_wait_report);

	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		if (h.drawn[kind])
			print_bars(&h, kind, plot);
	print_title(all->items[0], plot);
	print_x_axis(&h, plot);
	fputs("set lmargin 13\nset key top right\nset ylabel 'number'\nset logscale y\n", plot->script);
	fprintf(plot->script, "set yrange [0.5:%.9g]\n", 2 * (double)most_of_a_bar(&h));
	print_panel(&h, 4, "0.5", plot);
	fputs("unset logscale y\nunset key\nset yrange [0:*]\nset format y '%.1s %cs'\nset ylabel 'total time'\nset xlabel 'length of a wait or transfer'\n",
		plot->script);
	print_panel(&h, 5, "0", plot);
	fputs("unset multiplot\n", plot->script);
}

bool load_has_page_waits(const struct load_report *p)
{
	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		if (p->page_wait_report.total[kind].n_bins > 0)
			return true;
	return false;
}

struct drawing load_figure_page_waits(const struct load_reports *all)
{
	return (struct drawing){draw, all, WIDTH, HEIGHT};
}
