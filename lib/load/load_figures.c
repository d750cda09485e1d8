/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pictures of a load: the rate of work of each run, when each worker worked in one run, and what the workers waited for. */
#include "lib/load/load_report.h"

#include "lib/base/number.h"
#include "lib/base/text.h"

#include <inttypes.h>
#include <math.h>

/* The name of the load in a title, shortened; the caller frees it. */
static char *short_report_name(const struct load_report *p, size_t columns)
{
	_cleanup_(freep) char *name = load_report_name(p);

	return load_short_text(name, columns);
}

/* The rate of work: a panel for all work and one for each script, with the mean and its interval. */

enum { MOST_RATE_PANELS = 9, RATES_WIDTH = 1000, RATE_PANEL = 190, RATES_TOP = 60, RATES_NAME = 30 };

static const char *const rate_colours[] = {"#1f77b4", "#d62728"};

/* What a panel has: the rate of one script in one load or in two. */
struct rate_panel {
	size_t number;
	const struct load_rate *rates[2];
	const struct load_unit *unit;
	double scale; /* from 10^9 s to the unit */
};

static size_t count_rates(const struct load_reports *all)
{
	size_t n = all->comparison ? all->comparison->n : all->items[0]->rates.n;

	return !all->comparison && n == 2 ? 1 : n; /* one script has the rate of all work */
}

static size_t count_rate_panels(const struct load_reports *all)
{
	size_t n = count_rates(all);

	return n < MOST_RATE_PANELS ? n : MOST_RATE_PANELS;
}

static void write_rate_panel(const struct load_reports *all, const struct rate_panel *p, struct plot *plot)
{
	_cleanup_(freep) char *name = p->rates[0]->script ? load_short_text(p->rates[0]->script, RATES_NAME)
							  : NULL;
	double low = INFINITY, high = -INFINITY, margin;

	/* What the y axis must reach: the rates and the intervals of their means. */
	for (size_t side = 0; side < all->n; side++) {
		const struct load_rate *rate = p->rates[side];

		low = fmin(low, fmin((double)rate->summary.min_ns, rate->interval.low_ns));
		high = fmax(high, fmax((double)rate->summary.max_ns, rate->interval.high_ns));
	}
	margin = fmax(0.1 * (high - low), 1e-3 * high);
	fprintf(plot->script, "set yrange [%.9g:%.9g]\n", (low - margin) * p->scale,
		(high + margin) * p->scale + (high > 0 ? 0 : 1));
	/* "edit ×4, repetitions a second" */
	fputs("set title ", plot->script);
	if (name)
		plot_quote_format(plot, "%s ×%" PRId64 ": repetitions per %s", name, p->rates[0]->slaves,
			p->unit->long_name);
	else
		plot_quote_format(plot, "all work: %s per %s",
			load_rates_in_shares(&all->items[0]->rates) ? "shares" : "repetitions",
			p->unit->long_name);
	fputs(" offset 0,-0.7\n", plot->script);
	fputs("unset object\nunset arrow\n", plot->script);
	for (size_t side = 0; side < all->n; side++) {
		const struct load_rate *rate = p->rates[side];

		/* The interval of the mean as a band, and the mean. */
		if (rate->summary.n > 1)
			fprintf(plot->script,
				"set object rectangle from graph 0,first %.9g to graph 1,first %.9g behind fc rgb '%s' fs transparent solid 0.13 noborder\n",
				rate->interval.low_ns * p->scale, rate->interval.high_ns * p->scale,
				rate_colours[side]);
		fprintf(plot->script,
			"set arrow from graph 0,first %.9g to graph 1,first %.9g nohead dt 2 lc rgb '%s'\n",
			rate->summary.mean_ns * p->scale, rate->summary.mean_ns * p->scale,
			rate_colours[side]);
	}
	for (size_t side = 0; side < all->n; side++) {
		const struct load_rate *rate = p->rates[side];
		int decimals = load_rate_decimals(rate, p->unit);
		int64_t run = all->items[side]->result.discarding.run.id;

		/* With the title "run 13: 12.26 ± 0.29". */
		fprintf(plot->script,
			"%s $rate%zu_%zu with linespoints pt 7 ps 0.8 lw 1.2 lc rgb '%s' title ",
			side ? "," : "plot", p->number, side, rate_colours[side]);
		if (rate->summary.n > 1)
			plot_quote_format(plot, "run %" PRId64 ": %.*f ± %.*f /%s", run, decimals,
				rate->summary.mean_ns * p->scale, decimals, rate->summary.sd_ns * p->scale,
				p->unit->name);
		else
			plot_quote_format(plot, "run %" PRId64 ": %.*f /%s", run, decimals,
				rate->summary.mean_ns * p->scale, p->unit->name);
	}
	fputc('\n', plot->script);
}

