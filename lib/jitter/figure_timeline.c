/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When the longest interruptions of a run were, how long, and by whom. */
#include "lib/jitter/jitter_show.h"

#include "lib/base/text.h"

#include <inttypes.h>
#include <math.h>

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

static int64_t time_of(const struct jitter *jitter, uint32_t source)
{
	int64_t sum = 0;

	for (size_t i = 0; i < jitter->n_longest; i++)
		if (jitter->longest[i].source == source)
			sum += jitter->longest[i].length_ns;
	return sum;
}

static bool is_named(const struct timeline *t, uint32_t source)
{
	for (size_t i = 0; i < t->n_named; i++)
		if (t->named[i] == source)
			return true;
	return false;
}

static void choose(struct timeline *t)
{
	const struct jitter *jitter = &t->run->jitter;

	while (t->n_named < NAMED) {
		uint32_t best = 0;

		for (size_t i = 0; i < jitter->n_longest; i++) {
			uint32_t source = jitter->longest[i].source;

			if (source && source <= t->run->sources.n && !is_named(t, source) &&
				(!best || time_of(jitter, source) > time_of(jitter, best)))
				best = source;
		}
		if (!best)
			break;
		t->named[t->n_named++] = best;
	}
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

static void print_data(struct timeline *t, struct plot *plot)
{
	const struct jitter *jitter = &t->run->jitter;

	for (size_t look = 0; look < N_LOOKS; look++) {
		fprintf(plot->script, "$look%zu << EOD\n", look);
		for (size_t i = 0; i < jitter->n_longest; i++) {
			const struct interruption *x = &jitter->longest[i];

			if (look_of(t, x->source) != look)
				continue;
			t->n[look]++;
			fprintf(plot->script, "%.9f %.9f\n", (double)(x->start_ns - t->start_ns) / 1e9,
				(double)x->length_ns / 1e9);
		}
		fputs("EOD\n", plot->script);
	}
}

static void print_look(const struct timeline *t, size_t look, bool first, struct plot *plot)
{
	const char *name = look == OTHER         ? "others"
			   : look == UNEXPLAINED ? "no event explains it"
						 : t->run->sources.items[t->named[look] - 1].name;
	_cleanup_(freep) char *title = text_format("%.40s (%zu)", name, t->n[look]);

	fprintf(plot->script,
		"%s $look%zu with impulses lw 1 lc rgb '%s' notitle, $look%zu with points pt 7 ps 0.6 lc rgb '%s' title ",
		first ? "plot" : ",", look, colours[look], look, colours[look]);
	plot_quote(plot, title ?: "");
}

/* The earliest moment that is known. */
static int64_t start_of(const struct jitter_run *run)
{
	int64_t start_ns = run->run.started_ns ?: INT64_MAX;

	for (size_t i = 0; i < run->jitter.n_longest; i++)
		if (run->jitter.longest[i].start_ns < start_ns)
			start_ns = run->jitter.longest[i].start_ns;
	return start_ns;
}

/* Lengths on a logarithmic axis, with units. */
static void print_axis(const struct jitter *jitter, struct plot *plot)
{
	int64_t least = jitter->longest[jitter->n_longest - 1].length_ns, most = jitter->longest[0].length_ns;
	double low = fmax((double)least, 1) / 1e9 / 1.5, high = (double)most / 1e9 * 2;

	fprintf(plot->script, "set logscale y\nset yrange [%.6g:%.6g]\nset ytics ('' 1e9", low, high);
	for (int i = 0; i < 36; i++) {
		double tick = pow(10, i / 3 - 9) * (i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 5);

		if (tick >= low && tick <= high)
			plot_tick(plot, "", tick);
	}
	fputs(")\n", plot->script);
}

static void draw(const void *subject, struct plot *plot)
{
	const struct jitter_run *run = subject;
	struct timeline t = {.run = run, .start_ns = start_of(run)};
	bool first = true;

	plot_set(plot, "title", "The %zu longest interruptions of run %" PRId64, run->jitter.n_longest,
		run->run.id);
	fputs("set xlabel 'seconds since the start of the run'\nset ylabel 'length'\nset key outside right top reverse Left\n",
		plot->script);
	if (run->jitter.n_longest == 0) {
		fputs("set xrange [0:1]\nset yrange [0:1]\nplot 0 notitle\n", plot->script);
		return;
	}
	choose(&t);
	print_data(&t, plot);
	print_axis(&run->jitter, plot);
	for (size_t look = 0; look < N_LOOKS; look++)
		if (t.n[look] > 0) {
			print_look(&t, look, first, plot);
			first = false;
		}
	fputc('\n', plot->script);
}

struct drawing jitter_timeline(const struct jitter_run *run)
{
	return (struct drawing){draw, run, JITTER_WIDTH, JITTER_HEIGHT};
}
