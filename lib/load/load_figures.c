/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data of the pictures: see load_figures.h. */
#include "lib/load/load_figures.h"

#include "lib/base/terminal.h"
#include "lib/report/plot.h"

/* The name of the load in a title, shortened; the caller frees it. */
static char *short_report_name(const struct load_report *p, size_t columns)
{
	_cleanup_(freep) char *name = load_report_name(p);

	return terminal_cut(name, columns);
}

/* The rate of work: a panel for all work and one for each script, with the mean and its
 * interval. */

enum { MOST_RATE_PANELS = 9, RATE_PANEL = 40, RATES_TOP = 6, RATES_NAME = 20 };

/* Of two loads, the scripts that both have. One script has the rate of all work. */
static size_t count_rates(const struct load_reports *all)
{
	size_t n = all->comparison ? all->comparison->n : all->items[0]->rates.n;

	return !all->comparison && n == 2 ? 1 : n;
}

static const struct load_rate *panel_rate(const struct load_reports *all, size_t panel, size_t side)
{
	const struct load_comparison *c = all->comparison;

	if (!c)
		return &all->items[0]->rates.items[panel];
	return side ? c->items[panel].b : c->items[panel].a;
}

static void write_panel_caption(
	const struct load_reports *all, size_t panel, const struct load_unit *unit, FILE *script)
{
	const struct load_rate *rate = panel_rate(all, panel, 0);
	bool in_shares = load_rates_in_shares(&all->items[0]->rates);
	_cleanup_(freep) char *name = NULL;

	if (rate->script) {
		name = terminal_cut(rate->script, RATES_NAME);
		plot_text(script, "captions", panel + 1, "%s ×%" PRId64 ": repetitions per %s",
			name, rate->workers, unit->long_name);
	} else {
		plot_text(script, "captions", panel + 1, "all work: %s per %s",
			in_shares ? "shares" : "repetitions", unit->long_name);
	}
}

/* The mean of one load, with its interval and its name. The n-th of all means. */
static void write_panel_mean(const struct load_rate *rate, int64_t run, size_t n,
	const struct load_unit *unit, FILE *script)
{
	double scale = unit->seconds / 1e9;

	fprintf(script, "means[%zu] = %.9g\n", n, rate->summary.mean_ns * scale);
	if (rate->summary.n > 1)
		fprintf(script, "ci_low[%zu] = %.9g\nci_high[%zu] = %.9g\n", n,
			rate->interval.low_ns * scale, n, rate->interval.high_ns * scale);
	else
		fprintf(script, "ci_low[%zu] = 1\nci_high[%zu] = 0\n", n, n);
	plot_text(script, "names", n, "run %" PRId64 ": %s /%s", run, load_rate_text(rate, unit),
		unit->name);
}

/* The panel of one script in one load or in two: its title, what its axis must reach, and of each
 * load the mean with its interval. */
static void write_rate_panel(const struct load_reports *all, size_t panel, FILE *script)
{
	const struct load_unit *unit = load_unit_for(panel_rate(all, panel, 0)->summary.mean_ns);
	double scale = unit->seconds / 1e9, low = INFINITY, high = -INFINITY, margin;
	struct axis shown = {.room = 6};

	write_panel_caption(all, panel, unit, script);
	for (size_t side = 0; side < all->n; side++) {
		const struct load_rate *rate = panel_rate(all, panel, side);
		int64_t run = all->items[side]->result.discarding.run.id;

		low = fmin(low, fmin((double)rate->summary.min_ns, rate->interval.low_ns));
		high = fmax(high, fmax((double)rate->summary.max_ns, rate->interval.high_ns));
		write_panel_mean(rate, run, panel * all->n + side + 1, unit, script);
	}

	margin = fmax(0.1 * (high - low), 1e-3 * high);
	shown.low = (low - margin) * scale;
	shown.high = (high + margin) * scale;
	if (!(high > 0))
		shown.high++;
	plot_axis(script, "rate", panel + 1, &shown);
	fprintf(script, "per[%zu] = %.9g\n", panel + 1, unit->seconds);
}

/* A block for each panel and load: the number of each run that counts, and its rate. */
static void write_rate_points(const struct load_reports *all, size_t panels, FILE *script)
{
	fputs("$rates << EOD\n", script);
	for (size_t i = 0; i < panels * all->n; i++) {
		const struct load_report *report = all->items[i % all->n];
		const struct load_rate *rate = panel_rate(all, i / all->n, i % all->n);

		for (size_t k = 0; k < report->n_kept; k++)
			fprintf(script, "%" PRIu32 " %.9g\n", report->kept[k].n,
				(double)rate->nano[k] / 1e9);
		fputs("\n\n", script);
	}
	fputs("EOD\n", script);
}

