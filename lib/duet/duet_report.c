/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A duet as the book has it, on the screen and in JSON: see duet_report.h. */
#include "lib/duet/duet_report.h"

#include "lib/base/table.h"
#include "lib/base/terminal.h"

#include <assert.h>

/* Prices and shares below it are not worth a warning. */
static const double WORTH_A_WARNING = 0.05;

static const double BEYOND_DOUBT = 1.5; /* half intervals */

/* Above this half interval of the logarithm, that of the figure is far from symmetric. */
static const double WIDE = 0.25;

const char *const duet_doubt_sentences[] = {
	[DUET_SOUND] = "The duet is sound",
	[DUET_BIASED] = "The programs bias their duet (BIAS)",
	[DUET_CONTRADICTED] = "The programs alone do not confirm their duet",
	[DUET_TOO_SHORT] = "The programs are too short for a duet",
};

static int64_t count_switches(const struct run_result *r)
{
	int64_t n = 0;

	for (size_t i = 0; i < r->n_counters; i++) {
		const struct counters *c = &r->counters[i];

		if (!counters_know(c, COUNTER_VOLUNTARY) || !counters_know(c, COUNTER_INVOLUNTARY))
			return -1;
		n += c->value[COUNTER_VOLUNTARY] + c->value[COUNTER_INVOLUNTARY];
	}
	return r->n_counters > 0 ? n : -1;
}

int duet_report_load(struct book *book, int64_t run, const struct discard_rules *rules,
	const struct run_result *const *results, struct duet_report *ret, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report d = {};
	int r = book_duet(book, run, &d.rows, &d.n, err);

	if (r < 0 || d.n == 0)
		return r;
	d.programs = xcalloc(d.n, sizeof(*d.programs));
	d.costs = xcalloc(d.n, sizeof(*d.costs));
	d.results = xcalloc(d.n, sizeof(struct run_result *));
	d.loaded = xcalloc(d.n, sizeof(*d.loaded));
	for (size_t i = 0; i < d.n; i++) {
		const struct run_result *result = d.results[i] = results ? results[i]
									 : &d.loaded[i];
		struct duet_program *p = &d.programs[i];

		assert(result);
		r = results ? 0
			    : run_result_read(
				      book, d.rows[i].run, rules, RESULT_ALL, &d.loaded[i], err);
		if (r >= 0)
			r = book_rows(book, d.rows[i].run, &duet_sample_table, &p->together,
				&p->n_together, err);
		if (r >= 0)
			r = book_rows(book, d.rows[i].run, &duet_alone_table, &p->alone,
				&p->n_alone, err);
		if (r < 0)
			return r;
		p->samples = result->samples;
		p->out = result->discarding.out;
		p->n_samples = result->n_samples;
		p->switches = count_switches(result);
		d.costs[i] = duet_cost_of(p);
		d.cpu = result->discarding.run.cpu;
	}
	*ret = TAKE_STRUCT(d);
	return 1;
}

void duet_report_clear(struct duet_report *d)
{
	for (size_t i = 0; i < d->n && d->programs; i++) {
		free(d->programs[i].together);
		free(d->programs[i].alone);
		run_result_clear(&d->loaded[i]);
	}
	free(d->rows);
	free(d->programs);
	free(d->results);
	free(d->loaded);
	free(d->costs);
	*d = (struct duet_report){};
}

int duet_report_compare_by(const struct duet_report *d, size_t a, size_t b, bool alone,
	struct comparison *ret, struct error *err)
{
	struct comparison_side sides[2] = {};
	int r = 0;

	for (size_t i = 0; i < ELEMENTS(sides); i++) {
		const struct duet_program *p = &d->programs[i == 0 ? a : b];

		if (!alone)
			sides[i] = comparison_side_make(&d->results[i == 0 ? a : b]->discarding,
				p->samples, p->n_samples, COMPARISON_PT);
		for (size_t k = 0; alone && k < p->n_alone; k++)
			*array_add(sides[i].items, sides[i].n) = (struct comparison_time){
				p->alone[k].n, p->alone[k].start_ns, p->alone[k].pt_ns,
				p->alone[k].start_ns + p->alone[k].et_ns};
		sides[i].origin = (struct comparison_origin){.call = "this duet", .cpu = d->cpu};
	}
	if ((sides[0].n > 0 || sides[0].unmeasurable) && (sides[1].n > 0 || sides[1].unmeasurable))
		r = comparison_make(&sides[0], &sides[1], NULL, ret, err) ?: 1;
	comparison_side_clear(&sides[0]);
	comparison_side_clear(&sides[1]);
	return r;
}

