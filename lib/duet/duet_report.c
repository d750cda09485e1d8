/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See duet_report.h. */
#include "lib/duet/duet_report.h"

#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/run/duet.h"
#include "lib/stats/compare.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* Prices and shares below it are not worth a warning. */
static const double WORTH_A_WARNING = 0.05;

static const double BEYOND_DOUBT = 1.5; /* half intervals */

/* The logarithm's half interval above which that of the figure is not nearly symmetric. */
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
		const struct counters *c = &r->counters[i].changes;

		if (!counters_know(c, COUNTER_VOLUNTARY) || !counters_know(c, COUNTER_INVOLUNTARY))
			return -1;
		n += c->value[COUNTER_VOLUNTARY] + c->value[COUNTER_INVOLUNTARY];
	}
	return r->n_counters > 0 ? n : -1;
}

/* Of d->n runs whose results are there. */
static int duet_load_programs(struct book *book, struct duet_report *d, struct error *err)
{
	int r = 0;

	d->programs = xcalloc(d->n, sizeof(*d->programs));
	d->costs = xcalloc(d->n, sizeof(*d->costs));
	for (size_t i = 0; r >= 0 && i < d->n; i++) {
		const struct run_result *result = d->results[i];
		struct duet_program *p = &d->programs[i];

		p->samples = result->samples;
		p->out = result->discarding.out;
		p->n_samples = result->n_samples;
		p->switches = count_switches(result);
		r = book_duet_samples(book, d->runs[i], &p->together, &p->n_together, err);
		if (r >= 0)
			r = book_duet_alone(book, d->runs[i], &p->alone, &p->n_alone, err);
		d->costs[i] = duet_cost_of(p);
		d->cpu = result->discarding.run.cpu;
	}
	return r < 0 ? r : 0;
}

/* 1: the run is of a duet. */
static int begin_report(struct book *book, int64_t run, struct duet_report *d, struct error *err)
{
	int r = book_get_duet(book, run, &d->row, err);

	if (r > 0)
		r = book_duet_runs(book, d->row.reference, &d->runs, &d->n, err) ?: 1;
	d->results = xcalloc(d->n, sizeof(struct run_result *));
	return r;
}

