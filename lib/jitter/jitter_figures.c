/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of jitter runs: the distribution of lengths, what each source took before and after, and when the longest
 * interruptions were. */
#include "lib/jitter/jitter_run.h"

#include "lib/base/xalloc.h"
#include "lib/jitter/gap_statistics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 1200, HEIGHT = 650 };

/* Parzen densities (De et al., Figures 1, 4, 6 and 8): that of the gaps beside that of what the trace saw, or that of a run beside its
 * baseline. Both axes are logarithmic, and the Gaussians are on the logarithm of the length. The height is the number of
 * interruptions a second and decade of length, so that two curves compare. */
enum { STEPS = 900, MOST_PEAKS = 6 };

struct curve {
	struct density_point *points; /* of log10 of the length in seconds */
	size_t n;
	double bandwidth, seconds; /* sampled */
	double y[STEPS + 1];
};

struct densities {
	const struct jitter_run *run, *baseline;
	struct curve curves[2];
	double low, high;   /* of log10 of the length */
	double least, most; /* of the heights */
};

static void densities_clear(struct densities *p)
{
	free(p->curves[0].points);
	free(p->curves[1].points);
}

static void fill_curve(struct curve *c, const struct jitter_run *run, enum jitter_level level)
{
	c->seconds = (double)run->all.sampled_ns / 1e9;
	for (size_t i = 0; i < run->jitter.n_buckets; i++) {
		const struct jitter_bucket *b = &run->jitter.buckets[i];
		double mean_ns = (double)b->total_ns / (double)b->count;

		if (b->level == level && mean_ns > 0)
			*array_add(c->points, c->n) = (struct density_point){log10(mean_ns / 1e9),
				(double)b->count, log10((double)b->high_ns / fmax((double)b->low_ns, 1))};
	}
}

static double densities_at(const struct densities *p, int step)
{
	return p->low + (p->high - p->low) * step / STEPS;
}

static void densities_prepare(struct densities *p)
{
	struct curve *c = p->curves;

	fill_curve(&c[0], p->run, p->baseline ? JITTER_MASTER : JITTER_USER);
	fill_curve(&c[1], p->baseline ?: p->run, JITTER_MASTER);
	/* one for both, so that a difference of the curves is not one of bandwidths */
	c[0].bandwidth = c[1].bandwidth = density_bandwidth(c[0].points, c[0].n) ?: 0.02;
	/* the lengths of both, with a margin */
	p->low = INFINITY;
	p->high = -INFINITY;
	for (c = p->curves; c < p->curves + 2; c++)
		for (size_t i = 0; i < c->n; i++) {
			p->low = fmin(p->low, c->points[i].at);
			p->high = fmax(p->high, c->points[i].at);
		}
	if (p->low > p->high)
		p->low = p->high = -6;
	p->low -= 0.35;
	p->high += 0.35;
	/* The axis ends at a tenth of what a single interruption makes. */
	p->most = 0;
	p->least = INFINITY;
	for (struct curve *k = p->curves; k < p->curves + 2; k++) {
		double single = 1 / sqrt(2 * M_PI) / k->bandwidth / k->seconds;

		if (k->n > 0 && k->seconds > 0)
			p->least = fmin(p->least, single / 10);
		for (int i = 0; i <= STEPS; i++) {
			k->y[i] = k->n > 0 && k->seconds > 0
					  ? density_at(k->points, k->n, k->bandwidth, densities_at(p, i)) /
						    k->seconds
					  : 0;
			p->most = fmax(p->most, k->y[i]);
		}
	}
	if (p->most <= 0)
		p->most = 1;
	p->least = fmin(p->least, p->most / 10);
}

static void print_curve(const struct densities *p, int which, struct plot *plot)
{
	const struct curve *c = &p->curves[which];

	fprintf(plot->script, "$curve%d << EOD\n", which);
	for (int i = 0; i <= STEPS; i++)
		fprintf(plot->script, "%.6g %.6g\n", pow(10, densities_at(p, i)),
			fmax(c->y[i], p->least / 100));
	fputs("EOD\n", plot->script);
}

