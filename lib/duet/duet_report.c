/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A duet as the book has it, on the screen and in JSON: see duet_report.h. */
#include "lib/duet/duet_report.h"

#include "lib/base/table.h"
#include "lib/base/terminal.h"
#include "lib/host/process/alternation.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>

/* The chance that runs alone seem to disagree with their duet although they agree; and how many of
 * them it takes to tell. */
static const double DISAGREES = 0.01;
enum { LEAST_ALONE = 3 };

/* A share of ET in which the last program to end ran alone. */
static const double LONG_ALONE = 0.1;

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
		p->row = &d.rows[i];
		d.cpu = result->discarding.run.cpu;
	}
	duet_costs_of(d.programs, d.n, d.costs);
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

unsigned duet_report_clocks(const struct duet_report *d, unsigned asked)
{
	if (d->rows[0].cpus == 0)
		return COMPARE_PT;
	return asked == COMPARE_DEFAULT ? COMPARE_BOTH : asked;
}

/* Two programs of a duet, by one clock. */
struct duet_pair {
	const struct duet_report *duet;
	size_t a, b;
	enum comparison_clock clock;
};

/* shared: of a and b, as in struct comparison_side. */
static int compare_in_pairs(const struct duet_pair *pair, const double shared[2],
	struct comparison *ret, struct error *err)
{
	const struct duet_report *d = pair->duet;
	struct comparison_side sides[2] = {};
	int r = 0;

	for (size_t i = 0; i < ELEMENTS(sides); i++) {
		size_t k = i == 0 ? pair->a : pair->b;
		const struct duet_program *p = &d->programs[k];

		sides[i] = comparison_side_make(
			&d->results[k]->discarding, p->samples, p->n_samples, pair->clock);
		sides[i].shared = shared[i];
		sides[i].origin = (struct comparison_origin){.call = "this duet", .cpu = d->cpu};
	}
	if ((sides[0].n > 0 || sides[0].unmeasurable) && (sides[1].n > 0 || sides[1].unmeasurable))
		r = comparison_make(&sides[0], &sides[1], NULL, ret, err) ?: 1;
	comparison_side_clear(&sides[0]);
	comparison_side_clear(&sides[1]);
	return r;
}

int duet_report_compare_pairs(const struct duet_report *d, size_t a, size_t b,
	enum comparison_clock clock, struct comparison *ret, struct error *err)
{
	const double nothing[2] = {};

	return compare_in_pairs(&(struct duet_pair){d, a, b, clock}, nothing, ret, err);
}

/* Taken in turn, one of each program at a time. */
static int compare_alone(const struct duet_pair *pair, struct comparison *ret, struct error *err)
{
	const struct duet_report *d = pair->duet;
	bool et = pair->clock == COMPARISON_ET;
	struct comparison_side sides[2] = {};
	int r;

	for (size_t i = 0; i < ELEMENTS(sides); i++) {
		const struct duet_program *p = &d->programs[i == 0 ? pair->a : pair->b];

		sides[i].clock = pair->clock;
		for (size_t k = 0; k < p->n_alone; k++)
			*array_add(sides[i].items, sides[i].n) = (struct comparison_time){
				p->alone[k].n, p->alone[k].start_ns,
				et ? p->alone[k].et_ns : p->alone[k].pt_ns,
				p->alone[k].start_ns + p->alone[k].et_ns};
		sides[i].origin = (struct comparison_origin){.call = "this duet", .cpu = d->cpu};
	}
	r = comparison_make(&sides[0], &sides[1], NULL, ret, err);
	ret->of_runs_alone = r >= 0;
	comparison_side_clear(&sides[0]);
	comparison_side_clear(&sides[1]);
	return r < 0 ? r : 1;
}

/* By how much sharing would have to have made a's or b's time longer to explain the ratio of the
 * runs alone, and all that their interval has; both 0: they do not disagree with the duet beyond
 * doubt. */
