/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --perf and --trace recorded beside the samples, as text and as JSON: see session.h. */
#include "measure/session.h"

struct perf_mean {
	double mean, sd; /* NAN: no sample, or fewer than two */
};

/* Of the clean samples; a count below 0 was not made. */
static struct perf_mean perf_mean(const struct session *s, const struct task *t, size_t event)
{
	const struct run_result *run = &t->result;
	size_t n_events = s->perf.n, n = 0;
	double mean = 0, squares = 0; /* Welford's */

	for (size_t i = 0; i < run->n_samples && (i + 1) * n_events <= t->n_perf; i++) {
		double x = (double)t->perf[i * n_events + event], off = x - mean;

		if (x < 0 || run->discarding.out[i])
			continue;
		mean += off / (double)++n;
		squares += off * (x - mean);
	}
	return (struct perf_mean){n > 0 ? mean : NAN, n > 1 ? sqrt(squares / (double)(n - 1)) : NAN};
}

json_t *perf_json(const struct session *s, const struct task *t)
{
	size_t n_events = s->perf.n;
	json_t *object = json_object();

	for (size_t k = 0; k < n_events; k++) {
		struct perf_mean m = perf_mean(s, t, k);
		json_t *values = json_array();

		for (size_t i = k; i < t->n_perf; i += n_events)
			json_array_append_new(
				values, t->perf[i] < 0 ? json_null() : json_integer(t->perf[i]));
		json_object_set_new(object, s->perf.items[k].name,
			json_pack("{s:o, s:o, s:o}", "mean", json_real_or_null(m.mean), "sd",
				json_real_or_null(m.sd), "values", values));
	}
	return object;
}

/* "1.234 G", "87.5", and a time for the clocks. */
static const char *count_text(const char *name, double count)
{
	static const char prefixes[] = " kMGTP";
	size_t i = 0;

	if (strstr(name, "-clock"))
		return text_duration((int64_t)count);
	for (; count >= 99999.5 || (i > 0 && count >= 999.95); i++)
		count /= 1000;
	return text_brief(i ? "%.4g %c" : "%.5g", count, prefixes[i]);
}

char *perf_text(const struct session *s, const struct task *t)
{
	size_t n_events = s->perf.n;
	char *text = NULL;
	double cycles = NAN;

	if (t->n_perf == 0)
		return NULL;
	for (size_t i = n_events; i-- > 0;) {
		const char *name = s->perf.items[i].name;

		if (!strncmp(name, "cycles", 6) || !strncmp(name, "cpu-cycles", 10))
			cycles = perf_mean(s, t, i).mean; /* at last, of the first such event */
	}
	for (size_t i = 0; i < n_events; i++) {
		const char *name = s->perf.items[i].name;
		double mean = perf_mean(s, t, i).mean, ratio = mean / cycles;

		text_append(&text, ", ", "%s %s", name, isnan(mean) ? "not counted" : count_text(name, mean));
		if (!strncmp(name, "instructions", 12) && !isnan(ratio))
			text_append(&text, " ", "(%.2f per cycle)", ratio);
	}
	return text;
}

enum { MOST_ROWS = 8, MOST_LINES = 5, MOST_NAMED = 4 };

json_t *trace_json(const struct session *s, const struct task *t)
{
	json_t *samples = json_array();

	for (size_t i = 0; i < t->n_preemptions; i++) {
		const struct preemptions *taken = &t->preemptions[i];
		json_t *sources = json_array();

		for (size_t k = 0; k < taken->n; k++) {
			const struct preemption *item = &taken->items[k];
			const struct jitter_source_name *source = &s->trace->sources.items[item->source];

			json_array_append_new(sources,
				json_pack("{s:s, s:s, s:s?, s:I, s:I, s:I}", "name", source->name, "kind",
					source_kind_names[source->kind], "unit", source->unit, "slices",
					(json_int_t)item->slices, "total_ns", (json_int_t)item->total_ns,
					"longest_ns", (json_int_t)item->longest_ns));
		}
		json_array_append_new(
			samples, json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "sample", (json_int_t)(i + 1),
					 "taken_ns", (json_int_t)taken->total_ns, "events",
					 (json_int_t)taken->events, "events_lost", (json_int_t)taken->lost,
					 "chain_breaks", (json_int_t)taken->broken, "sources", sources));
	}
	return json_pack("{s:i, s:I, s:o}", "cpu", s->trace->cpu, "event_cost_ns",
		(json_int_t)s->trace->event_cost_ns, "samples", samples);
}