static void draw_rates(const void *subject, struct plot *plot)
{
	const struct load_reports *all = subject;
	const struct load_report *first = all->items[0];
	_cleanup_(freep) char *a = short_report_name(first, RATES_NAME);
	_cleanup_(freep) char *b = all->n > 1 ? short_report_name(all->items[1], RATES_NAME) : NULL;
	struct rate_panel panels[MOST_RATE_PANELS];
	size_t n = count_rate_panels(all);
	uint32_t last = 1;

	for (size_t i = 0; i < n; i++) {
		const struct load_comparison *c = all->comparison;
		struct rate_panel p = {.number = i};

		if (c) {
			p.rates[0] = c->items[i].a;
			p.rates[1] = c->items[i].b;
		} else {
			p.rates[0] = &all->items[0]->rates.items[i];
		}
		p.unit = load_unit_for(p.rates[0]->summary.mean_ns);
		p.scale = p.unit->seconds / 1e9;
		panels[i] = p;
		for (size_t side = 0; side < all->n; side++) {
			const struct load_report *report = all->items[side];

			fprintf(plot->script, "$rate%zu_%zu << EOD\n", panels[i].number, side);
			for (size_t k = 0; k < report->n_kept; k++)
				fprintf(plot->script, "%" PRIu32 " %.9g\n", report->kept[k].n,
					(double)panels[i].rates[side]->nano[k] / 1e9 *
						panels[i].unit->seconds);
			fputs("EOD\n", plot->script);
		}
	}
	fprintf(plot->script, "set multiplot layout %zu,1 title ", n);
	plot_quote_format(plot, "Rate of work of %s%s%s%s%s", a, b ? " and of " : "", b ?: "",
		first->n_kept > 1 ? "; bands: 95 % CI of the mean" : "",
		count_rates(all) > n ? "; the first scripts" : "");
	fputs("\nset lmargin 11\nset rmargin 30\nset key at graph 1.02,graph 1 left top Left reverse samplen 1.5\n",
		plot->script);
	/* the numbers of the runs, whole ones */
	for (size_t side = 0; side < all->n; side++) {
		const struct load_report *p = all->items[side];

		if (p->n_kept > 0 && p->kept[p->n_kept - 1].n > last)
			last = p->kept[p->n_kept - 1].n;
	}
	fprintf(plot->script, "set xrange [0.5:%" PRIu32 ".5]\n%s", last, last <= 40 ? "set xtics 1\n" : "");
	for (size_t i = 0; i < n; i++) {
		if (i + 1 == n)
			fputs("set xlabel 'run of the load'\n", plot->script);
		write_rate_panel(all, &panels[i], plot);
	}
	fputs("unset multiplot\n", plot->script);
}

struct drawing load_figure_rates(const struct load_reports *all)
{
	return (struct drawing){draw_rates, all, RATES_WIDTH,
		RATES_TOP + RATE_PANEL * (int)count_rate_panels(all) + RATE_PANEL / 4};
}

/* The timeline: a row for each worker, with its share of the work, what it repeated to keep the load constant, and the rest until
 * the end of the measurement. */

enum {
	TIMELINE_WIDTH = 1200,
	TIMELINE_MOST_HEIGHT = 1600,
	TIMELINE_ROW = 24,
	TIMELINE_KEY = 18,
	TIMELINE_AROUND = 110,
	TIMELINE_LABEL = 13,
	TIMELINE_NAME = 24,
	TIMELINE_TITLE = 60,
	MOST_RANKS = 60
};

/* By script, in turn. */
static const char *const script_colours[] = {
	"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#e6a000", "#8c564b", "#e377c2", "#17becf"};

/* The phases of a worker, each in a lighter shade. */
static const struct phase {
	const char *name;
	double shade;
} phases[] = {{"share of the work", 1}, {"further repetitions", 0.45}, {"until the meters stopped", 0.15}};

enum { SHARE, FURTHER, REST, N_PHASES };