static void write_rates(const void *subject, FILE *script)
{
	const struct load_reports *all = subject;
	_cleanup_(freep) char *a = short_report_name(all->items[0], RATES_NAME);
	_cleanup_(freep) char *b = all->n > 1 ? short_report_name(all->items[1], RATES_NAME) : NULL;
	size_t n_rates = count_rates(all),
	       panels = n_rates < MOST_RATE_PANELS ? n_rates : MOST_RATE_PANELS;
	struct axis number = {.low = 0.5};
	uint32_t last = 1;

	plot_text(script, "heading", 0, "Rate of work of %s%s%s%s", a, b ? " and " : "", b ?: "",
		n_rates > panels ? "; the first scripts" : "");
	fprintf(script,
		"panels = %zu\nloads = %zu\narray captions[panels]\narray per[panels]\n"
		"array names[panels * loads]\narray means[panels * loads]\n"
		"array ci_low[panels * loads]\narray ci_high[panels * loads]\n",
		panels, all->n);
	plot_axes(script, "rate", panels);

	for (size_t side = 0; side < all->n; side++) {
		const struct load_report *p = all->items[side];

		if (p->n_kept > 0 && p->kept[p->n_kept - 1].n > last)
			last = p->kept[p->n_kept - 1].n;
	}
	number.high = last + 0.5;
	number.room = last < 11 ? last : 11;
	plot_axis(script, "number", 0, &number);

	for (size_t i = 0; i < panels; i++)
		write_rate_panel(all, i, script);
	write_rate_points(all, panels, script);
}

/* The timeline: a row for each worker, with its share of the work, what it repeated to keep the
 * load constant, and the rest until the end of the measurement. */

enum {
	/* in mm: */
	TIMELINE_MOST_HEIGHT = 240,
	TIMELINE_ROW = 4,
	TIMELINE_AROUND = 20,
	TIMELINE_LABEL = 3,
	/* columns: */
	TIMELINE_NAME = 16,
	TIMELINE_TITLE = 24,
	MOST_RANKS = 60,
	MOST_KEYS = 8, /* as many colours as plots/load-timeline.gp has */
	PHASES = 3
};

/* The workers of one run of the load. */
struct timeline {
	const struct load_report *report;
	const struct sample *sample;
	struct load_parts workers;
	int height; /* of the picture */
};

static size_t script_of(const struct timeline *t, size_t worker)
{
	const char *name = t->report->work.programs[t->workers.items[worker].program - 1].name;

	return (size_t)(load_rates_find(&t->report->rates, name) - t->report->rates.items) - 1;
}

/* script, phase, worker, begin and end since the release: when each phase of each worker was. */
static void write_phases(const struct timeline *t, FILE *script)
{
	bool constant = t->report->load.coordination == LOAD_CONSTANT;
	int64_t stop = t->sample->et_ns;

	fputs("$phases << EOD\n", script);
	for (size_t i = 0; i < t->workers.n; i++) {
		const struct sample_program *w = &t->workers.items[i];
		int64_t at[PHASES + 1] = {w->start_ns - t->sample->start_ns, stop, stop, stop};

		if (w->finished_ns >= 0 && w->finished_ns < stop)
			at[1] = w->finished_ns;
		at[2] = at[1];
		if (constant && w->et_ns > at[1] && w->et_ns < stop)
			at[2] = w->et_ns;

		for (size_t phase = 0; phase < PHASES; phase++)
			if (at[phase + 1] > at[phase])
				fprintf(script, "%zu %zu %zu %.9f %.9f\n", script_of(t, i) + 1,
					phase + 1, i + 1, (double)at[phase] / 1e9,
					(double)at[phase + 1] / 1e9);
	}
	fputs("EOD\n", script);
}

/* "edit 2" for the second worker of the script edit, "compress" for an only one. */
static void write_worker_label(const struct timeline *t, size_t worker, FILE *script)
{
	size_t of = script_of(t, worker), number = 1;
	const struct load_rate *rate = &t->report->rates.items[of + 1];
	_cleanup_(freep) char *name = terminal_cut(rate->script, TIMELINE_NAME);
	const char *label = name;

	for (size_t k = 0; k < worker; k++)
		number += script_of(t, k) == of;
	if (rate->workers > 1)
		label = text_brief("%s %zu", name, number);
	plot_tick_text(script, "labels", worker + 1, label);
}

/* In which place a worker finished, and when; 0: not known. */
static void write_worker_rank(const struct load_parts *workers, size_t worker, FILE *script)
{
	int64_t finished_ns = workers->items[worker].finished_ns;
	size_t rank = 1;

	for (size_t k = 0; k < workers->n; k++)
		rank += workers->items[k].finished_ns < finished_ns;
	fprintf(script, "ranks[%zu] = %zu\nfinished[%zu] = %.9f\n", worker + 1,
		finished_ns < 0 ? 0 : rank, worker + 1, (double)finished_ns / 1e9);
}

