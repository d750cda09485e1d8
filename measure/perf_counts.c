/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --perf counted: see perf_counts.h. */
#include "measure/perf_counts.h"

#include <math.h>

/* Of the clean samples; a count below 0 was not made. .mean_ns: NAN if none was. */
static struct running perf_counted(const struct session *s, const struct task *t, size_t event)
{
	const struct run_result *run = &t->result;
	struct running counted = RUNNING_NONE;

	for (size_t i = 0; i < run->n_samples && (i + 1) * s->perf.n <= t->n_perf; i++) {
		int64_t count = t->perf[i * s->perf.n + event];

		if (count >= 0 && !run->discarding.out[i])
			running_add(&counted, count);
	}
	if (counted.n == 0)
		counted.mean_ns = NAN;
	return counted;
}

json_t *perf_counts_json(const struct session *s, const struct task *t)
{
	size_t n_events = s->perf.n;
	json_t *object = json_object();

	for (size_t k = 0; k < n_events; k++) {
		struct running counted = perf_counted(s, t, k);
		json_t *values = json_array();

		for (size_t i = k; i < t->n_perf; i += n_events)
			json_array_append_new(
				values, t->perf[i] < 0 ? json_null() : json_integer(t->perf[i]));
		json_object_set_new(object, s->perf.items[k].name,
			json_pack("{s:o, s:o, s:o}", "mean", json_real_or_null(counted.mean_ns),
				"sd", json_real_or_null(counted.n > 1 ? running_sd(&counted) : NAN),
				"values", values));
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

char *perf_counts_text(const struct session *s, const struct task *t)
{
	char *text = NULL;
	double cycles = NAN;

	if (t->n_perf == 0)
		return NULL;
	for (size_t i = s->perf.n; i-- > 0;) {
		const char *name = s->perf.items[i].name;

		if (!strncmp(name, "cycles", 6) || !strncmp(name, "cpu-cycles", 10))
			/* at last, of the first such event */
			cycles = perf_counted(s, t, i).mean_ns;
	}
	for (size_t i = 0; i < s->perf.n; i++) {
		const char *name = s->perf.items[i].name;
		double mean = perf_counted(s, t, i).mean_ns, ratio = mean / cycles;

		text_append(&text, ", ", "%s %s", name,
			isnan(mean) ? "not counted" : count_text(name, mean));
		if (!strncmp(name, "instructions", 12) && !isnan(ratio))
			text_append(&text, " ", "(%.2f per cycle)", ratio);
	}
	return text;
}