size_t trace_outstanding(const struct sample *samples, size_t n, size_t *ret, size_t most, double *ret_median)
{
	_cleanup_(freep) int64_t *times = xcalloc(n, sizeof(*times)), *left = xcalloc(n, sizeof(*left));
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

/* median_ns: of ET; usual_ns: what is usually taken from a sample. */
static void print_outstanding(
	const struct session *s, const struct task *t, size_t index, double median_ns, double usual_ns)
{
	const double MUCH = 0.2;
	const struct preemptions *taken = &t->preemptions[index];
	const struct sample *sample = &t->result.samples[index];
	double extra_ns = (double)sample->et_ns - median_ns;
	double unexplained_ns = extra_ns - ((double)taken->total_ns - usual_ns);
	_cleanup_(freep) char *text = NULL;

	/* "backupd 90.8 ms in 23 slices": those with at least a hundredth of what was taken */
	for (size_t i = 0; i < taken->n && i < MOST_NAMED; i++) {
		const struct preemption *item = &taken->items[i];

		if (i > 0 && item->total_ns * 100 < taken->total_ns)
			continue;
		text_append(&text, ", ", "%s %s", s->trace->sources.items[item->source].name,
			text_duration(item->total_ns));
		if (item->slices > 1)
			text_append(&text, " ", "in %" PRId64 " slices", item->slices);
	}
	if (taken->n == 0)
		text = xstrdup("nothing took the CPU");
	if (unexplained_ns > MUCH * extra_ns)
		text_append(&text, "; ", "%s is not explained", text_duration(llround(unexplained_ns)));
	terminal_wrap(stdout, text,
		(size_t)printf("  sample %u: +%s:", sample->n, text_duration(llround(extra_ns))), 4);
}

/* sums: of n samples, with an ET of et_ns in all. */
static void print_sources(const struct session *s, const struct preemptions *sums, double n, double et_ns)
{
	static const struct column columns[] = {{"  CPU TAKEN BY", COLUMN_WRAP}, {"SLICES", COLUMN_NUMBER},
		{"TIME", COLUMN_NUMBER}, {"LONGEST", COLUMN_NUMBER}, {"OF ET", COLUMN_NUMBER},
		{"UNIT", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < sums->n && i < MOST_ROWS; i++) {
		const struct preemption *item = &sums->items[i];
		const struct jitter_source_name *source = &s->trace->sources.items[item->source];
		_cleanup_(freep) char *name = text_format("  %s", source->name);

		table_row(table, TEXT(name), TEXT(text_brief("%.3g", (double)item->slices / n)),
			TIME(llround((double)item->total_ns / n)), TIME(item->longest_ns),
			TEXT(text_percent((double)item->total_ns / et_ns)), TEXT(source->unit ?: "-"));
	}
	table_print(table, stdout);
	if (sums->n > MOST_ROWS)
		printf("  and %zu more (--json lists them); slices and time are means of a sample\n",
			sums->n - MOST_ROWS);
	else
		printf("  Slices and time are means of a sample\n");
}

void trace_print(const struct session *s, const struct task *t)
{
	_cleanup_(preemptions_clear) struct preemptions sums = {};
	_cleanup_(freep) int64_t *totals = xcalloc(t->n_preemptions, sizeof(*totals));
	double n = (double)t->n_preemptions, cost_ns = (double)s->trace->event_cost_ns;
	double et_ns = 0, median_ns = 0, usual_ns;
	size_t which[MOST_LINES], n_which;

	if (t->n_preemptions == 0)
		return;
	for (size_t i = 0; i < t->n_preemptions; i++) {
		const struct preemptions *k = &t->preemptions[i];

		for (size_t item = 0; item < k->n; item++)
			preemptions_add(&sums, &k->items[item]);
		sums.events += k->events;
		sums.lost += k->lost;
		sums.broken += k->broken;
		totals[i] = k->total_ns;
	}
	for (size_t i = 0; i < t->result.n_samples; i++)
		et_ns += (double)t->result.samples[i].et_ns;
	print_sources(s, &sums, n, et_ns);

	usual_ns = median_of(totals, t->n_preemptions);
	n_which = trace_outstanding(t->result.samples, t->result.n_samples, which, MOST_LINES, &median_ns);
	for (size_t i = 0; i < n_which; i++)
		if (which[i] < t->n_preemptions)
			print_outstanding(s, t, which[i], median_ns, usual_ns);

	printf("  Tracing: %.4g events a sample", (double)sums.events / n);
	if (cost_ns > 0)
		printf(", %s of CPU time (%s of ET)",
			text_duration(llround((double)sums.events / n * cost_ns)),
			text_percent((double)sums.events * cost_ns / et_ns));
	printf("; %" PRId64 " lost, %" PRId64 " hole%s\n", sums.lost, sums.broken,
		sums.broken == 1 ? "" : "s");
}