static void write_timeline(const void *subject, FILE *script)
{
	const struct timeline *t = subject;
	const struct load_rates *rates = &t->report->rates;
	_cleanup_(freep) char *name = short_report_name(t->report, TIMELINE_TITLE);
	size_t n = t->workers.n, n_scripts = rates->n - 1;
	size_t most_labels = (size_t)(t->height - TIMELINE_AROUND) / TIMELINE_LABEL;
	size_t step = n / (most_labels + 1) + 1; /* of the rows whose label can be read */
	struct axis time = {.high = fmax((double)t->sample->et_ns / 1e9, 1e-9), .room = 8};

	plot_text(script, "heading", 0, "%s: run %" PRIu32 " of %zu of the load", name,
		t->sample->n, t->report->result.n_samples);
	plot_text(script, "second_line", 0, "%s, %s",
		coordination_names[t->report->load.coordination], text_duration(t->sample->et_ns));
	fprintf(script,
		"n = %zu\nconstant = %d\nn_scripts = %zu\nn_keys = %zu\nranked = %d\nstep = %zu\n"
		"array labels[n]\narray ranks[n]\narray finished[n]\narray names[n_scripts]\n",
		n, t->report->load.coordination == LOAD_CONSTANT, n_scripts,
		n_scripts < MOST_KEYS ? n_scripts : MOST_KEYS, n <= MOST_RANKS, step);
	plot_axis(script, "time", 0, &time);

	for (size_t i = 0; i < n_scripts; i++) {
		const char *full = rates->items[i + 1].script;
		_cleanup_(freep) char *short_name = terminal_cut(full, TIMELINE_NAME);

		plot_text(script, "names", i + 1, "%s", short_name);
	}
	for (size_t i = 0; i < n; i++) {
		write_worker_label(t, i, script);
		write_worker_rank(&t->workers, i, script);
	}
	write_phases(t, script);
}

/* The page waits of a load's workers, and the transfers of block devices, by their length: how
 * many, and the time that they took together. */

enum { WAITS_HEIGHT = 96, WAITS_NAME = 24, MOST_EDGES = 20 };

/* Bars between edges of 1, 2 or 5 in a decade, which are edges of the bins that are recorded. */
struct wait_histogram {
	int64_t edges[MOST_EDGES]; /* the last bar has no upper edge */
	size_t n;
	struct wait_bar {
		int64_t count, total_ns;
	} bars[N_PAGE_WAIT_KINDS][MOST_EDGES];
	size_t first, last; /* that hold something */
	int64_t most;       /* the greatest count, at least 1 */
};

static void add_to_bar(struct wait_histogram *h, const struct page_wait_bin *bin)
{
	size_t k = h->n - 1;
	struct wait_bar *bar;

	while (k > 0 && h->edges[k] > bin->low_ns)
		k--;
	bar = &h->bars[bin->kind][k];
	bar->count = saturate_add(bar->count, bin->count);
	bar->total_ns = saturate_add(bar->total_ns, bin->total_ns);
	h->first = k < h->first ? k : h->first;
	h->last = k > h->last ? k : h->last;
	h->most = bar->count > h->most ? bar->count : h->most;
}

static void fill_histogram(struct wait_histogram *h, const struct load_report *p)
{
	static const int64_t steps[] = {1, 2, 5};

	h->edges[h->n++] = 0;
	for (int64_t decade_ns = 10 * NS_PER_US; decade_ns <= NS_PER_S; decade_ns *= 10)
		for (size_t i = 0; i < ELEMENTS(steps) && h->n < MOST_EDGES; i++)
			h->edges[h->n++] = steps[i] * decade_ns;

	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		for (size_t i = 0; i < p->page_wait_totals[kind].n_bins; i++)
			add_to_bar(h, &p->page_wait_totals[kind].bins[i]);
	h->first = h->first < h->last ? h->first : h->last;
}

/* A block for each kind that was measured: the bars, how many waits, and their time. */
static void write_wait_bars(
	const struct wait_histogram *h, const struct load_report *p, FILE *script)
{
	fputs("$bars << EOD\n", script);
	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++) {
		if (p->page_wait_totals[kind].n_bins == 0)
			continue;
		for (size_t i = h->first; i <= h->last; i++) {
			const struct wait_bar *bar = &h->bars[kind][i];

			if (bar->count > 0)
				fprintf(script, "%zu %" PRId64 " %.9f\n", i, bar->count,
					(double)bar->total_ns / 1e9);
		}
		fputs("\n\n", script);
	}
	fputs("EOD\n", script);
}