/* The workers of one run. */
struct timeline {
	const struct load_report *report;
	const struct sample *sample;
	const struct sample_program *workers;
	size_t n, n_scripts;
};

static struct timeline timeline_of(const struct load_report *p, uint32_t sample)
{
	const struct run_result *r = &p->result;
	struct timeline t = {.report = p, .workers = p->parts, .n_scripts = p->rates.n - 1};
	const struct sample_program *end = p->parts + p->n_parts;

	for (size_t i = 0; i < r->n_samples; i++)
		if (r->samples[i].n == sample)
			t.sample = &r->samples[i];
	while (t.workers < end && t.workers->sample < sample)
		t.workers++;
	while (t.workers + t.n < end && t.workers[t.n].sample == sample)
		t.n++;
	return t;
}

static double seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

static size_t script_of(const struct timeline *t, size_t worker)
{
	const char *name = t->report->programs[t->workers[worker].program - 1].name;

	return (size_t)(load_rates_find(&t->report->rates, name) - t->report->rates.items) - 1;
}

/* x y x_low x_high y_low y_high: when a phase of each worker began and ended, since the release. */
static void write_boxes(const struct timeline *t, size_t script, size_t phase, struct plot *plot)
{
	bool constant = t->report->load.coordination == LOAD_CONSTANT;
	int64_t stop = t->sample->et_ns;

	fprintf(plot->script, "$s%zu_%zu << EOD\n", script, phase);
	for (size_t i = 0; i < t->n; i++) {
		const struct sample_program *w = &t->workers[i];
		int64_t start = w->start_ns - t->sample->start_ns;
		int64_t finished = w->finished_ns >= 0 && w->finished_ns < stop ? w->finished_ns : stop;
		int64_t last = constant && w->et_ns > finished && w->et_ns < stop ? w->et_ns : finished;
		int64_t at[N_PHASES + 1] = {start, finished, last, stop};

		if (script_of(t, i) == script && at[phase + 1] > at[phase])
			fprintf(plot->script, "%.9f %zu %.9f %.9f %.2f %.2f\n", seconds(at[phase]), i + 1,
				seconds(at[phase]), seconds(at[phase + 1]), (double)i + 0.65,
				(double)i + 1.35);
	}
	fputs("NaN NaN NaN NaN NaN NaN\nEOD\n", plot->script); /* an empty block is an error */
}

/* There is space for the key, too. */
static int timeline_height(const struct load_report *p)
{
	size_t scripts = p->rates.n - 1;
	size_t keys = (scripts < ELEMENTS(script_colours) ? scripts : ELEMENTS(script_colours)) + N_PHASES +
		      1;
	size_t rows = TIMELINE_ROW * p->n_programs, least = TIMELINE_KEY * keys;
	size_t height = TIMELINE_AROUND + (rows > least ? rows : least);

	return height < TIMELINE_MOST_HEIGHT ? (int)height : TIMELINE_MOST_HEIGHT;
}

