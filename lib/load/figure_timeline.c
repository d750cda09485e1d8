/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When each slave of a load worked in one of its runs: a row for each slave, with its share of the work, what it repeated
 * to keep the load constant, and the rest until the meters stopped. */
#include "lib/load/load_show.h"

#include "lib/base/text.h"

#include <inttypes.h>
#include <math.h>

enum {
	WIDTH = 1200,
	MOST_HEIGHT = 1600,
	ROW = 24,
	KEY = 18,
	AROUND = 110,
	LABEL = 13,
	NAME = 24,
	TITLE = 60,
	MOST_RANKS = 60
};

/* By script, in turn. */
static const char *const colours[] = {
	"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#e6a000", "#8c564b", "#e377c2", "#17becf"};

/* The phases of a slave, each in a lighter shade. */
static const struct phase {
	const char *name;
	double shade;
} phases[] = {{"share of the work", 1}, {"further repetitions", 0.45}, {"until the meters stopped", 0.15}};

enum { SHARE, FURTHER, REST, N_PHASES };

/* The slaves of one run. */
struct timeline {
	const struct load_report *report;
	const struct sample *sample;
	const struct sample_program *slaves;
	size_t n;
};

static struct timeline timeline_of(const struct load_report *p, uint32_t sample)
{
	const struct run_result *r = &p->result;
	struct timeline t = {.report = p};
	size_t first = 0;

	for (size_t i = 0; i < r->n_samples; i++)
		if (r->samples[i].n == sample)
			t.sample = &r->samples[i];
	while (first < p->n_parts && p->parts[first].sample < sample)
		first++;
	t.slaves = p->parts + first;
	while (first + t.n < p->n_parts && t.slaves[t.n].sample == sample)
		t.n++;
	return t;
}

static double seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

/* When a phase of a slave began and ended, since the release. */
static void find_phase(const struct timeline *t, const struct sample_program *s, size_t phase, int64_t ret[2])
{
	bool constant = t->report->load.coordination == LOAD_CONSTANT;
	int64_t stop = t->sample->et_ns, start = s->start_ns - t->sample->start_ns;
	int64_t finished = s->finished_ns >= 0 && s->finished_ns < stop ? s->finished_ns : stop;
	int64_t last = constant && s->et_ns > finished && s->et_ns < stop ? s->et_ns : finished;
	int64_t at[N_PHASES + 1] = {start, finished, last, stop};

	ret[0] = at[phase];
	ret[1] = at[phase + 1];
}

static size_t script_of(const struct timeline *t, const struct sample_program *s)
{
	const char *name = t->report->programs[s->program - 1].name;

	return (size_t)(load_rates_find(&t->report->rates, name) - t->report->rates.items) - 1;
}

static size_t count_scripts(const struct timeline *t)
{
	return t->report->rates.n - 1;
}

/* x y x_low x_high y_low y_high */
static void print_boxes(const struct timeline *t, size_t script, size_t phase, struct plot *plot)
{
	fprintf(plot->script, "$s%zu_%zu << EOD\n", script, phase);
	for (size_t i = 0; i < t->n; i++) {
		int64_t from_to[2];

		if (script_of(t, &t->slaves[i]) != script)
			continue;
		find_phase(t, &t->slaves[i], phase, from_to);
		if (from_to[1] > from_to[0])
			fprintf(plot->script, "%.9f %zu %.9f %.9f %.2f %.2f\n", seconds(from_to[0]), i + 1,
				seconds(from_to[0]), seconds(from_to[1]), (double)i + 0.65, (double)i + 1.35);
	}
	fputs("NaN NaN NaN NaN NaN NaN\nEOD\n", plot->script); /* an empty block is an error */
}

/* "edit 2" for the second slave of the script edit; "compress" for an only one. */
static void print_label(const struct timeline *t, size_t slave, struct plot *plot)
{
	const struct sample_program *s = &t->slaves[slave];
	const struct load_rate *rate = &t->report->rates.items[script_of(t, s) + 1];
	_cleanup_(freep) char *name = load_short_text(rate->script, NAME), *label = NULL;
	size_t before = 0;

	for (size_t i = 0; i < slave; i++)
		before += script_of(t, &t->slaves[i]) == script_of(t, s);
	if (rate->slaves > 1)
		label = text_format("%s %zu", name ?: "", before + 1);
	plot_quote(plot, label ?: name ?: "");
	fprintf(plot->script, " %zu", slave + 1);
}

