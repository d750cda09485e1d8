/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a run was noisy: see noise_load.h. */
#include "lib/report/noise_load.h"

#include "lib/base/text.h"
#include "lib/record/book/book_counters.h"

#include <string.h>

static const struct {
	enum counter which;
	const char *name;
	double from; /* the share of a run's time that counts */
} causes[] = {
	{COUNTER_STEAL, "steal", 0.01},
	{COUNTER_CPU_PRESSURE, "PSI", 0.05},
	{COUNTER_INTERRUPTS, "interrupts", 0.01},
};

static double share_of(const struct sample_counters *counters, size_t n, enum counter which, double time_ns)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		if (counters_know(&counters[i].changes, which))
			sum += (double)counters[i].changes.value[which];
	return time_ns > 0 ? sum / time_ns : 0;
}

int noise_load(struct book *book, const struct analysis *analysis, char **ret, struct error *err)
{
	_cleanup_(freep) struct sample_counters *counters = NULL;
	char text[160] = "", percent[TEXT_TIME_SIZE];
	double time_ns = 0;
	size_t n = 0, len = 0;
	int r = book_counters(book, analysis->run.id, &counters, &n, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < analysis->n_samples; i++)
		time_ns += (double)analysis->samples[i].et_ns;
	for (size_t i = 0; i < ELEMENTS(causes); i++) {
		double share = share_of(counters, n, causes[i].which, time_ns);

		if (share >= causes[i].from)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %s", len ? ", " : "",
				causes[i].name, text_percent(percent, share));
	}
	*ret = strdup(len > 0 ? text : "varying machine speed");
	return *ret ? 0 : error_oom(err);
}

int noise_mark(struct book *book, const struct analysis *short_run, const struct analysis *long_run,
	struct profile *profile, struct error *err)
{
	const struct analysis *noisy = short_run->noise.noisy ? short_run : long_run;

	if (!noisy->noise.noisy)
		return 0;
	profile->blind_ns = noisy->noise.blind_ns > 0 ? noisy->noise.blind_ns : 1;
	return noise_load(book, noisy, &profile->noise, err);
}

char *noise_text(const char *profile, int64_t blind_ns, const char *noise)
{
	char blind[TEXT_TIME_SIZE];

	text_precise(blind, (double)blind_ns, (double)blind_ns);
	return text_format("Profile '%s' is noisy: blind to daemons below %s%s%s%s", profile, blind,
		noise ? " (" : "", noise ?: "", noise ? ")" : "");
}
