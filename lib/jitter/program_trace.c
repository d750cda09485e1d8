/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's trace during samples, and how what it found is shown: see program_trace.h. */
#include "lib/jitter/program_trace.h"

#include "lib/base/table.h"
#include "lib/stats/summary.h"

#include <math.h>

enum { BUFFER_BYTES = 32 << 20, PROBE_BYTES = 1 << 20 };

void program_trace_free(struct program_trace *t)
{
	if (!t)
		return;
	trace_free(t->trace);
	jitter_sources_clear(&t->sources);
	free(t);
}

int program_trace_open(struct program_trace **ret, int cpu, struct error *err)
{
	_cleanup_(program_trace_freep) struct program_trace *t = xcalloc(1, sizeof(*t));
	struct trace_request request = {
		.cpus = &cpu, .n_cpus = 1, .clock = "mono_raw", .buffer_bytes = PROBE_BYTES};
	int r;

	/* The cost of an event is that in a trace that has page faults. */
	r = trace_open(&t->trace, &request, err);
	if (r < 0)
		return r;
	t->cpu = cpu;
	t->event_cost_ns = t->trace->event_cost_ns;
	trace_free(TAKE(t->trace));
	request.buffer_bytes = BUFFER_BYTES;
	request.of_program = true;
	r = trace_open(&t->trace, &request, err);
	if (r < 0)
		return r;
	t->sources.identity = identity_new();
	t->sources.decoder = t->trace->decoder;
	*ret = TAKE(t);
	return 0;
}

int program_trace_take(
	struct program_trace *t, pid_t program, struct preemptions *ret, struct error *err)
{
	_cleanup_(preemption_finder_clear) struct preemption_finder finder;
	struct trace_event event;
	int r;

	preemption_finder_begin(&finder, program, &t->sources);
	while ((r = trace_next(t->trace, 0, &event, err)) > 0)
		preemption_finder_add(&finder, &event, (int64_t)event.at);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(finder.found);
	ret->lost = t->trace->cpus[0].lost;
	return 0;
}

enum { MOST_ROWS = 8, MOST_LINES = 5, MOST_NAMED = 4 };

static json_t *preemptions_json(const struct program_trace *t, const struct preemptions *taken)
{
	json_t *sources = json_array();

	for (size_t i = 0; i < taken->n; i++) {
		const struct preemption *item = &taken->items[i];
		const struct jitter_source_name *source = &t->sources.items[item->source];

		json_array_append_new(
			sources, JSON_OBJECT({"name", json_text(source->name)},
					 {"kind", json_text(source_kind_names[source->kind])},
					 {"unit", json_text(source->unit)},
					 {"slices", json_integer(item->slices)},
					 {"total_ns", json_integer(item->total_ns)},
					 {"longest_ns", json_integer(item->longest_ns)}));
	}
	return sources;
}

json_t *program_trace_json(
	const struct program_trace *t, const struct preemptions *preemptions, size_t n)
{
	json_t *samples = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct preemptions *taken = &preemptions[i];

		json_array_append_new(
			samples, JSON_OBJECT({"sample", json_integer((json_int_t)i + 1)},
					 {"taken_ns", json_integer(taken->total_ns)},
					 {"events", json_integer(taken->events)},
					 {"events_lost", json_integer(taken->lost)},
					 {"chain_breaks", json_integer(taken->broken)},
					 {"sources", preemptions_json(t, taken)}));
	}
	return json_pack("{s:i, s:I, s:o}", "cpu", t->cpu, "event_cost_ns",
		(json_int_t)t->event_cost_ns, "samples", samples);
}

size_t trace_outstanding(
	const struct sample *samples, size_t n, size_t *ret, size_t most, double *ret_median)
{
	_cleanup_(freep) int64_t *times = xcalloc(n, sizeof(*times));
	_cleanup_(freep) int64_t *left = xcalloc(n, sizeof(*left));
	double median, limit;
	size_t found;

	if (n < 5)
		return 0;
	for (size_t i = 0; i < n; i++)
		times[i] = left[i] = samples[i].et_ns;
	sort_ascending(times, n);
	median = quantile_of(times, n, 0.5);
	limit = median + fmax(3 * shorth_of(times, n).sd, 0.001 * median);

	for (found = 0; found < most; found++) {
		size_t longest = 0;

		for (size_t i = 1; i < n; i++)
			if (left[i] > left[longest])
				longest = i;
		if ((double)left[longest] <= limit)
			break;
		ret[found] = longest;
		left[longest] = 0;
	}
	*ret_median = median;
	return found;
}

/* "backupd 90.8 ms in 23 slices": those with at least a hundredth of what was taken. The caller
 * frees it. */
static char *largest_preemptions(const struct program_trace *t, const struct preemptions *taken)
{
	char *text = NULL;

	for (size_t i = 0; i < taken->n && i < MOST_NAMED; i++) {
		const struct preemption *item = &taken->items[i];

		if (i > 0 && item->total_ns * 100 < taken->total_ns)
			continue;
		text_append(&text, ", ", "%s %s", t->sources.items[item->source].name,
			text_duration(item->total_ns));
		if (item->slices > 1)
			text_append(&text, " ", "in %" PRId64 " slices", item->slices);
	}
	return text ?: xstrdup("nothing took the CPU");
}

