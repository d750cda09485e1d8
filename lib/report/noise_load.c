/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a run was noisy: see noise_load.h. */
#include "lib/report/noise_load.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/book/book.h"

#include <math.h>
#include <string.h>

enum { LINE_COLUMNS = 78 }; /* of the first screen, after its indent */

static const struct {
	enum counter which;
	const char *name;
	double from; /* the share of a run's time that counts */
} causes[] = {
	{COUNTER_STEAL, "steal", 0.01},
	{COUNTER_CPU_PRESSURE, "PSI", 0.05},
	{COUNTER_INTERRUPTS, "interrupts", 0.01},
};

/* At most 1: the first and the last reading are a little outside the samples. */
static double share_of(const struct sample_counters *counters, size_t n, enum counter which, double time_ns)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		if (counters_know(&counters[i].changes, which))
			sum += (double)counters[i].changes.value[which];
	return time_ns > 0 ? fmin(sum / time_ns, 1) : 0;
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
	*ret = xstrdup(len > 0 ? text : "speed varies");
	return 0;
}

/* The verdicts that give no cutoffs: "busy, ", or "busy, step, ". */
static void refused_text(char text[64], const struct analysis *short_run, const struct analysis *long_run)
{
	const struct analysis *runs[] = {short_run, long_run};
	size_t len = 0;

	*text = '\0';
	for (size_t i = 0; i < ELEMENTS(runs); i++)
		if (!analysis_gives_cutoffs(runs[i]) &&
			(len == 0 || runs[i]->verdict != short_run->verdict))
			len += (size_t)snprintf(text + len, 64 - len, "%s, ", verdict_name(runs[i]->verdict));
}

static const struct analysis *noisier(const struct analysis *a, const struct analysis *b)
{
	if (!a->noise.noisy || !b->noise.noisy)
		return a->noise.noisy ? a : b->noise.noisy ? b : NULL;
	return b->noise.blind_ns > a->noise.blind_ns ? b : a;
}

int noise_mark(struct book *book, const struct analysis *short_run, const struct analysis *long_run,
	struct profile *profile, struct error *err)
{
	const struct analysis *noisy = noisier(short_run, long_run);
	_cleanup_(freep) char *load = NULL;
	char refused[64];
	int r = noisy ? noise_load(book, noisy, &load, err) : 0;

	if (r < 0)
		return r;
	refused_text(refused, short_run, long_run);
	if (noisy)
		profile->blind_ns = noisy->noise.blind_ns > 0 ? noisy->noise.blind_ns : 1;
	if (*refused)
		profile->noise = text_format("%sforced%s%s", refused, load ? "; " : "", load ?: "");
	else
		profile->noise = TAKE(load);
	return (noisy || *refused) && !profile->noise ? error_oom(err) : 0;
}

bool noise_marked(int64_t blind_ns, const char *noise)
{
	return blind_ns > 0 || noise;
}

char *noise_text(const char *profile, int64_t blind_ns, const char *noise)
{
	static const char *const to_whom[] = {" to daemons", ""};
	_cleanup_(freep) char *reason = noise ? text_format(" (%s)", noise) : xstrdup("");
	char blind[TEXT_TIME_SIZE];
	char *text = NULL;

	if (reason && blind_ns <= 0)
		return text_format("Profile '%s' is unreliable%s", profile, reason);
	text_precise(blind, (double)blind_ns, (double)blind_ns);
	for (size_t i = 0; reason && i < ELEMENTS(to_whom); i++) {
		free(text);
		text = text_format(
			"Profile '%s' is noisy: blind%s below %s%s", profile, to_whom[i], blind, reason);
		if (!text || terminal_text_width(text) <= LINE_COLUMNS)
			break;
	}
	return text;
}

int noise_print(FILE *file, const char *profile, int64_t blind_ns, const char *noise, struct error *err)
{
	_cleanup_(freep) char *text = NULL;

	if (!noise_marked(blind_ns, noise))
		return 0;
	text = noise_text(profile, blind_ns, noise);
	if (!text)
		return error_oom(err);
	fprintf(file, "%s\n", terminal_text(text));
	return 0;
}