static void write_page_waits(const void *subject, FILE *script)
{
	const struct load_report *p = subject;
	_cleanup_(freep) char *name = short_report_name(p, WAITS_NAME);
	struct wait_histogram h = {.first = MOST_EDGES, .most = 1};
	struct axis count = {AXIS_LOGARITHMIC, false, 0.5, .room = 6};
	struct axis total = {.seconds = true, .high = 1e-9, .room = 6};
	size_t n_kinds = 0;

	fill_histogram(&h, p);
	plot_text(script, "heading", 0, "Page waits of %s: %s of the load", name,
		text_count(p->n_kept, "run"));
	fprintf(script, "first = %zu\nlast = %zu\narray edges[last + 1]\narray kinds[%d]\n",
		h.first, h.last + 1, N_PAGE_WAIT_KINDS);
	count.high = 2 * (double)h.most;
	plot_axis(script, "count", 0, &count);

	for (size_t i = h.first; i <= h.last + 1; i++) {
		int64_t edge = i < h.n ? h.edges[i] : -1;

		plot_text(script, "edges", i + 1, "%s",
			edge < 0 ? "" : text_brief("%g", (double)edge / NS_PER_MS));
	}

	write_wait_bars(&h, p, script);
	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		for (size_t i = h.first; i <= h.last; i++)
			total.high = fmax(
				total.high, 1.05 * (double)h.bars[kind][i].total_ns / 1e9);
	plot_axis(script, "total", 0, &total);

	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		if (p->page_wait_totals[kind].n_bins > 0)
			fprintf(script, "kinds[%zu] = %d\n", ++n_kinds, kind + 1);
	fprintf(script, "n_kinds = %zu\n", n_kinds);
}

/* That run of the load; 0: the last. NULL: there is none. */
static const struct sample *find_load_run(const struct run_result *result, int64_t n)
{
	const struct sample *found = NULL;

	for (size_t i = 0; i < result->n_samples; i++)
		if (n == 0 || result->samples[i].n == n)
			found = &result->samples[i];
	return found;
}

static int draw_timeline(
	const struct load_report *p, int64_t sample, const char *path, bool keep, struct error *err)
{
	struct timeline timeline = {.report = p, .height = TIMELINE_MOST_HEIGHT};
	size_t scripts = p->rates.n - 1,
	       keys = (scripts < MOST_KEYS ? scripts : MOST_KEYS) + PHASES + 1;
	double rows = TIMELINE_ROW * (double)p->work.n_programs,
	       height = plot_height(TIMELINE_AROUND + rows, keys);
	struct drawing drawing = {"load-timeline", write_timeline, &timeline};

	timeline.sample = find_load_run(&p->result, sample);
	if (!timeline.sample)
		return error_say(err, -ENOENT,
			"run %" PRId64 " has no run %" PRId64 " of the load; it has %zu",
			p->result.discarding.run.id, sample, p->result.n_samples);
	timeline.workers = load_parts_of(&p->work, timeline.sample->n);
	if (height < TIMELINE_MOST_HEIGHT)
		timeline.height = (int)height;
	drawing.height = (double)timeline.height;
	return plot_drawing(drawing, path, keep, err);
}

static int draw_rates(
	const struct load_reports *reports, const char *path, bool keep, struct error *err)
{
	size_t n_rates = count_rates(reports);
	int panels = n_rates < MOST_RATE_PANELS ? (int)n_rates : MOST_RATE_PANELS;
	double height = RATES_TOP + plot_height(RATE_PANEL, reports->n + 1) * panels;

	return plot_drawing(
		(struct drawing){"load-rates", write_rates, reports, height}, path, keep, err);
}

static int draw_page_waits(
	const struct load_report *p, const char *path, bool keep, struct error *err)
{
	const char *why = p->load.no_page_waits;
	size_t n_bins = 0;

	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		n_bins += p->page_wait_totals[kind].n_bins;
	if (n_bins == 0)
		return error_say(err, -ENODATA, "run %" PRId64 " has no page waits%s%s",
			p->result.discarding.run.id, why ? ": " : "", why ?: "");
	return plot_drawing((struct drawing){"load-page-waits", write_page_waits, p, WAITS_HEIGHT},
		path, keep, err);
}

int load_draw(const struct load_reports *reports, enum load_picture picture, int64_t sample,
	const char *path, bool script, struct error *err)
{
	if (picture == LOAD_TIMELINE)
		return draw_timeline(reports->items[0], sample, path, script, err);

	for (size_t i = 0; i < reports->n; i++)
		if (reports->items[i]->n_kept == 0)
			return error_say(err, -ENODATA,
				"run %" PRId64 " has nothing to draw: no run of the load counts",
				reports->items[i]->result.discarding.run.id);
	if (picture == LOAD_RATES)
		return draw_rates(reports, path, script, err);
	return draw_page_waits(reports->items[0], path, script, err);
}