int duet_report_compare(const struct duet_report *d, size_t a, size_t b, struct comparison *ret,
	enum duet_doubt *ret_doubt, struct error *err)
{
	struct comparison c;
	enum duet_doubt doubt = DUET_SOUND;
	int r = duet_report_compare_by(d, a, b, false, &c, err);

	if (r > 0 && c.design == DESIGN_DUET)
		doubt = duet_doubt_of(
			&d->costs[a], &d->costs[b], d->rows[0].slice_ns, &c.log_ratio);
	if (r > 0 && doubt != DUET_SOUND)
		r = duet_report_compare_by(d, a, b, true, &c, err);
	if (r < 0)
		return r;
	*ret_doubt = doubt;
	if (r > 0)
		*ret = c;
	return r;
}

/* So many decimals, and no "-0". */
static double rounded(double value, int decimals)
{
	double scale = decimals ? 10 : 1;

	return round(value * scale) / scale + 0.0;
}

/* "4.1 ± 2.0 %", "-20 … 160 %" if the interval is wide, "4.1 %", "-". */
static struct cell estimate_cell(struct duet_estimate e)
{
	double percent = 100 * expm1(e.log), half = 100 * e.half * exp(e.log);
	double low = expm1(e.log - e.half), high = expm1(e.log + e.half);
	int decimals = half >= 1 ? 0 : 1;
	const char *text;

	if (isnan(half))
		text = text_brief("%.1f %%", rounded(percent, 1));
	else if (e.half > WIDE)
		text = text_brief("%.0f … %.0f %%", rounded(100 * low, 0), rounded(100 * high, 0));
	else
		text = text_brief(
			"%.*f ± %.*f %%", decimals, rounded(percent, decimals), decimals, half);
	if (isnan(e.log))
		return TEXT(NULL);
	return VALUE(json_pack("{s:f, s:o}", "share", expm1(e.log), "interval",
			     json_interval(low, high)),
		text);
}

static struct table *list_costs(const struct duet_report *d, const char *const *names)
{
	static const struct column columns[] = {
		{NULL, COLUMN_TEXT, "run"},
		{"PROGRAM", COLUMN_WRAP, "command"},
		{"PT ALONE", COLUMN_NUMBER, "pt_alone_ns"},
		{"IN DUET", COLUMN_NUMBER, "pt_ns"},
		{"PRICE", COLUMN_NUMBER, "price"},
		{"BIAS", COLUMN_NUMBER, "bias"},
		{"LEFT OVER", COLUMN_NUMBER, "left_over"},
		{NULL, COLUMN_TEXT, "slice_ns"},
		{},
	};
	struct table *list = table_new(columns);

	for (size_t i = 0; i < d->n; i++) {
		const struct duet_cost *c = &d->costs[i];

		table_row(list, columns, NUMBER(d->rows[i].run), TEXT(names[i]),
			TIME(isnan(c->alone_ns) ? -1 : (int64_t)c->alone_ns),
			TIME(isnan(c->together_ns) ? -1 : (int64_t)c->together_ns),
			estimate_cell(c->price),
			i == 0 ? TEXT(NULL) : estimate_cell(duet_bias(&d->costs[0], c)),
			VALUE(json_real_or_null(c->last),
				isnan(c->last) ? "-" : text_brief("%.0f %%", 100 * c->last)),
			TIME(isnan(c->slice_ns) ? -1 : (int64_t)c->slice_ns));
	}
	return list;
}

/* Of all programs; NAN: not known. */
static double mean_slice(const struct duet_report *d)
{
	double sum = 0;

	for (size_t i = 0; i < d->n; i++)
		sum += d->costs[i].slice_ns;
	return d->n > 0 ? sum / (double)d->n : NAN;
}

static void warn(FILE *file, const char *text)
{
	fprintf(file, "  %sWarning:", terminal_mark(file, MARK_WARN));
	terminal_wrap(file, text, strlen("  Warning:"), 4);
	fputs(terminal_mark(file, MARK_END), file);
}

