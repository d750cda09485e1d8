/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rate of work of each run of a load: a panel for all work and one for each script, with the mean and its
 * interval. */
#include "lib/load/load_show.h"

#include <inttypes.h>
#include <math.h>

enum { MOST_PANELS = 9, WIDTH = 1000, PANEL = 190, TOP = 60, NAME = 30 };

static const char *const colours[] = {"#1f77b4", "#d62728"};

/* What a panel has: the rate of one script in one load or in two. */
struct panel {
	const struct load_rate *rates[2];
	const struct load_unit *unit;
	bool in_shares;
};

static struct panel panel_of(const struct load_reports *all, size_t number)
{
	const struct load_comparison *c = all->comparison;
	struct panel p = {};

	if (c) {
		p.rates[0] = c->items[number].a;
		p.rates[1] = c->items[number].b;
	} else {
		p.rates[0] = &all->items[0]->rates.items[number];
	}
	p.unit = load_unit_for(p.rates[0]->summary.mean_ns);
	p.in_shares = load_rates_in_shares(&all->items[0]->rates);
	return p;
}

/* One script has the rate of all work. */
static size_t count_panels(const struct load_reports *all)
{
	size_t n = all->comparison ? all->comparison->n : all->items[0]->rates.n;

	if (!all->comparison && n == 2)
		n = 1;
	return n < MOST_PANELS ? n : MOST_PANELS;
}

static void print_data(const struct load_reports *all, size_t number, struct plot *plot)
{
	struct panel p = panel_of(all, number);

	for (size_t side = 0; side < all->n; side++) {
		const struct load_report *report = all->items[side];

		fprintf(plot->script, "$rate%zu_%zu << EOD\n", number, side);
		for (size_t i = 0; i < report->n_kept; i++)
			fprintf(plot->script, "%" PRIu32 " %.9g\n", report->kept[i].n,
				(double)p.rates[side]->nano[i] / 1e9 * p.unit->seconds);
		fputs("EOD\n", plot->script);
	}
}

/* What the y axis must reach: the rates and the intervals of their means. */
static void print_range(const struct load_reports *all, const struct panel *p, struct plot *plot)
{
	double low = INFINITY, high = -INFINITY, scale = p->unit->seconds / 1e9, margin;

	for (size_t side = 0; side < all->n; side++) {
		const struct load_rate *rate = p->rates[side];

		low = fmin(low, fmin((double)rate->summary.min_ns, rate->interval.low_ns));
		high = fmax(high, fmax((double)rate->summary.max_ns, rate->interval.high_ns));
	}
	margin = fmax(0.1 * (high - low), 1e-3 * high);
	fprintf(plot->script, "set yrange [%.9g:%.9g]\n", (low - margin) * scale,
		(high + margin) * scale + (high > 0 ? 0 : 1));
}

/* The interval of the mean as a band, and the mean. */
static void print_mean(
	const struct load_rate *rate, const struct load_unit *unit, size_t side, struct plot *plot)
{
	double scale = unit->seconds / 1e9;

	if (rate->summary.n > 1)
		fprintf(plot->script,
			"set object rectangle from graph 0,first %.9g to graph 1,first %.9g behind fc rgb '%s' fs transparent solid 0.13 noborder\n",
			rate->interval.low_ns * scale, rate->interval.high_ns * scale, colours[side]);
	fprintf(plot->script,
		"set arrow from graph 0,first %.9g to graph 1,first %.9g nohead dt 2 lc rgb '%s'\n",
		rate->summary.mean_ns * scale, rate->summary.mean_ns * scale, colours[side]);
}

/* "edit ×4, repetitions a second" */
static void print_panel_title(const struct panel *p, struct plot *plot)
{
	const struct load_rate *rate = p->rates[0];
	static const char *const long_names[] = {"second", "minute", "hour"};
	const char *per = long_names[*p->unit->name == 's' ? 0 : *p->unit->name == 'm' ? 1 : 2];
	_cleanup_(freep) char *name = rate->script ? load_short_text(rate->script, NAME) : NULL;

	fputs("set title ", plot->script);
	if (rate->script)
		plot_quote_format(plot, "%s ×%" PRId64 ": repetitions per %s", name ?: "", rate->slaves, per);
	else
		plot_quote_format(plot, "all work: %s per %s", p->in_shares ? "shares" : "repetitions", per);
	fputs(" offset 0,-0.7\n", plot->script);
}