static void find_disagreement(
	const struct comparison *duet, const struct comparison *alone, double ret_shared[2])
{
	const struct log_ratio *l = &duet->log_ratio, *of_alone = &alone->log_ratio;
	double off = of_alone->mean - l->mean, se = hypot(l->se, of_alone->se);
	double shared = off > 0 ? duet->shared_a : duet->shared_b;
	double df = pow(se, 4) / (pow(l->se, 4) / l->df + pow(of_alone->se, 4) / of_alone->df);
	double reach = fabs(off) + log_ratio_half(of_alone, duet->alpha);

	ret_shared[0] = ret_shared[1] = 0;
	if (gsl_cdf_tdist_Q((fabs(off) + log1p(-shared)) / se, df) < DISAGREES / 2)
		ret_shared[off > 0 ? 0 : 1] = -expm1(-reach);
}

int duet_report_compare(const struct duet_report *d, size_t a, size_t b,
	enum comparison_clock clock, struct comparison *ret, struct error *err)
{
	const struct duet_pair pair = {d, a, b, clock};
	const struct duet_program *p = d->programs;
	size_t n_alone = p[a].n_alone < p[b].n_alone ? p[a].n_alone : p[b].n_alone;
	struct comparison alone;
	double shared[2];
	int r;

	duet_shares_of_pair(&d->costs[a], &d->costs[b], shared);
	r = compare_in_pairs(&pair, shared, ret, err);
	if (r > 0 && ret->unmeasurable == UNMEASURABLE_SHARED && n_alone > 1)
		return compare_alone(&pair, ret, err);
	if (r <= 0 || ret->unmeasurable || ret->design != DESIGN_DUET || n_alone < LEAST_ALONE)
		return r;
	r = compare_alone(&pair, &alone, err);
	if (r < 0 || alone.design != DESIGN_PAIRS)
		return r;
	find_disagreement(ret, &alone, shared);
	if (shared[0] == 0 && shared[1] == 0)
		return r;
	shared[0] = fmax(shared[0], ret->shared_a);
	shared[1] = fmax(shared[1], ret->shared_b);
	r = compare_in_pairs(&pair, shared, ret, err);
	ret->ratio_in_turn = exp(alone.log_ratio.mean);
	return r;
}

/* "28 kB", "-" */
static struct cell working_set_cell(int64_t bytes)
{
	double size = (double)bytes;

	if (bytes < 0)
		return TEXT(NULL);
	return VALUE(json_integer(bytes),
		size < 1e6 ? text_brief("%.0f kB", size / 1e3) : text_brief("%.1f MB", size / 1e6));
}

/* `et` and `cpus`: names of columns that tell something on several CPUs only. */
#define COST_COLUMNS(et, cpus)                                                        \
	{                                                                             \
		{NULL, COLUMN_TEXT, "run"}, {"PROGRAM", COLUMN_WRAP, "command"},      \
			{"PT", COLUMN_NUMBER, "pt_ns"}, {et, COLUMN_NUMBER, "et_ns"}, \
			{cpus, COLUMN_NUMBER, "on_cpus"},                             \
			{"WORKING SET", COLUMN_NUMBER, "working_set_bytes"},          \
			{"REFILL", COLUMN_NUMBER, "refill"},                          \
			{"LEFT OVER", COLUMN_NUMBER, "left_over"},                    \
			{NULL, COLUMN_TEXT, "slice_ns"}, {},                          \
	}
static const struct column cost_columns[] = COST_COLUMNS(NULL, NULL),
			   cost_columns_of_cpus[] = COST_COLUMNS("ET", "CPUS");

static struct table *list_costs(const struct duet_report *d, const char *const *names)
{
	struct table *list = table_new(d->rows[0].cpus > 0 ? cost_columns_of_cpus : cost_columns);