/* Few runs alone do not show how much they vary: mostly more than the samples of the duet, of which
 * the interval is made. So a bias must be beyond doubt. */
static void print_price_warning(FILE *file, const struct duet_report *d)
{
	int64_t better = duet_suggest_slice(d->rows[0].slice_ns, d->costs, d->n);
	bool dear = false, biased = false, costly = false;
	const char *slice = "try --order interleave";

	for (size_t i = 0; i < d->n; i++) {
		struct duet_estimate price = d->costs[i].price,
				     bias = duet_bias(&d->costs[0], &d->costs[i]);

		costly |= price.log > price.half;
		dear |= price.log - price.half > WORTH_A_WARNING;
		biased |= i > 0 && fabs(bias.log) > BEYOND_DOUBT * bias.half;
	}
	if (!dear && !(biased && costly)) /* programs that took longer alone have no price to pay */
		return;
	if (better)
		slice = text_brief("try --slice %lldms", (long long)(better / NS_PER_MS));
	warn(file,
		text_brief("sharing caches %s; %s",
			biased ? "biases the ratio (BIAS)" : "may bias the ratio (PRICE)", slice));
}

/* By how much the pairs vary less than if they had been taken in turn: the mean logarithm of the
 * ratio of both sd; NAN: not known. */
static double mean_log_gain(const struct comparison *comparisons, size_t n)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 1; comparisons && i < n; i++) {
		const struct log_ratio *l = &comparisons[i].log_ratio;

		if (comparisons[i].a.n == 0 || comparisons[i].design != DESIGN_DUET)
			continue;
		if (!(l->sd > 0) || !(l->neighbours_sd > 0))
			continue;
		sum += log(l->neighbours_sd / l->sd);
		known++;
	}
	return known > 0 ? sum / (double)known : NAN;
}

/* That a program ran alone for long, and that slices are longer than requested. */
static void print_slice_warnings(FILE *file, const struct duet_report *d, double slice)
{
	double last = 0;

	for (size_t i = 0; i < d->n; i++)
		last = fmax(last, d->costs[i].last);
	if (last > 2 * WORTH_A_WARNING)
		warn(file, text_brief("the longest program ran alone for %.0f %% of its time; try "
				      "--repeat",
				   100 * last));
	if (slice > 2 * (double)d->rows[0].slice_ns && !d->rows[0].frozen)
		warn(file, "the slices are longer than requested; try --slices-by freezer");
}

void duet_report_print(FILE *file, const struct duet_report *d, const char *const *names,
	const struct comparison *comparisons)
{
	_cleanup_(table_freep) struct table *list = list_costs(d, names);
	double slice = mean_slice(d), gain = mean_log_gain(comparisons, d->n);
	const char *mean = "";

	if (!isnan(slice))
		mean = text_brief(", mean %s", text_precise(slice, slice / 10));
	terminal_wrap(file,
		text_brief("Duet on CPU %d, slices by the %s: %s requested%s", d->cpu,
			d->rows[0].frozen ? "freezer" : "scheduler",
			text_duration(d->rows[0].slice_ns), mean),
		0, 2);
	if (!isnan(gain))
		fprintf(file,
			"  Interval of the ratio: %.1f times %s than with --order interleave\n",
			exp(fabs(gain)), gain < 0 ? "wider" : "narrower");
	table_print(list, file);
	print_price_warning(file, d);
	print_slice_warnings(file, d, slice);
}

json_t *duet_report_as_json(const struct duet_report *d, const char *const *names)
{
	_cleanup_(table_freep) struct table *list = list_costs(d, names);
	int64_t better = duet_suggest_slice(d->rows[0].slice_ns, d->costs, d->n);
	double slice = mean_slice(d);

	return JSON_OBJECT({"slices_by", json_text(d->rows[0].frozen ? "freezer" : "scheduler")},
		{"cpu", json_integer(d->cpu)}, {"slice_ns", json_integer(d->rows[0].slice_ns)},
		{"mean_slice_ns", isnan(slice) ? json_null() : json_integer((json_int_t)slice)},
		{"suggested_slice_ns", json_int_if(better > 0, better)},
		{"programs", table_json(list)});
}