/* There is space for the key, too. */
static int height_of(const struct load_report *p)
{
	size_t keys = (p->rates.n - 1 < ELEMENTS(colours) ? p->rates.n - 1 : ELEMENTS(colours)) + N_PHASES +
		      1;
	size_t rows = ROW * p->n_programs, least = KEY * keys,
	       height = AROUND + (rows > least ? rows : least);

	return height < MOST_HEIGHT ? (int)height : MOST_HEIGHT;
}

/* As many as can be read. */
static void print_labels(const struct timeline *t, struct plot *plot)
{
	size_t most = (size_t)(height_of(t->report) - AROUND) / LABEL, step = t->n / (most + 1) + 1;

	fputs("set ytics (", plot->script);
	for (size_t i = 0; i < t->n; i += step) {
		fputs(i ? ", " : "", plot->script);
		print_label(t, i, plot);
	}
	fputs(") scale 0\n", plot->script);
}

/* Who had finished how many before it, from 1. */
static size_t rank_of(const struct timeline *t, size_t slave)
{
	size_t rank = 1;

	for (size_t i = 0; i < t->n; i++)
		rank += t->slaves[i].finished_ns < t->slaves[slave].finished_ns;
	return rank;
}

static void print_ranks(const struct timeline *t, struct plot *plot)
{
	for (size_t i = 0; i < t->n && t->n <= MOST_RANKS; i++)
		if (t->slaves[i].finished_ns >= 0)
			fprintf(plot->script,
				"set label '%zu' at first %.9f,%zu left offset 0.4,0 font ',9' front\n",
				rank_of(t, i), seconds(t->slaves[i].finished_ns), i + 1);
}

static void print_title(const struct timeline *t, struct plot *plot)
{
	_cleanup_(freep) char *whole = load_report_name(t->report);
	_cleanup_(freep) char *name = whole ? load_short_text(whole, TITLE) : NULL;
	char time[TEXT_TIME_SIZE];

	plot_set(plot, "title", "When each slave worked: %s, run %" PRIu32 " of %zu of the load, %s, %s",
		name ?: "", t->sample->n, t->report->result.n_samples,
		coordination_names[t->report->load.coordination], text_duration(time, t->sample->et_ns));
	fprintf(plot->script,
		"set xlabel 'seconds since the release%s'\nset xrange [0:%.9g]\nset yrange [%zu.5:0.5]\n"
		"set grid noytics\nset key outside right top reverse Left samplen 2\n",
		t->n <= MOST_RANKS ? "; numbers: the order of finishing" : "",
		fmax(seconds(t->sample->et_ns), 1e-9), t->n);
}

static void print_script_key(const struct timeline *t, size_t script, struct plot *plot)
{
	_cleanup_(freep) char *title = load_short_text(t->report->rates.items[script + 1].script, NAME);

	if (script >= ELEMENTS(colours)) { /* its rows have names */
		fputs("notitle", plot->script);
		return;
	}
	fputs("title ", plot->script);
	plot_quote(plot, title ?: "");
}

static void print_phase(const struct timeline *t, size_t script, size_t phase, struct plot *plot)
{
	fprintf(plot->script,
		"%s $s%zu_%zu using 1:2:3:4:5:6 with boxxyerror fs solid %.2f noborder lc rgb '%s' ",
		script + phase ? "," : "plot", script, phase, phases[phase].shade,
		colours[script % ELEMENTS(colours)]);
	if (phase == SHARE)
		print_script_key(t, script, plot);
	else
		fputs("notitle", plot->script);
}

static void draw(const void *subject, struct plot *plot)
{
	const struct load_reports *all = subject;
	struct timeline t = timeline_of(all->items[0], all->sample);

	print_title(&t, plot);
	print_labels(&t, plot);
	for (size_t script = 0; script < count_scripts(&t); script++)
		for (size_t phase = 0; phase < N_PHASES; phase++)
			print_boxes(&t, script, phase, plot);
	print_ranks(&t, plot);
	for (size_t script = 0; script < count_scripts(&t); script++)
		for (size_t phase = 0; phase < N_PHASES; phase++)
			print_phase(&t, script, phase, plot);
	for (size_t phase = 0; phase < N_PHASES; phase++)
		if (phase != FURTHER || t.report->load.coordination == LOAD_CONSTANT)
			fprintf(plot->script,
				", NaN with boxes fs solid %.2f noborder lc rgb '#404040' title '%s'",
				phases[phase].shade, phases[phase].name);
	fputc('\n', plot->script);
}

struct drawing load_figure_timeline(const struct load_reports *all)
{
	const struct load_report *p = all->items[0];

	return (struct drawing){draw, all, WIDTH, height_of(p)};
}
