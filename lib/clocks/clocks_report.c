/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables, changes and the picture of a calibration: see clocks_report.h. */
#include "lib/clocks/clocks_report.h"

#include "lib/base/table.h"
#include "lib/report/plot.h"
#include "lib/stats/summary.h"

#include <math.h>

static const char reference_name[] = "getrusage(RUSAGE_SELF)";

/* "CLOCK_REALTIME" for "clock_gettime(CLOCK_REALTIME)". Valid until the next call. */
static const char *clocks_short_name(const char *name)
{
	static const char call[] = "clock_gettime(";
	static char text[64];

	if (strncmp(name, call, strlen(call)))
		return terminal_text(name);
	snprintf(text, sizeof(text), "%s", terminal_text(name + strlen(call)));
	text[strcspn(text, ")")] = '\0';
	return text;
}

/* Indices of the sources by their cost; the caller frees it. */
static size_t *clocks_by_cost(const struct clocks *c)
{
	size_t *order = xcalloc(c->n_sources + 1, sizeof(*order));

	for (size_t i = 0; i < c->n_sources; i++) {
		size_t at = i;

		for (; at > 0 && c->sources[order[at - 1]].median > c->sources[i].median; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return order;
}

static struct cell ns_cell(double ns)
{
	if (fabs(ns) < 100) /* a duration has whole ns */
		return REAL(fabs(ns) < 10 ? "%.1f ns" : "%.0f ns", ns);
	return TIME(isfinite(ns) && ns < 1e18 ? llround(ns) : -1);
}

static void print_costs(const struct clocks *c, const size_t *order)
{
	static const struct column columns[] = {{"COST OF A CALL"}, {"CYCLES", COLUMN_NUMBER},
		{"±", COLUMN_NUMBER}, {"MIN", COLUMN_NUMBER}, {"MEAN", COLUMN_NUMBER},
		{"SD", COLUMN_NUMBER}, {"NS", COLUMN_NUMBER}, {"RATIO", COLUMN_NUMBER}, {}};
	const struct clock_source *reference = clocks_find(c, reference_name);
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < c->n_sources; i++) {
		const struct clock_source *s = &c->sources[order[i]];

		table_row(table, columns, TEXT(clocks_short_name(s->name)), REAL("%.0f", s->median),
			REAL("%.0f", (s->high - s->low) / 2), REAL("%.0f", s->min),
			REAL("%.0f", s->mean), REAL("%.0f", s->sd),
			REAL("%.0f", s->median * 1e9 / c->cycles_per_second),
			REAL("%.2f", reference ? s->median / reference->median : NAN));
	}
	table_print(table, stdout);
	if (reference)
		printf("RATIO: to %s.\n", reference_name);
}

static void print_quality(const struct clocks *c, const size_t *order)
{
	static const struct column columns[] = {{"RESOLUTION"}, {"STEP", COLUMN_NUMBER},
		{"LAG", COLUMN_NUMBER}, {"MAX", COLUMN_NUMBER}, {"BACK", COLUMN_NUMBER},
		{"GAIN", COLUMN_NUMBER}, {"±", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < c->n_sources; i++) {
		const struct clock_source *s = &c->sources[order[i]];
		bool is_reference = !strcmp(s->name, reference_name);

		table_row(table, columns, TEXT(clocks_short_name(s->name)), ns_cell(s->step_ns),
			ns_cell(s->lag_ns), ns_cell(s->lag_max_ns), REAL("%.0f", s->backwards),
			REAL("%.0f %%", is_reference ? NAN : 100 * (s->gain.ratio - 1)),
			REAL("%.0f %%", is_reference ? NAN : 50 * (s->gain.high - s->gain.low)));
	}
	printf("\n");
	table_print(table, stdout);
	if (c->n_precision == 0)
		return;
	terminal_say(stdout, 2,
		"GAIN: in precision over %s, timing %" PRId64 " to %" PRId64 " primes.",
		reference_name, c->precision[0].primes, c->precision[c->n_precision - 1].primes);
}

static void print_missing(const struct clocks *c)
{
	if (c->n_missing > 0)
		printf("\nNot on this machine:\n");
	for (size_t i = 0; i < c->n_missing; i++) {
		_cleanup_(freep) char *text = text_format("%s: %s",
			clocks_short_name(c->missing[i].name), terminal_text(c->missing[i].why));

		fputs("  ", stdout);
		terminal_wrap(stdout, text, 2, 4);
	}
}

static void print_allocations(const struct clocks *c)
{
	const struct clock_allocation *first, *last;

	if (c->n_allocations == 0)
		return;
	first = &c->allocations[0];
	last = &c->allocations[c->n_allocations - 1];
	putchar('\n');
	terminal_say(stdout, 2,
		"malloc%s%s: %.0f cycles for %" PRId64 " bytes, %.0f for %" PRId64 " bytes",
		c->allocator ? " of " : "", c->allocator ? terminal_text(c->allocator) : "",
		first->cycles, first->size_bytes, last->cycles, last->size_bytes);
	for (size_t i = 0; i < c->n_small_costs; i++) {
		const struct clock_small_cost *cost = &c->small_costs[i];

		terminal_say(stdout, 4, "  by %s: mean %.0f cycles; 0 in %.0f %% of readings",
			terminal_text(clocks_short_name(cost->name)), cost->cycles,
			100 * cost->zeros);
	}
}

static void print_ticks(const struct clocks *c)
{
	if (c->tick_why)
		printf("\nThe error of the tick was not measured: %s\n",
			terminal_text(c->tick_why));
	if (c->tick_why || !isfinite(c->tick_period_ns))
		return;
	putchar('\n');
	terminal_say(stdout, 2, "A clock that charges a whole tick of %s to whatever runs at it:",
		text_duration(llround(c->tick_period_ns)));
	for (size_t i = 0; i < N_CLOCK_TICKS; i++)
		terminal_say(stdout, 4, "  a process that %-22s used %s, was charged %s",
			clock_tick_names[i], text_duration(llround(c->ticks[i].exact_ns)),
			text_duration(llround(c->ticks[i].tick_ns)));
}

static void print_clocks(const struct clocks *c)
{
	_cleanup_(freep) size_t *order = clocks_by_cost(c);

	if (c->id > 0)
		printf("Calibration %" PRId64 " of the clocks, %s%s\n", c->id,
			text_moment(c->made_ns), c->full ? ", full" : "");
	printf("CPU %" PRId64 "; cycle counter %.3f GHz", c->cpu, c->cycles_per_second / 1e9);
	if (c->clocksource)
		printf("; clock source %s", terminal_text(c->clocksource));
	printf("\n\n");
	print_costs(c, order);
	print_quality(c, order);
	print_missing(c);
	print_allocations(c);
	print_ticks(c);
}

int clocks_print(struct book *book, const struct clocks *c, bool json, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r;

	if (!json) {
		print_clocks(c);
		return 0;
	}
	document = clocks_as_json(c);
	r = document_add_origin(book, c->environment, c->made_ns, document, err);
	return r < 0 ? r : json_print_digits(TAKE(document), stdout, 0, err);
}

static const struct column diff_columns[] = {
	{"COST OF A CALL"},
	{NULL, COLUMN_TEXT, "name"},
	{"BEFORE", COLUMN_NUMBER, "before_ns"},
	{"NOW", COLUMN_NUMBER, "now_ns"},
	{"CHANGE", COLUMN_NUMBER, "change"},
	{"RELATIVE", COLUMN_NUMBER, "relative"},
	{"", COLUMN_TEXT, "verdict"},
	{},
};

static double cost_ns(const struct clocks *c, const struct clock_source *source)
{
	return source ? source->median * 1e9 / c->cycles_per_second : NAN;
}

/* How much more a source costs than before, by source; NAN: it was not there before. */
static double *cost_changes(const struct clocks *now, const struct clocks *before)
{
	double *changes = xcalloc(now->n_sources, sizeof(*changes));

	for (size_t i = 0; i < now->n_sources; i++) {
		const struct clock_source *source = &now->sources[i];
		const struct clock_source *was = clocks_find(before, source->name);

		changes[i] = NAN;
		if (was && was->median > 0)
			changes[i] = cost_ns(now, source) / cost_ns(before, was);
	}
	return changes;
}

/* The median of those that are known; NAN: there are none. */
static double median_change(const double *changes, size_t n)
{
	_cleanup_(freep) int64_t *ppm = xcalloc(n, sizeof(*ppm));
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(changes[i]))
			ppm[known++] = llround(changes[i] * 1e6);
	return median_of(ppm, known) / 1e6;
}

/* The changes beside the median change, which is that of the machine's speed. */
static struct table *list_changes(const struct clocks *now, const struct clocks *before)
{
	_cleanup_(freep) double *changes = cost_changes(now, before);
	_cleanup_(freep) size_t *order = clocks_by_cost(now);
	struct table *list = table_new(diff_columns);
	double usual = median_change(changes, now->n_sources);

	for (size_t i = 0; i < now->n_sources; i++) {
		const struct clock_source *source = &now->sources[order[i]];
		const struct clock_source *was = clocks_find(before, source->name);
		double change = changes[order[i]], relative = change / usual;
		const char *word = "";

		if (relative >= 2)
			word = "slower";
		else if (relative <= 0.5)
			word = "faster";
		table_row(list, diff_columns, TEXT(clocks_short_name(source->name)),
			TEXT(source->name), REAL("%.0f ns", cost_ns(before, was)),
			REAL("%.0f ns", cost_ns(now, source)), REAL("%.2f", change),
			REAL("%.2f", relative), TEXT(word));
	}
	return list;
}

static int print_differences(
	struct book *book, const struct clocks *now, bool json, struct error *err)
{
	_cleanup_(clocks_clear) struct clocks before = {};
	_cleanup_(table_freep) struct table *list = NULL;
	int r = book_get_clocks(book, now->id, true, &before, err);

	if (r == 0)
		return error_say(err, -ENOENT,
			"there is no calibration of the clocks before number %" PRId64
			" on this machine",
			now->id);
	if (r < 0)
		return r;
	list = list_changes(now, &before);
	if (json)
		return json_print_document("emp-clocks-differences",
			json_pack("{s:I, s:I, s:o}", "before", (json_int_t)before.id, "now",
				(json_int_t)now->id, "sources", table_json(list)),
			err);
	terminal_say(stdout, 2, "Calibration %" PRId64 " (%s) and %" PRId64 " (%s)", before.id,
		text_moment(before.made_ns), now->id, text_moment(now->made_ns));
	if (before.cpu != now->cpu)
		printf("They were made on CPU %" PRId64 " and CPU %" PRId64 ".\n", before.cpu,
			now->cpu);
	printf("\n");
	table_print(list, stdout);
	return 0;
}

/* The precision of the clocks: the standard deviation of the time that each source shows for the
 * same computation, by its length (Hines, Wyatt & Chang, Figure 2). plots/clocks.gp draws it. */

/* A block for each source: the number of primes, and the deviation. *range grows with them. */
static void write_deviations(const struct clocks *c, const struct clock_source *const *sources,
	size_t n, struct axis *range, FILE *script)
{
	fputs("$sds << EOD\n", script);
	for (size_t s = 0; s < n; s++) {
		for (size_t i = 0; i < c->n_precision; i++) {
			const struct clock_precision *row = &c->precision[i];
			double sd = row->sd_ns[sources[s] - c->sources] / 1e9;

			/* the axis is logarithmic */
			if (!(sd > 0))
				sd = NAN;
			range->low = fmin(range->low, sd);
			range->high = fmax(range->high, sd);
			fprintf(script, "%" PRId64 " %.9g\n", row->primes, sd);
		}
		fputs("\n\n", script);
	}
	fputs("EOD\n", script);
}

static void write_precision(const void *subject, FILE *script)
{
	/* One source of each kind: the others lie on the same line. */
	static const char *const names[] = {"times()", "/proc/PID/schedstat",
		"getrusage(RUSAGE_SELF)", "perf task-clock",
		"clock_gettime(CLOCK_THREAD_CPUTIME_ID)", "emp-clock",
		"clock_gettime(CLOCK_MONOTONIC)", "rdtsc", "cntvct_el0"};
	const struct clocks *c = subject;
	const struct clock_source *sources[ELEMENTS(names)];
	struct axis sds = {AXIS_LOGARITHMIC, true, INFINITY, 0, .room = 8};
	struct axis primes = {.high = 1, .room = 7};
	size_t n = 0;

	plot_text(script, "heading", 0, "Precision of the clocks: CPU %" PRId64 ", %s", c->cpu,
		text_moment(c->made_ns));
	fprintf(script, "array kinds[%zu]\narray names[%zu]\n", ELEMENTS(names), ELEMENTS(names));
	for (size_t i = 0; i < ELEMENTS(names); i++) {
		const struct clock_source *source = clocks_find(c, names[i]);

		if (!source)
			continue;
		sources[n++] = source;
		fprintf(script, "kinds[%zu] = %zu\n", n, i + 1);
		plot_text(script, "names", n, "%s", clocks_short_name(names[i]));
	}
	fprintf(script, "n_sources = %zu\n", n);
	write_deviations(c, sources, n, &sds, script);

	if (sds.low == INFINITY) { /* no deviation is known */
		sds.low = 1e-9;
		sds.high = 1e-6;
	} else if (sds.low >= sds.high) {
		sds.high = sds.low * 2;
		sds.low /= 2;
	}
	sds = axis_with_margin(sds, 0.05);
	plot_axis(script, "sd", 0, &sds);
	if (c->n_precision > 0)
		primes.high = (double)c->precision[c->n_precision - 1].primes;
	plot_axis(script, "primes", 0, &primes);
}

int clocks_show(struct book *book, int64_t id, const struct clocks_view *view, struct error *err)
{
	_cleanup_(clocks_clear) struct clocks clocks = {};
	int r = book_get_clocks(book, id, false, &clocks, err);

	if (r < 0)
		return r;
	if (r == 0 && id > 0)
		return error_say(
			err, -ENOENT, "the book has no calibration %" PRId64 " of the clocks", id);
	if (r == 0)
		return error_say(err, -ENOENT,
			"the clocks of this machine are not calibrated: run 'emp-calibrate "
			"clocks'");
	if (view->diff)
		return print_differences(book, &clocks, view->json, err);
	if (view->output)
		return plot_drawing(
			(struct drawing){"clocks", write_precision, &clocks, plot_height(64, 9)},
			view->output, view->script, err);
	return clocks_print(book, &clocks, view->json, err);
}
