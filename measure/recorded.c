/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --perf counted beside the samples, as text and as JSON: see session.h. */
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