int duet_report_load(struct book *book, int64_t run, const struct discard_rules *rules,
	struct duet_report *ret, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report d = {};
	int r = begin_report(book, run, &d, err);

	if (r <= 0)
		return r;
	d.loaded = xcalloc(d.n, sizeof(*d.loaded));
	for (size_t i = 0; r > 0 && i < d.n; i++) {
		r = run_result_read(book, d.runs[i], rules, &d.loaded[i], err) ?: 1;
		d.results[i] = &d.loaded[i];
	}
	if (r > 0)
		r = duet_load_programs(book, &d, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(d);
	return 1;
}

int duet_report_make(struct book *book, const struct run_result *const *results, size_t n,
	struct duet_report *ret, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report d = {};
	int r = begin_report(book, results[0]->discarding.run.id, &d, err);

	if (r <= 0)
		return r;
	assert(d.n == n);
	memcpy(d.results, results, n * sizeof(struct run_result *));
	r = duet_load_programs(book, &d, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(d);
	return 1;
}

void duet_report_clear(struct duet_report *d)
{
	for (size_t i = 0; i < d->n; i++) {
		if (d->programs) {
			free(d->programs[i].together);
			free(d->programs[i].alone);
		}
		if (d->loaded)
			run_result_clear(&d->loaded[i]);
	}
	free(d->runs);
	free(d->programs);
	free(d->results);
	free(d->loaded);
	free(d->costs);
	*d = (struct duet_report){};
}

/* The samples kept, or the runs alone. */
static void make_side(const struct duet_report *d, size_t i, bool alone, struct comparison_side *ret)
{
	const struct duet_program *p = &d->programs[i];

	if (!alone) {
		*ret = comparison_side_make(
			&d->results[i]->discarding, p->samples, p->n_samples, COMPARISON_PT);
		return;
	}
	*ret = (struct comparison_side){.items = xcalloc(p->n_alone, sizeof(*ret->items)), .n = p->n_alone};
	for (size_t k = 0; k < p->n_alone; k++)
		ret->items[k] = (struct comparison_time){
			p->alone[k].n, p->alone[k].start_ns, p->alone[k].pt_ns};
}

static int compare_programs(const struct duet_report *d, size_t a, size_t b, bool alone,
	struct comparison *ret, struct error *err)
{
	_cleanup_(comparison_side_clear) struct comparison_side of_a = {}, of_b = {};

	make_side(d, a, alone, &of_a);
	make_side(d, b, alone, &of_b);
	if (of_a.n == 0 || of_b.n == 0)
		return 0;
	return comparison_make(&of_a, &of_b, NULL, ret, err) ?: 1;
}

int duet_report_compare(const struct duet_report *d, size_t a, size_t b, struct comparison *ret,
	enum duet_doubt *ret_doubt, struct error *err)
{
	struct comparison c;
	enum duet_doubt doubt = DUET_SOUND;
	int r = compare_programs(d, a, b, false, &c, err);

	if (r > 0 && c.design == DESIGN_DUET)
		doubt = duet_doubt_of(&d->costs[a], &d->costs[b], d->row.slice_ns, &c.log_ratio);
	if (r > 0 && doubt != DUET_SOUND)
		r = compare_programs(d, a, b, true, &c, err);
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
static const char *estimate_text(char buffer[64], struct duet_estimate e)
{
	double percent = 100 * expm1(e.log), half = 100 * e.half * exp(e.log);
	int decimals = half >= 1 ? 0 : 1;

	if (isnan(e.log))
		return strcpy(buffer, "-");
	if (isnan(half))
		snprintf(buffer, 64, "%.1f %%", rounded(percent, 1));
	else if (e.half > WIDE)
		snprintf(buffer, 64, "%.0f … %.0f %%", rounded(100 * expm1(e.log - e.half), 0),
			rounded(100 * expm1(e.log + e.half), 0));
	else
		snprintf(buffer, 64, "%.*f ± %.*f %%", decimals, rounded(percent, decimals), decimals, half);
	return buffer;
}

static void add_estimate(struct table *list, struct duet_estimate e)
{
	char text[64];
	json_t *value = isnan(e.log) ? NULL
				     : json_pack("{s:f, s:o}", "share", expm1(e.log), "interval",
					       json_interval(expm1(e.log - e.half), expm1(e.log + e.half)));

	table_cell_value(list, value, estimate_text(text, e));
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
		static const struct duet_estimate none = {NAN, NAN};
		char last[TEXT_TIME_SIZE];
		json_t *slice = isnan(c->slice_ns) ? json_null() : json_integer((json_int_t)c->slice_ns);

		table_row(list);
		table_cell_int(list, d->runs[i]);
		table_cell_text(list, names[i]);
		table_cell_duration(list, isnan(c->alone_ns) ? -1 : (int64_t)c->alone_ns);
		table_cell_duration(list, isnan(c->together_ns) ? -1 : (int64_t)c->together_ns);
		add_estimate(list, c->price);
		add_estimate(list, i == 0 ? none : duet_bias(&d->costs[0], c));
		snprintf(last, sizeof(last), "%.0f %%", 100 * c->last);
		table_cell_value(list, json_real(c->last), last);
		table_cell_value(list, slice, NULL);
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

/* Few runs alone do not show how much they vary: mostly more than the samples of the duet, of which the interval is made. */
static bool is_biased(struct duet_estimate bias)
{
	return !isnan(bias.half) && fabs(bias.log) > BEYOND_DOUBT * bias.half;
}

static void warn(FILE *file, const char *text)
{
	fprintf(file, "  %sWarning: %s%s\n", terminal_mark(file, MARK_WARN), text,
		terminal_mark(file, MARK_END));
}

static void print_price_warning(FILE *file, const struct duet_report *d)
{
	int64_t better = duet_suggest_slice(d->row.slice_ns, d->costs, d->n);
	bool dear = false, biased = false, costly = false;
	char text[128], slice[32];

	for (size_t i = 0; i < d->n; i++) {
		costly |= d->costs[i].price.log > d->costs[i].price.half;
		dear |= !isnan(d->costs[i].price.half) &&
			d->costs[i].price.log - d->costs[i].price.half > WORTH_A_WARNING;
		biased |= i > 0 && is_biased(duet_bias(&d->costs[0], &d->costs[i]));
	}
	if (!dear && !(biased && costly)) /* programs that took longer alone have no price to pay */
		return;
	snprintf(slice, sizeof(slice), "try --slice %lldms", (long long)(better / NS_PER_MS));
	snprintf(text, sizeof(text), "sharing caches %s; %s",
		biased ? "biases the ratio (BIAS)" : "may bias the ratio (PRICE)",
		better ? slice : "try --order interleave");
	warn(file, text);
}

void duet_report_print(FILE *file, const struct duet_report *d, const char *const *names,
	const struct comparison *comparisons)
{
	_cleanup_(table_freep) struct table *list = list_costs(d, names);
	char wanted[TEXT_TIME_SIZE], got[TEXT_TIME_SIZE] = "";
	double slice = mean_slice(d);
	double sum = 0;
	size_t known = 0;
	char text[128];

	text_duration(wanted, d->row.slice_ns);
	if (!isnan(slice))
		text_precise(got, slice, slice / 10);
	fprintf(file, "Duet on CPU %d, slices by the %s: %s requested%s%s\n", d->cpu,
		d->row.frozen ? "freezer" : "scheduler", wanted, *got ? ", mean " : "", got);
	/* By how much the pairs vary less than if they had been taken in turn. */
	for (size_t i = 1; comparisons && i < d->n; i++) {
		const struct log_ratio *l = &comparisons[i].log_ratio;

		if (comparisons[i].a.n == 0 || comparisons[i].design != DESIGN_DUET || !(l->sd > 0) ||
			!(l->neighbours_sd > 0))
			continue;
		sum += log(l->neighbours_sd / l->sd);
		known++;
	}
	if (known > 0)
		fprintf(file, "  Interval of the ratio: %.1f times %s than with --order interleave\n",
			exp(fabs(sum) / (double)known), sum < 0 ? "wider" : "narrower");
	table_print(list, file);

	double last = 0, warnings_slice = mean_slice(d);

	print_price_warning(file, d);
	for (size_t i = 0; i < d->n; i++)
		last = fmax(last, d->costs[i].last);
	if (last > 2 * WORTH_A_WARNING) {
		snprintf(text, sizeof(text),
			"the longest program ran alone for %.0f %% of its time; try --repeat", 100 * last);
		warn(file, text);
	}
	if (warnings_slice > 2 * (double)d->row.slice_ns && !d->row.frozen)
		warn(file, "the slices are longer than requested; try --slices-by freezer");
}

json_t *duet_report_as_json(const struct duet_report *d, const char *const *names)
{
	_cleanup_(table_freep) struct table *list = list_costs(d, names);
	int64_t better = duet_suggest_slice(d->row.slice_ns, d->costs, d->n);
	double slice = mean_slice(d);

	return json_pack("{s:s, s:i, s:I, s:o, s:o, s:o}", "slices_by",
		d->row.frozen ? "freezer" : "scheduler", "cpu", d->cpu, "slice_ns",
		(json_int_t)d->row.slice_ns, "mean_slice_ns",
		isnan(slice) ? json_null() : json_integer((json_int_t)slice), "suggested_slice_ns",
		better ? json_integer(better) : json_null(), "programs", table_json(list));
}

/* See duet_report.h. tests/unit/test_duet_advice.c simulates how often it is right. */

enum { LEAST_SLICES = 5, LEAST_ROUNDS = 6, MOST_ROUNDS = 1000 };
static const double LEVEL = 0.02, NARROWER = 1.3, /* what is worth another measurement */
	HALF_WIDTH = 0.003,                       /* intervals of the ratio that are as narrow need no help */
	LONGEST = 2,    /* times as long as the shortest: what is left over runs without another one */
	COMPUTES = 0.8, /* the share of ET on a CPU, or waiting for one */
	ONE_CPU = 1.05; /* PT / ET of a program that uses no more */

static bool is_fit(const struct duet_candidate *c, int64_t slice_ns, double *ret_pt)
{
	double pt = 0, wait = 0, et = 0;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (c->out[i])
			continue;
		n++;
		pt += (double)c->samples[i].pt_ns;
		et += (double)c->samples[i].et_ns;
		wait += c->samples[i].wait_ns > 0 ? (double)c->samples[i].wait_ns : 0;
	}
	*ret_pt = n > 0 ? pt / (double)n : 0;
	return *ret_pt >= LEAST_SLICES * (double)slice_ns && pt <= ONE_CPU * et && pt + wait >= COMPUTES * et;
}

static bool are_fit(const struct duet_candidate *programs, size_t n, int64_t slice_ns)
{
	double shortest = INFINITY, longest = 0, pt;

	for (size_t i = 0; i < n; i++) {
		if (!is_fit(&programs[i], slice_ns, &pt))
			return false;
		shortest = fmin(shortest, pt);
		longest = fmax(longest, pt);
	}
	return n > 1 && longest <= LONGEST * shortest;
}

struct duet_advice duet_advise(const struct duet_candidate *programs, size_t n, int64_t slice_ns)
{
	size_t rounds = n > 0 ? MOST_ROUNDS : 0;
	_cleanup_(freep) double *logs = NULL;
	struct duet_advice advice = {false, NAN, NAN};
	struct shared_noise noise;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		rounds = programs[i].n < rounds ? programs[i].n : rounds;
	logs = xcalloc(n * rounds, sizeof(*logs));
	/* The logarithms of the rounds of which nothing was discarded. Returns how many those are. */
	for (size_t round = 0; round < rounds; round++) {
		bool keep = true;

		for (size_t i = 0; keep && i < n; i++) {
			keep = !programs[i].out[round] && programs[i].samples[round].pt_ns > 0;
			logs[kept * n + i] = keep ? log((double)programs[i].samples[round].pt_ns) : 0;
		}
		kept += keep;
	}
	rounds = kept;
	if (rounds < LEAST_ROUNDS || !are_fit(programs, n, slice_ns))
		return advice;
	noise = shared_noise_of(logs, rounds, n);
	advice.p = noise.p;
	advice.narrower = noise.sd_in_turn / noise.sd_together;
	advice.better = noise.p <= LEVEL && advice.narrower >= NARROWER &&
			2 * noise.sd_in_turn / sqrt((double)rounds) >= HALF_WIDTH;
	return advice;
}

/* See duet_report.h. */

int inc_units_load(struct book *book, int64_t run, const struct discard_rules *rules, struct inc_units *ret,
	struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report d = {};
	struct duet_row row = {};
	struct comparison c;
	size_t inc = 0, program = 0;
	double units;
	int r = duet_report_load(book, run, rules, &d, err);

	if (r <= 0)
		return r;
	for (; inc < d.n; inc++) {
		row = (struct duet_row){};
		r = book_get_duet(book, d.runs[inc], &row, err);
		if (r < 0)
			return r;
		if (r > 0 && row.increments > 0)
			break;
	}
	while (program < d.n && d.runs[program] != run)
		program++;
	if (inc == d.n || program == d.n || program == inc)
		return 0;
	/* Program b against program a, by their duet, if there is anything to compare. */
	r = compare_programs(&d, inc, program, false, &c, err);
	if (r <= 0)
		return r;
	if (c.design != DESIGN_DUET)
		return 0;
	units = (double)row.increments / INC_UNIT;
	*ret = (struct inc_units){
		.mean = c.ratio * units,
		.low = c.ratio_low * units,
		.high = c.ratio_high * units,
		.sd = c.log_ratio.sd,
		.n = c.a.n,
		.run = d.runs[inc],
		.increments = row.increments,
	};
	return 1;
}

/* Decimals that show two digits of the sd. */
static int decimals_for_sd(double sd)
{
	int decimals = sd > 0 ? 1 - (int)floor(log10(sd)) : 1;

	return decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
}

char *inc_units_text(char buffer[INC_UNITS_TEXT_SIZE], const struct inc_units *u)
{
	double sd = u->sd * u->mean;
	int decimals = decimals_for_sd(sd);
	char cv[TEXT_TIME_SIZE];

	if (isnan(u->low))
		snprintf(buffer, INC_UNITS_TEXT_SIZE, "%.4g", u->mean);
	else
		snprintf(buffer, INC_UNITS_TEXT_SIZE, "%.*f ± %.*f   CV %s   95 %% CI %.*f … %.*f", decimals,
			u->mean, decimals, sd, text_percent(cv, u->sd), decimals, u->low, decimals, u->high);
	return buffer;
}

json_t *inc_units_as_json(const struct inc_units *u)
{
	json_t *object = json_pack("{s:f, s:I, s:I, s:I, s:i}", "mean", u->mean, "samples", (json_int_t)u->n,
		"run", (json_int_t)u->run, "increments", (json_int_t)u->increments, "unit_increments",
		INC_UNIT);

	json_object_set_new(object, "interval", json_interval(u->low, u->high));
	json_object_set_new(object, "sd", json_real_or_null(u->sd * u->mean));
	return object;
}