/* The source that has most of the interruptions of about that length, as the trace saw them. */
static const struct source *main_source(const struct densities *p, double length)
{
	const struct source *best = NULL;
	double most = 0;

	for (size_t s = 0; s < p->run->time.n; s++) {
		const struct source *source = p->run->time.rows[s].source;
		double n = 0;

		for (size_t i = 0; i < p->run->jitter.n_buckets; i++) {
			const struct jitter_bucket *b = &p->run->jitter.buckets[i];

			if (b->level == JITTER_TIME && b->source == source->id &&
				fabs(log10((double)b->total_ns / (double)b->count / 1e9) - length) <
					2 * p->curves[0].bandwidth)
				n += (double)b->count;
		}
		if (n > most) {
			most = n;
			best = source;
		}
	}
	return best;
}

static bool is_peak(const struct densities *p, const struct curve *c, int step)
{
	const double ALONE = 0.2; /* decades */
	int near = (int)(ALONE / (p->high - p->low) * STEPS);

	if (c->y[step] < 20 * p->least)
		return false;
	for (int i = step - near; i <= step + near; i++)
		if (i >= 0 && i <= STEPS && (c->y[i] > c->y[step] || (c->y[i] >= c->y[step] && i < step)))
			return false;
	return true;
}

/* The highest peak whose source has no name yet; -1: none. */
static int next_peak(
	const struct densities *p, const struct curve *c, const struct source *const *named, int n)
{
	int best = -1;

	for (int i = 0; i <= STEPS; i++) {
		const struct source *source = is_peak(p, c, i) ? main_source(p, densities_at(p, i)) : NULL;
		bool is_named = !source;

		for (int k = 0; k < n; k++)
			is_named |= named[k] == source;
		if (!is_named && (best < 0 || c->y[i] > c->y[best]))
			best = i;
	}
	return best;
}

static void draw_densities(const void *subject, struct plot *plot)
{
	const struct jitter_pair *pair = subject;
	_cleanup_(densities_clear) struct densities p = {.run = pair->run, .baseline = pair->baseline};
	_cleanup_(freep) char *what = NULL, *how = NULL;
	double h;
	const struct source *named[MOST_PEAKS] = {};
	int peak;

	densities_prepare(&p);
	h = p.curves[0].bandwidth;
	what = p.baseline ? text_format("Run %" PRId64 " and its baseline, run %" PRId64, p.run->run.id,
				    p.baseline->run.id)
			  : text_format("Interruptions of run %" PRId64, p.run->run.id);
	how = text_format(
		"Parzen densities, bandwidth %.3f decades (%s of the length; Botev, Grotowski and Kroese 2010)",
		h, text_percent(pow(10, h) - 1));
	printf("%s\n", how);
	fputs("set title ", plot->script);
	plot_quote(plot, what);
	fputs(" . \"\\n\" . ", plot->script);
	plot_quote(plot, how);
	fprintf(plot->script,
		"\nset logscale xy\nset xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\nset format y '%%g'\nset mxtics 10\n",
		pow(10, p.low), pow(10, p.high), p.least, p.most * 10);
	fputs("set xtics ('' 1e9", plot->script);
	for (int decade = (int)ceil(p.low); decade <= (int)floor(p.high); decade++)
		plot_tick(plot, "", pow(10, decade));
	fputs(")\nset xlabel 'length of an interruption'\nset ylabel 'interruptions per second and decade of length'\n"
	      "set key top right\n",
		plot->script);

	/* Each source has its name at the highest of its peaks, as the trace saw them. */
	const struct curve *c = &p.curves[p.baseline ? 0 : 1];

	for (int n = 0; n < MOST_PEAKS && (peak = next_peak(&p, c, named, n)) >= 0; n++) {
		_cleanup_(freep) char *name = NULL;

		named[n] = main_source(&p, densities_at(&p, peak));
		name = text_format("%.28s%s", named[n]->name, strlen(named[n]->name) > 28 ? "…" : "");
		fputs("set label ", plot->script);
		plot_quote(plot, name);
		fprintf(plot->script, " at first %.6g,%.6g offset 0,0.7 center font ',9' front\n",
			pow(10, densities_at(&p, peak)), c->y[peak]);
	}
	print_curve(&p, 0, plot);
	print_curve(&p, 1, plot);
	fprintf(plot->script,
		"plot $curve1 with filledcurves y1=%.6g fc rgb '#cfdff0' notitle, $curve1 with lines lw 1.5 lc rgb '#3366a0' title '%s', $curve0 with lines lw 1.5 lc rgb '#d62728' title '%s'\n",
		p.least, p.baseline ? "baseline, from the trace" : "master: from the trace",
		p.baseline ? "this run, from the trace" : "user level: gaps that the loop saw");
}