	for (size_t i = 0; i < d->n; i++) {
		const struct duet_cost *c = &d->costs[i];

		table_begin_row(list);
		table_add(list, NUMBER(d->rows[i].run), TEXT(names[i]),
			TIME(isnan(c->pt_ns) ? -1 : (int64_t)c->pt_ns),
			TIME(isnan(c->et_ns) ? -1 : (int64_t)c->et_ns),
			REAL("%.2f", c->pt_ns / c->et_ns), working_set_cell(d->rows[i].working_set),
			VALUE(json_real_or_null(c->shared),
				isnan(c->shared) ? "-"
						 : text_brief("≤ %s", text_percent(c->shared))),
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

/* By how much the intervals are narrower than if the pairs had been taken in turn: the mean
 * logarithm of the ratio of their widths; NAN: not known. */
static double mean_log_gain(const struct comparison *comparisons, size_t n)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 1; comparisons && i < n; i++) {
		const struct comparison *c = &comparisons[i];
		const struct log_ratio *l = &c->log_ratio;
		double half, in_turn;

		if (c->a.n == 0 || c->design != DESIGN_DUET || c->unmeasurable)
			continue;
		half = log(c->ratio_high / c->ratio_low) / 2;
		in_turn = log_ratio_half(l, c->alpha) * l->neighbours_sd / l->sd;
		if (!(half > 0 && half < INFINITY) || !(in_turn > 0))
			continue;
		sum += log(in_turn / half);
		known++;
	}
	return known > 0 ? sum / (double)known : NAN;
}

/* "1.8 times narrower than" */
static const char *width_text(double times, bool wider)
{
	const double SAME = 1.05;

	if (times < SAME)
		return "as wide as";
	return text_brief("%.1f times %s than", times, wider ? "wider" : "narrower");
}

/* That a program ran alone for long, and that slices are longer than requested. */
static void print_slice_warnings(FILE *file, const struct duet_report *d, double slice)
{
	double last = 0;

	for (size_t i = 0; i < d->n; i++)
		last = fmax(last, d->costs[i].last);
	if (last > LONG_ALONE)
		warn(file,
			text_brief("the last program to end ran alone for %.0f %% of its time; try "
				   "--repeat",
				100 * last));
	if (slice > 2 * (double)d->rows[0].slice_ns && !d->rows[0].frozen)
		warn(file, "the slices are longer than requested; try --slices-by freezer");
}

static const char *slices_by(const struct duet_row *row)
{
	if (row->signalled)
		return slicing_names[SLICING_SIGNALS];
	return slicing_names[row->frozen ? SLICING_FREEZER : SLICING_SCHEDULER];
}

void duet_report_print(FILE *file, const struct duet_report *d, const char *const *names,
	const struct comparison *comparisons)
{
	_cleanup_(table_freep) struct table *list = list_costs(d, names);
	double slice = mean_slice(d), gain = mean_log_gain(comparisons, d->n);
	const struct duet_row *first = &d->rows[0];
	const char *mean = "";

	if (!isnan(slice))
		mean = text_brief(", mean %s", text_precise(slice, slice / 10));
	terminal_wrap(file,
		text_brief("Duet on %s, slices by %s%s: %s requested%s",
			first->cpus > 0 ? text_brief("%d CPUs", first->cpus)
					: text_brief("CPU %d", d->cpu),
			first->signalled ? "" : "the ", slices_by(first),
			text_duration(first->slice_ns), mean),
		0, 2);
	if (!isnan(gain))
		terminal_wrap(file,
			text_brief("  Interval of the ratio: %s with --order interleave",
				width_text(exp(fabs(gain)), gain < 0)),
			0, 4);
	table_print(list, file);
	print_slice_warnings(file, d, slice);
}

json_t *duet_report_as_json(const struct duet_report *d, const char *const *names)
{
	_cleanup_(table_freep) struct table *list = list_costs(d, names);
	double slice = mean_slice(d);

	return JSON_OBJECT({"slices_by", json_text(slices_by(&d->rows[0]))},
		{"cpu", d->cpu < 0 ? json_null() : json_integer(d->cpu)},
		{"cpus", json_integer(d->rows[0].cpus ?: 1)},
		{"slice_ns", json_integer(d->rows[0].slice_ns)},
		{"mean_slice_ns", isnan(slice) ? json_null() : json_integer((json_int_t)slice)},
		{"programs", table_json(list)});
}