/* "run 13: 12.26 ± 0.29" */
static void print_side(
	const struct load_reports *all, const struct panel *p, size_t number, size_t side, struct plot *plot)
{
	const struct load_rate *rate = p->rates[side];
	double scale = p->unit->seconds / 1e9;
	int decimals = load_rate_decimals(rate, p->unit);
	int64_t run = all->items[side]->result.discarding.run.id;

	fprintf(plot->script, "%s $rate%zu_%zu with linespoints pt 7 ps 0.8 lw 1.2 lc rgb '%s' title ",
		side ? "," : "plot", number, side, colours[side]);
	if (rate->summary.n > 1)
		plot_quote_format(plot, "run %" PRId64 ": %.*f ± %.*f /%s", run, decimals,
			rate->summary.mean_ns * scale, decimals, rate->summary.sd_ns * scale, p->unit->name);
	else
		plot_quote_format(plot, "run %" PRId64 ": %.*f /%s", run, decimals,
			rate->summary.mean_ns * scale, p->unit->name);
}

static void print_panel(const struct load_reports *all, size_t number, struct plot *plot)
{
	struct panel p = panel_of(all, number);

	print_range(all, &p, plot);
	print_panel_title(&p, plot);
	fputs("unset object\nunset arrow\n", plot->script);
	for (size_t side = 0; side < all->n; side++)
		print_mean(p.rates[side], p.unit, side, plot);
	for (size_t side = 0; side < all->n; side++)
		print_side(all, &p, number, side, plot);
	fputc('\n', plot->script);
}

static char *short_name(const struct load_report *report)
{
	_cleanup_(freep) char *name = load_report_name(report);

	return name ? load_short_text(name, NAME) : NULL;
}

static void print_title(const struct load_reports *all, size_t panels, struct plot *plot)
{
	const struct load_report *first = all->items[0];
	size_t all_panels = all->comparison ? all->comparison->n : first->rates.n;
	_cleanup_(freep) char *a = short_name(first);
	_cleanup_(freep) char *b = all->n > 1 ? short_name(all->items[1]) : NULL;

	fputs(" title ", plot->script);
	plot_quote_format(plot, "Rate of work of %s%s%s%s%s", a ?: "", b ? " and of " : "", b ?: "",
		first->n_kept > 1 ? "; bands: 95 % CI of the mean" : "",
		all_panels > MOST_PANELS && panels > 1 ? "; the first scripts" : "");
}

/* The numbers of the runs, whole ones. */
static void print_x_axis(const struct load_reports *all, struct plot *plot)
{
	uint32_t last = 1;

	for (size_t side = 0; side < all->n; side++) {
		const struct load_report *p = all->items[side];

		if (p->n_kept > 0 && p->kept[p->n_kept - 1].n > last)
			last = p->kept[p->n_kept - 1].n;
	}
	fprintf(plot->script, "set xrange [0.5:%" PRIu32 ".5]\n%s", last, last <= 40 ? "set xtics 1\n" : "");
}

static void draw(const void *subject, struct plot *plot)
{
	const struct load_reports *all = subject;
	size_t panels = count_panels(all);

	for (size_t i = 0; i < panels; i++)
		print_data(all, i, plot);
	fprintf(plot->script, "set multiplot layout %zu,1", panels);
	print_title(all, panels, plot);
	fputs("\nset lmargin 11\nset rmargin 30\nset key at graph 1.02,graph 1 left top Left reverse samplen 1.5\n",
		plot->script);
	print_x_axis(all, plot);
	for (size_t i = 0; i < panels; i++) {
		if (i + 1 == panels)
			fputs("set xlabel 'run of the load'\n", plot->script);
		print_panel(all, i, plot);
	}
	fputs("unset multiplot\n", plot->script);
}

struct drawing load_figure_rates(const struct load_reports *all)
{
	return (struct drawing){draw, all, WIDTH, TOP + PANEL * (int)count_panels(all) + PANEL / 4};
}