static void draw_load_timeline(const void *subject, struct plot *plot)
{
	const struct load_reports *all = subject;
	struct timeline t = timeline_of(all->items[0], all->sample);
	_cleanup_(freep) char *name = short_report_name(t.report, TIMELINE_TITLE);

	plot_set(plot, "title", "When each slave worked: %s, run %" PRIu32 " of %zu of the load, %s, %s",
		name, t.sample->n, t.report->result.n_samples,
		coordination_names[t.report->load.coordination], text_duration(t.sample->et_ns));
	fprintf(plot->script,
		"set xlabel 'seconds since the release%s'\nset xrange [0:%.9g]\nset yrange [%zu.5:0.5]\n"
		"set grid noytics\nset key outside right top reverse Left samplen 2\n",
		t.n <= MOST_RANKS ? "; numbers: the order of finishing" : "",
		fmax(seconds(t.sample->et_ns), 1e-9), t.n);

	/* As many as can be read: "edit 2" for the second worker of the script edit; "compress" for an
	 * only one. */
	size_t most = (size_t)(timeline_height(t.report) - TIMELINE_AROUND) / TIMELINE_LABEL;

	fputs("set ytics (", plot->script);
	for (size_t i = 0; i < t.n; i += t.n / (most + 1) + 1) {
		size_t script = script_of(&t, i), number = 1;
		const struct load_rate *rate = &t.report->rates.items[script + 1];
		_cleanup_(freep) char *labels_name = load_short_text(rate->script, TIMELINE_NAME);

		for (size_t k = 0; k < i; k++)
			number += script_of(&t, k) == script;
		fputs(i ? ", " : "", plot->script);
		if (rate->slaves > 1)
			plot_quote_format(plot, "%s %zu", labels_name, number);
		else
			plot_quote(plot, labels_name);
		fprintf(plot->script, " %zu", i + 1);
	}
	fputs(") scale 0\n", plot->script);
	for (size_t script = 0; script < t.n_scripts; script++)
		for (size_t phase = 0; phase < N_PHASES; phase++)
			write_boxes(&t, script, phase, plot);
	/* In which place each worker finished. */
	for (size_t i = 0; i < t.n && t.n <= MOST_RANKS; i++) {
		size_t rank = 1;

		if (t.workers[i].finished_ns < 0)
			continue;
		for (size_t k = 0; k < t.n; k++)
			rank += t.workers[k].finished_ns < t.workers[i].finished_ns;
		fprintf(plot->script, "set label '%zu' at first %.9f,%zu left offset 0.4,0 font ',9' front\n",
			rank, seconds(t.workers[i].finished_ns), i + 1);
	}
	for (size_t script = 0; script < t.n_scripts; script++)
		for (size_t phase = 0; phase < N_PHASES; phase++) {
			/* Those of the first scripts are in the key; the rows of all have names. */
			fprintf(plot->script,
				"%s $s%zu_%zu using 1:2:3:4:5:6 with boxxyerror fs solid %.2f noborder lc rgb '%s' ",
				script + phase ? "," : "plot", script, phase, phases[phase].shade,
				script_colours[script % ELEMENTS(script_colours)]);
			if (phase == SHARE && script < ELEMENTS(script_colours)) {
				_cleanup_(freep) char *title = load_short_text(
					t.report->rates.items[script + 1].script, TIMELINE_NAME);

				fputs("title ", plot->script);
				plot_quote(plot, title);
			} else {
				fputs("notitle", plot->script);
			}
		}
	for (size_t phase = 0; phase < N_PHASES; phase++)
		if (phase != FURTHER || t.report->load.coordination == LOAD_CONSTANT)
			fprintf(plot->script,
				", NaN with boxes fs solid %.2f noborder lc rgb '#404040' title '%s'",
				phases[phase].shade, phases[phase].name);
	fputc('\n', plot->script);
}

struct drawing load_figure_timeline(const struct load_reports *all)
{
	return (struct drawing){draw_load_timeline, all, TIMELINE_WIDTH, timeline_height(all->items[0])};
}

/* The page waits of a load's workers, and the transfers of block devices, by their length: how many, and the time that they took
 * together. */

enum { WAITS_WIDTH = 1240, WAITS_HEIGHT = 700, WAITS_NAME = 60, MOST_EDGES = 20 };

static const struct wait_style {
	const char *title, *colour;
} wait_styles[N_PAGE_WAIT_KINDS] = {
	[PAGE_WAIT_SLAVE] = {"page waits of slaves", "#1f77b4"},
	[PAGE_WAIT_READ] = {"block reads", "#2ca02c"},
	[PAGE_WAIT_WRITE] = {"block writes", "#e6a000"},
};

/* Bars between edges of 1, 2 or 5 in a decade, which are edges of the bins that are recorded. */
struct wait_histogram {
	int64_t edges[MOST_EDGES]; /* the last bar has no upper edge */
	size_t n;
	struct wait_bar {
		int64_t count, total_ns;
	} bars[N_PAGE_WAIT_KINDS][MOST_EDGES];
	size_t first, last; /* that hold something */
	int64_t most;       /* the greatest count, at least 1 */
	bool drawn[N_PAGE_WAIT_KINDS];
	size_t n_drawn;
};

/* x x_low x_high count seconds; the bars of the kinds stand beside each other. */
static void write_wait_bars(
	const struct wait_histogram *h, enum page_wait_kind kind, size_t drawn_before, struct plot *plot)
{
	double width = 0.86 / (double)h->n_drawn, offset = 0.07 + width * (double)drawn_before;

	fprintf(plot->script, "$kind%d << EOD\n", kind);
	for (size_t i = h->first; i <= h->last; i++) {
		const struct wait_bar *bar = &h->bars[kind][i];
		double low = (double)i + offset;

		if (bar->count > 0)
			fprintf(plot->script, "%.3f %.3f %.3f %" PRId64 " %.9f\n", low + width / 2, low,
				low + width, bar->count, (double)bar->total_ns / 1e9);
	}
	fputs("EOD\n", plot->script);
}

