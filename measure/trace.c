/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of --trace: see trace.h. */
#include "measure/session.h"

#include "lib/base/xalloc.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/record/run.h"
#include "lib/stats/summary.h"

#include <inttypes.h>
#include <math.h>

enum { MOST_ROWS = 8, MOST_LINES = 5, MOST_NAMED = 4 };

json_t *trace_json(const struct session *s, const struct task *t)
{
	json_t *samples = json_array();

	for (size_t i = 0; i < t->n_taken; i++) {
		json_t *sources = json_array();

		for (size_t k = 0; k < t->taken[i].n; k++) {
			const struct jitter_source_name *source = program_trace_source(
				s->trace, t->taken[i].items[k].source);

			json_array_append_new(sources,
				json_pack("{s:s, s:s, s:s?, s:I, s:I, s:I}", "name", source->name, "kind",
					source_kind_names[source->kind], "unit", source->unit, "slices",
					(json_int_t)t->taken[i].items[k].slices, "total_ns",
					(json_int_t)t->taken[i].items[k].total_ns, "longest_ns",
					(json_int_t)t->taken[i].items[k].longest_ns));
		}
		json_array_append_new(samples,
			json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "sample", (json_int_t)(i + 1), "taken_ns",
				(json_int_t)t->taken[i].total_ns, "events", (json_int_t)t->taken[i].events,
				"events_lost", (json_int_t)t->taken[i].lost, "chain_breaks",
				(json_int_t)t->taken[i].broken, "sources", sources));
	}
	return json_pack("{s:i, s:I, s:o}", "cpu", program_trace_cpu(s->trace), "event_cost_ns",
		(json_int_t)program_trace_event_cost_ns(s->trace), "samples", samples);
}

static double total_et(const struct task *t)
{
	double et_ns = 0;

	for (size_t i = 0; i < t->result.n_samples; i++)
		et_ns += (double)t->result.samples[i].et_ns;
	return et_ns;
}

struct ranked {
	size_t index;
	int64_t et_ns;
};

static int by_et(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	return (a->et_ns < b->et_ns) - (a->et_ns > b->et_ns);
}

/* The median ET, and from where on a sample stands out; false: no memory, or too few. */
static bool find_limit(const struct sample *samples, size_t n, double *ret_median, double *ret_limit)
{
	_cleanup_(freep) int64_t *times = xcalloc(n + 1, sizeof(*times));
	struct shorth shorth;

	if (!times || n < 5)
		return false;
	for (size_t i = 0; i < n; i++)
		times[i] = samples[i].et_ns;
	sort_ascending(times, n);
	shorth = shorth_of(times, n);
	*ret_median = quantile_of(times, n, 0.5);
	*ret_limit = *ret_median + fmax(3 * shorth.sd, 0.001 * *ret_median);
	return true;
}

size_t trace_outstanding(const struct sample *samples, size_t n, size_t *ret, size_t most, double *ret_median)
{
	_cleanup_(freep) struct ranked *ranked = xcalloc(n + 1, sizeof(*ranked));
	double limit;
	size_t found = 0;

	if (!ranked || !find_limit(samples, n, ret_median, &limit))
		return 0;
	for (size_t i = 0; i < n; i++)
		if ((double)samples[i].et_ns > limit)
			ranked[found++] = (struct ranked){i, samples[i].et_ns};
	qsort(ranked, found, sizeof(*ranked), by_et);
	found = found < most ? found : most;
	for (size_t i = 0; i < found; i++)
		ret[i] = ranked[i].index;
	return found;
}

static double median_taken(const struct task *t)
{
	_cleanup_(freep) int64_t *times = xcalloc(t->n_taken + 1, sizeof(*times));

	for (size_t i = 0; times && i < t->n_taken; i++)
		times[i] = t->taken[i].total_ns;
	return times ? median_of(times, t->n_taken) : 0;
}