/* median_ns: of ET; usual_ns: what is usually taken from a sample. */
static void print_outstanding(const struct program_trace *t, const struct preemptions *taken,
	const struct sample *sample, double median_ns, double usual_ns)
{
	const double MUCH = 0.2;
	double extra_ns = (double)sample->et_ns - median_ns;
	double unexplained_ns = extra_ns - ((double)taken->total_ns - usual_ns);
	_cleanup_(freep) char *text = largest_preemptions(t, taken);
	int width;

	if (unexplained_ns > MUCH * extra_ns)
		text_append(
			&text, "; ", "%s is not explained", text_duration(llround(unexplained_ns)));
	width = printf("  sample %u: +%s:", sample->n, text_duration(llround(extra_ns)));
	terminal_wrap(stdout, text, (size_t)width, 4);
}

/* sums: of n samples, with an ET of et_ns in all. */
static void print_preemptions(
	const struct program_trace *t, const struct preemptions *sums, double n, double et_ns)
{
	static const struct column columns[] = {{"  CPU TAKEN BY", COLUMN_WRAP},
		{"SLICES", COLUMN_NUMBER}, {"TIME", COLUMN_NUMBER}, {"LONGEST", COLUMN_NUMBER},
		{"OF ET", COLUMN_NUMBER}, {"UNIT", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < sums->n && i < MOST_ROWS; i++) {
		const struct preemption *item = &sums->items[i];
		const struct jitter_source_name *source = &t->sources.items[item->source];
		_cleanup_(freep) char *name = text_format("  %s", source->name);

		table_row(table, columns, TEXT(name),
			TEXT(text_brief("%.3g", (double)item->slices / n)),
			TIME(llround((double)item->total_ns / n)), TIME(item->longest_ns),
			TEXT(text_percent((double)item->total_ns / et_ns)),
			TEXT(source->unit ?: "-"));
	}
	table_print(table, stdout);
	if (sums->n > MOST_ROWS)
		terminal_say(stdout, 4,
			"  and %zu more (--json lists them); slices and time are means of a sample",
			sums->n - MOST_ROWS);
	else
		printf("  Slices and time are means of a sample\n");
}

/* Of all samples: the sources and their sums. */
static struct preemptions sum_preemptions(const struct preemptions *preemptions, size_t n)
{
	struct preemptions sums = {};

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < preemptions[i].n; k++)
			preemptions_add(&sums, &preemptions[i].items[k]);
		sums.events += preemptions[i].events;
		sums.lost += preemptions[i].lost;
		sums.broken += preemptions[i].broken;
	}
	return sums;
}

/* A line for each sample that stands out, of those that were traced. */
static void print_all_outstanding(const struct program_trace *t,
	const struct preemptions *preemptions, size_t n, const struct sample *samples,
	size_t n_samples)
{
	_cleanup_(freep) int64_t *totals = xcalloc(n, sizeof(*totals));
	double median_ns = 0, usual_ns;
	size_t which[MOST_LINES], n_which;

	for (size_t i = 0; i < n; i++)
		totals[i] = preemptions[i].total_ns;
	usual_ns = median_of(totals, n);
	n_which = trace_outstanding(samples, n_samples, which, MOST_LINES, &median_ns);
	for (size_t i = 0; i < n_which; i++)
		if (which[i] < n)
			print_outstanding(
				t, &preemptions[which[i]], &samples[which[i]], median_ns, usual_ns);
}

/* n: samples; et_ns: of all of them. */
static void print_tracing(
	const struct program_trace *t, const struct preemptions *sums, double n, double et_ns)
{
	double events = (double)sums->events / n, cost_ns = (double)t->event_cost_ns;
	const char *cost = "";

	if (cost_ns > 0)
		cost = text_brief(", %s of CPU time (%s of ET)",
			text_duration(llround(events * cost_ns)),
			text_percent((double)sums->events * cost_ns / et_ns));
	terminal_say(stdout, 4, "  Tracing: %.4g events a sample%s; %" PRId64 " lost, %s", events,
		cost, sums->lost, text_count(sums->broken, "hole"));
}

void program_trace_print(const struct program_trace *t, const struct preemptions *preemptions,
	size_t n, const struct sample *samples, size_t n_samples)
{
	_cleanup_(preemptions_clear) struct preemptions sums = sum_preemptions(preemptions, n);
	double et_ns = 0;

	if (n == 0)
		return;
	for (size_t i = 0; i < n_samples; i++)
		et_ns += (double)samples[i].et_ns;
	print_preemptions(t, &sums, (double)n, et_ns);
	print_all_outstanding(t, preemptions, n, samples, n_samples);
	print_tracing(t, &sums, (double)n, et_ns);
}
