/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of --perf: see session.h. */
#include "measure/session.h"

#include "lib/base/xalloc.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

struct perf_mean {
	double mean, sd; /* NAN: no sample, or fewer than two */
};

/* Below 0: it was not counted in this sample. */
static int64_t value(const struct task *t, size_t n_events, size_t sample, size_t event)
{
	return t->perf[sample * n_events + event];
}

/* Of the clean samples. */
static struct perf_mean perf_mean(const struct session *s, const struct task *t, size_t event)
{
	const struct run_result *run = &t->result;
	size_t n_events = perf_counters_n(s->perf), n = 0;
	double mean = 0, squares = 0; /* Welford's */

	for (size_t i = 0; i < run->n_samples && (i + 1) * n_events <= t->n_perf; i++) {
		double x = (double)value(t, n_events, i, event), off = x - mean;

		if (x < 0 || run->discarding.out[i])
			continue;
		mean += off / (double)++n;
		squares += off * (x - mean);
	}
	return (struct perf_mean){n > 0 ? mean : NAN, n > 1 ? sqrt(squares / (double)(n - 1)) : NAN};
}

json_t *perf_json(const struct session *s, const struct task *t)
{
	size_t n_events = perf_counters_n(s->perf);
	json_t *object = json_object();

	for (size_t k = 0; k < n_events; k++) {
		struct perf_mean m = perf_mean(s, t, k);
		json_t *values = json_array();

		for (size_t i = 0; (i + 1) * n_events <= t->n_perf; i++) {
			int64_t x = value(t, n_events, i, k);

			json_array_append_new(values, x < 0 ? json_null() : json_integer(x));
		}
		json_object_set_new(object, perf_counters_name(s->perf, k),
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

static bool is_event(const struct session *s, size_t event, const char *name)
{
	return !strncmp(perf_counters_name(s->perf, event), name, strlen(name));
}

/* Instructions per cycle, if both were counted. */
static double per_cycle(const struct session *s, const struct task *t, double instructions)
{
	for (size_t i = 0; i < perf_counters_n(s->perf); i++)
		if (is_event(s, i, "cycles") || is_event(s, i, "cpu-cycles"))
			return instructions / perf_mean(s, t, i).mean;
	return NAN;
}

char *perf_text(const struct session *s, const struct task *t)
{
	char *text = NULL;
	size_t size;
	FILE *file = t->n_perf > 0 ? xopen_memstream(&text, &size) : NULL;

	for (size_t i = 0; file && i < perf_counters_n(s->perf); i++) {
		double mean = perf_mean(s, t, i).mean, ratio = NAN;
		const char *name = perf_counters_name(s->perf, i);

		fprintf(file, "%s%s %s", i ? ", " : "", name,
			isnan(mean) ? "not counted" : count_text(name, mean));
		if (is_event(s, i, "instructions"))
			ratio = per_cycle(s, t, mean);
		if (!isnan(ratio))
			fprintf(file, " (%.2f per cycle)", ratio);
	}
	return text_stream_close(file, &text);
}