static int print_sample(
	const struct session *s, const struct task *t, size_t index, double median_ns, double usual_ns)
{
	const struct taken_sample *taken = &t->taken[index];
	const struct sample *sample = &t->result.samples[index];
	double extra_ns = (double)sample->et_ns - median_ns;
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *line = xopen_memstream(&text, &size);
	const double MUCH = 0.2;

	/* Those with at least a hundredth of what was taken. */
	for (size_t i = 0; i < taken->n && i < MOST_NAMED; i++)
		if (i == 0 || taken->items[i].total_ns * 100 >= taken->total_ns) {
			bool first = i == 0;

			/* "backupd 90.8 ms in 23 slices" */
			fprintf(line, "%s%s %s", first ? "" : ", ",
				program_trace_source(s->trace, taken->items[i].source)->name,
				text_duration(taken->items[i].total_ns));
			if (taken->items[i].slices > 1)
				fprintf(line, " in %" PRId64 " slices", taken->items[i].slices);
		}
	if (taken->n == 0)
		fputs("nothing took the CPU", line);

	/* What was taken beyond what is usual explains the extra time, or does not. */
	double taken_ns = (double)taken->total_ns - usual_ns;

	if (extra_ns - taken_ns > MUCH * extra_ns)
		fprintf(line, "; %s is not explained", text_duration(llround(extra_ns - taken_ns)));
	text_stream_close(line, &text);
	terminal_wrap(stdout, text,
		(size_t)printf("  sample %u: +%s:", sample->n, text_duration(llround(extra_ns))), 4);
	return 0;
}

int trace_print(const struct session *s, const struct task *t)
{
	_cleanup_(taken_sample_clear) struct taken_sample sums = {};
	int r = 0;

	if (t->n_taken == 0)
		return 0;
	/* All samples together; `sums` is freed by the caller. */
	for (const struct taken_sample *k = t->taken; k < t->taken + t->n_taken; k++) {
		for (size_t i = 0; i < k->n; i++)
			taken_sample_add(&sums, &k->items[i]);
		sums.events += k->events;
		sums.lost += k->lost;
		sums.broken += k->broken;
	}
	taken_sample_sort(&sums);
	r = 0;
	if (r == 0) {
		static const struct column columns[] = {{"  CPU TAKEN BY", COLUMN_WRAP},
			{"SLICES", COLUMN_NUMBER}, {"TIME", COLUMN_NUMBER}, {"LONGEST", COLUMN_NUMBER},
			{"OF ET", COLUMN_NUMBER}, {"UNIT", COLUMN_WRAP}, {}};
		_cleanup_(table_freep) struct table *table = table_new(columns);

		for (size_t i = 0; i < sums.n && i < MOST_ROWS; i++) {
			const struct jitter_source_name *source = program_trace_source(
				s->trace, sums.items[i].source);
			double n = (double)t->n_taken;

			table_row(table);
			table_cell(table, "  %s", source->name);
			table_cell(table, "%.3g", (double)sums.items[i].slices / n);
			table_cell_duration(table, llround((double)sums.items[i].total_ns / n));
			table_cell_duration(table, sums.items[i].longest_ns);
			table_cell(table, "%s", text_percent((double)sums.items[i].total_ns / total_et(t)));
			table_cell_text(table, source->unit ?: "-");
		}
		table_print(table, stdout);
		if (sums.n > MOST_ROWS)
			printf("  and %zu more (--json lists them); slices and time are means of a sample\n",
				sums.n - MOST_ROWS);
		else
			printf("  Slices and time are means of a sample\n");
	}
	if (r == 0) {
		size_t which[MOST_LINES];
		double median_ns = 0, usual_ns = median_taken(t);
		size_t n = trace_outstanding(
			t->result.samples, t->result.n_samples, which, MOST_LINES, &median_ns);

		for (size_t i = 0; r == 0 && i < n; i++)
			if (which[i] < t->n_taken)
				r = print_sample(s, t, which[i], median_ns, usual_ns);
	}
	if (r == 0) {
		int64_t cost_ns = program_trace_event_cost_ns(s->trace);
		double n = (double)t->n_taken, events = (double)sums.events / n;

		printf("  Tracing: %.4g events a sample", events);
		if (cost_ns > 0)
			printf(", %s of CPU time (%s of ET)",
				text_duration(llround(events * (double)cost_ns)),
				text_percent(n * events * (double)cost_ns / total_et(t)));
		printf("; %" PRId64 " lost, %" PRId64 " hole%s\n", sums.lost, sums.broken,
			sums.broken == 1 ? "" : "s");
	}
	return r;
}