struct drawing jitter_densities(const struct jitter_pair *pair)
{
	return (struct drawing){draw_densities, pair, WIDTH, HEIGHT};
}

/* What each source took of the time, in one run and in another: a row each, on a logarithmic axis. */
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
	_cleanup_(freep) const struct jitter_change **all = xcalloc(changes->n, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < changes->n; i++)
		if (larger_share(&changes->items[i]) > 0)
			all[n++] = &changes->items[i];
	qsort(all, n, sizeof(*all), by_larger_share);
	n = n < MOST_ROWS ? n : MOST_ROWS;
	for (size_t i = 0; i < n; i++)
		rows[i] = all[i];
	return n;
}

static void draw_shares(const void *subject, struct plot *plot)
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

	/* Percent: before, after, and the band of the share after; what is 0 is at the left edge. */
	double edge = least / 10;

	fputs("$rows << EOD\n", plot->script);
	for (size_t i = 0; i < n; i++) {
		const struct jitter_change *c = rows[i];
		double before = 100 * c->before_share, after = fmax(100 * c->after_share, edge);

		fprintf(plot->script, "%zu %.6g %.6g %.6g %.6g\n", i, fmax(before, edge), after,
			before > 0 ? fmax(before * c->low, edge) : after,
			before > 0 ? fmax(fmin(before * c->high, most * 2), edge) : after);
	}
	fputs("EOD\n", plot->script);
	/* Names at the left, ratios at the right. */
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
				    : jitter_ratio_text(c->ratio),
			jitter_ratio_interval(c));
		fprintf(plot->script, " at graph 1.01,first %zu left font ',9'\n", i);
	}
	fputs("set label 'ratio (95 % CI)' at graph 1.01,first -0.8 left font ',9'\n", plot->script);
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
	return (struct drawing){draw_shares, pair, WIDTH, HEIGHT};
}

/* When the longest interruptions of a run were, how long, and by whom. */
enum { NAMED = 6, OTHER = NAMED, UNEXPLAINED, N_LOOKS };

static const char *const colours[N_LOOKS] = {
	"#d62728", "#e6a000", "#2ca02c", "#9467bd", "#8c564b", "#1f77b4", "#808080", "#202020"};

struct timeline {
	const struct jitter_run *run;
	uint32_t named[NAMED]; /* the sources with most of the time */
	size_t n_named;
	int64_t start_ns; /* of the run */
	size_t n[N_LOOKS];
};

static int64_t jitter_time_of(const struct jitter *jitter, uint32_t source)
{
	int64_t sum = 0;

	for (size_t i = 0; i < jitter->n_longest; i++)
		if (jitter->longest[i].source == source)
			sum += jitter->longest[i].length_ns;
	return sum;
}