static void write_wait_panel(const struct wait_histogram *h, int column, const char *base, struct plot *plot)
{
	const char *separator = "plot";

	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++) {
		if (!h->drawn[kind])
			continue;
		fprintf(plot->script,
			"%s $kind%d using 1:%d:2:3:(%s):%d with boxxyerror fs solid 0.9 noborder lc rgb '%s' title '%s'",
			separator, kind, column, base, column, wait_styles[kind].colour,
			wait_styles[kind].title);
		separator = ",";
	}
	fputc('\n', plot->script);
}

static void draw_page_waits(const void *subject, struct plot *plot)
{
	const struct load_reports *all = subject;
	const struct load_report *p = all->items[0];
	_cleanup_(freep) char *name = short_report_name(p, WAITS_NAME);

	size_t drawn = 0;
	static const int64_t steps[] = {1, 2, 5};
	struct wait_histogram h = {.first = MOST_EDGES, .most = 1};

	h.edges[h.n++] = 0;
	for (int64_t decade_ns = 10 * NS_PER_US; decade_ns <= NS_PER_S; decade_ns *= 10)
		for (size_t i = 0; i < ELEMENTS(steps) && h.n < MOST_EDGES; i++)
			h.edges[h.n++] = steps[i] * decade_ns;
	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++) {
		const struct page_wait_total *total = &p->page_wait_totals[kind];

		for (size_t i = 0; i < total->n_bins; i++) {
			const struct page_wait_bin *bin = &total->bins[i];
			struct wait_bar *bar;
			size_t k = h.n - 1;

			while (k > 0 && h.edges[k] > bin->low_ns)
				k--;
			bar = &h.bars[kind][k];
			bar->count = saturate_add(bar->count, bin->count);
			bar->total_ns = saturate_add(bar->total_ns, bin->total_ns);
			h.first = k < h.first ? k : h.first;
			h.last = k > h.last ? k : h.last;
			h.most = bar->count > h.most ? bar->count : h.most;
		}
		h.drawn[kind] = total->n_bins > 0;
		h.n_drawn += h.drawn[kind];
	}
	h.first = h.first < h.last ? h.first : h.last;

	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		if (h.drawn[kind])
			write_wait_bars(&h, kind, drawn++, plot);
	plot_set(plot, "multiplot layout 2,1 title",
		"What the slaves of %s waited for: %zu run%s of the load", name, p->n_kept,
		p->n_kept == 1 ? "" : "s");
	fprintf(plot->script, "set xrange [%zu:%zu]\nset xtics (", h.first, h.last + 1);
	for (size_t i = h.first; i <= h.last + 1 && i < h.n; i++) {
		int64_t edge = h.edges[i];
		int64_t unit_ns = edge >= NS_PER_S ? NS_PER_S : edge >= NS_PER_MS ? NS_PER_MS : NS_PER_US;

		fputs(i > h.first ? ", " : "", plot->script);
		if (edge == 0)
			plot_quote(plot, "0");
		else
			plot_quote_format(plot, "%" PRId64 " %s", edge / unit_ns,
				unit_ns == NS_PER_S    ? "s"
				: unit_ns == NS_PER_MS ? "ms"
						       : "us");
		fprintf(plot->script, " %zu", i);
	}
	fputs(")\n", plot->script);
	fputs("set lmargin 13\nset key top right\nset ylabel 'number'\nset logscale y\n", plot->script);
	fprintf(plot->script, "set yrange [0.5:%.9g]\n", 2 * (double)h.most);
	write_wait_panel(&h, 4, "0.5", plot);
	fputs("unset logscale y\nunset key\nset yrange [0:*]\nset format y '%.1s %cs'\nset ylabel 'total time'\nset xlabel 'length of a wait or transfer'\n",
		plot->script);
	write_wait_panel(&h, 5, "0", plot);
	fputs("unset multiplot\n", plot->script);
}

bool load_has_page_waits(const struct load_report *p)
{
	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		if (p->page_wait_totals[kind].n_bins > 0)
			return true;
	return false;
}

struct drawing load_figure_page_waits(const struct load_reports *all)
{
	return (struct drawing){draw_page_waits, all, WAITS_WIDTH, WAITS_HEIGHT};
}