static size_t look_of(const struct timeline *t, uint32_t source)
{
	if (!source)
		return UNEXPLAINED;
	for (size_t i = 0; i < t->n_named; i++)
		if (t->named[i] == source)
			return i;
	return OTHER;
}

static void choose_named(struct timeline *t)
{
	const struct jitter *jitter = &t->run->jitter;

	while (t->n_named < NAMED) {
		uint32_t best = 0;

		for (size_t i = 0; i < jitter->n_longest; i++) {
			uint32_t source = jitter->longest[i].source;

			if (source && source <= t->run->sources.n && look_of(t, source) == OTHER &&
				(!best || jitter_time_of(jitter, source) > jitter_time_of(jitter, best)))
				best = source;
		}
		if (!best)
			break;
		t->named[t->n_named++] = best;
	}
}

static void draw_timeline(const void *subject, struct plot *plot)
{
	const struct jitter_run *run = subject;
	struct timeline t = {.run = run, .start_ns = run->run.started_ns ?: INT64_MAX};
	bool first = true;

	for (size_t i = 0; i < run->jitter.n_longest; i++) /* the earliest moment that is known */
		if (run->jitter.longest[i].start_ns < t.start_ns)
			t.start_ns = run->jitter.longest[i].start_ns;
	plot_set(plot, "title", "The %zu longest interruptions of run %" PRId64, run->jitter.n_longest,
		run->run.id);
	fputs("set xlabel 'seconds since the start of the run'\nset ylabel 'length'\nset key outside right top reverse Left\n",
		plot->script);
	if (run->jitter.n_longest == 0) {
		fputs("set xrange [0:1]\nset yrange [0:1]\nplot 0 notitle\n", plot->script);
		return;
	}
	choose_named(&t);

	const struct jitter *jitter = &t.run->jitter;

	for (size_t look = 0; look < N_LOOKS; look++) {
		fprintf(plot->script, "$look%zu << EOD\n", look);
		for (size_t i = 0; i < jitter->n_longest; i++) {
			const struct interruption *x = &jitter->longest[i];

			if (look_of(&t, x->source) != look)
				continue;
			t.n[look]++;
			fprintf(plot->script, "%.9f %.9f\n", (double)(x->start_ns - t.start_ns) / 1e9,
				(double)x->length_ns / 1e9);
		}
		fputs("EOD\n", plot->script);
	}

	/* Lengths on a logarithmic axis, with units. */
	int64_t least = run->jitter.longest[run->jitter.n_longest - 1].length_ns,
		most = run->jitter.longest[0].length_ns;
	double low = fmax((double)least, 1) / 1e9 / 1.5, high = (double)most / 1e9 * 2;

	fprintf(plot->script, "set logscale y\nset yrange [%.6g:%.6g]\nset ytics ('' 1e9", low, high);
	for (int i = 0; i < 36; i++) {
		double tick = pow(10, i / 3 - 9) * (i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 5);

		if (tick >= low && tick <= high)
			plot_tick(plot, "", tick);
	}
	fputs(")\n", plot->script);
	for (size_t look = 0; look < N_LOOKS; look++)
		if (t.n[look] > 0) {
			const char *name = look == OTHER ? "others"
					   : look == UNEXPLAINED
						   ? "no event explains it"
						   : t.run->sources.items[t.named[look] - 1].name;
			_cleanup_(freep) char *title = text_format("%.40s (%zu)", name, t.n[look]);

			fprintf(plot->script,
				"%s $look%zu with impulses lw 1 lc rgb '%s' notitle, $look%zu with points pt 7 ps 0.6 lc rgb '%s' title ",
				first ? "plot" : ",", look, colours[look], look, colours[look]);
			plot_quote(plot, title);
			first = false;
		}
	fputc('\n', plot->script);
}

struct drawing jitter_timeline(const struct jitter_run *run)
{
	return (struct drawing){draw_timeline, run, WIDTH, HEIGHT};
}
