/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The protocol applied to runs that are in the book: see analysis_load.h. */
#include "lib/report/analysis_load.h"

#include "lib/base/number.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/protocol/names.h"
#include "lib/protocol/sample_size.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LINE_COLUMNS = 78 }; /* of the first screen, after its indent */

struct analysis_walk {
	struct analysis_feed *feed;
	struct error *err;
};

static int feed_execution(const struct execution *execution, void *data)
{
	struct analysis_walk *walk = data;

	return analysis_feed_add(walk->feed, execution, walk->err);
}

int analysis_load(struct book *book, int64_t id, const struct analysis_options *given, struct analysis *ret,
	struct error *err)
{
	_cleanup_(analysis_feed_freep) struct analysis_feed *feed = NULL;
	_cleanup_(sources_clear) struct sources sources = {};
	_cleanup_(names_clear) struct names names = {};
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(run_clear) struct run run = {};
	struct analysis_options options = *given;
	size_t n;
	int r;

	r = book_get_run(book, id, &run, err);
	if (r == 0)
		r = book_samples(book, id, &samples, &n, err);
	if (r == 0) /* after the samples: then it has all of theirs, even if the run is not over */
		r = book_sources(book, &sources, err);
	if (r == 0)
		r = names_load(&names, err);
	if (r < 0)
		return r;
	if (!options.patterns)
		options.patterns = names.rows;
	r = analysis_feed_new(&feed, &run, samples, n, &sources, &options, err);
	if (r < 0)
		return r;
	TAKE(samples);
	r = book_each_time(book, id, feed_execution, &(struct analysis_walk){.feed = feed, .err = err}, err);
	if (r < 0)
		return r;
	*ret = analysis_feed_finish(feed);
	return 0;
}

static const struct {
	enum counter which;
	const char *name;
	double from; /* the share of a run's time that counts */
} noise_causes[] = {
	{COUNTER_STEAL, "steal", 0.01},
	{COUNTER_CPU_PRESSURE, "PSI", 0.05},
	{COUNTER_INTERRUPTS, "interrupts", 0.01},
};

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
	for (size_t i = 0; i < ELEMENTS(noise_causes); i++) {
		double share;
		double sum = 0;

		/* At most 1: the first and the last reading are a little outside the samples. */
		for (size_t k = 0; k < n; k++)
			if (counters_know(&counters[k].changes, noise_causes[i].which))
				sum += (double)counters[k].changes.value[noise_causes[i].which];
		share = time_ns > 0 ? fmin(sum / time_ns, 1) : 0;

		if (share >= noise_causes[i].from)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %s", len ? ", " : "",
				noise_causes[i].name, text_percent(percent, share));
	}
	*ret = xstrdup(len > 0 ? text : "speed varies");
	return 0;
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
	size_t len = 0;

	if (r < 0)
		return r;

	/* The verdicts that give no cutoffs: "busy, ", or "busy, step, ". */
	const struct analysis *runs[] = {short_run, long_run};

	*refused = '\0';
	for (size_t i = 0; i < ELEMENTS(runs); i++)
		if (!analysis_gives_cutoffs(runs[i]) && (len == 0 || runs[i]->verdict != short_run->verdict))
			len += (size_t)snprintf(
				refused + len, 64 - len, "%s, ", verdict_name(runs[i]->verdict));
	if (noisy)
		profile->blind_ns = noisy->noise.blind_ns > 0 ? noisy->noise.blind_ns : 1;
	profile->noise = *refused ? text_format("%sforced%s%s", refused, load ? "; " : "", load ?: "")
				  : TAKE(load);
	return 0;
}

bool noise_marked(int64_t blind_ns, const char *noise)
{
	return blind_ns > 0 || noise;
}

char *noise_text(const char *profile, int64_t blind_ns, const char *noise)
{
	_cleanup_(freep) char *reason = noise ? text_format(" (%s)", noise) : xstrdup("");
	char blind[TEXT_TIME_SIZE];
	char *text;

	if (blind_ns <= 0)
		return text_format("Profile '%s' is unreliable%s", profile, reason);
	text_precise(blind, (double)blind_ns, (double)blind_ns);
	text = text_format("Profile '%s' is noisy: blind to daemons below %s%s", profile, blind, reason);
	if (terminal_text_width(text) <= LINE_COLUMNS)
		return text;
	free(text);
	return text_format("Profile '%s' is noisy: blind below %s%s", profile, blind, reason);
}

void noise_print(FILE *file, const char *profile, int64_t blind_ns, const char *noise)
{
	_cleanup_(freep) char *text = NULL;

	if (!noise_marked(blind_ns, noise))
		return;
	text = noise_text(profile, blind_ns, noise);
	fprintf(file, "%s\n", terminal_text(text));
}

/* PROFILE_REFUSED with a sentence if the run's shape gives no cutoffs, unless the bound was set by hand. */
static int check_shape(const struct analysis *analysis, struct error *err)
{
	if (analysis_gives_cutoffs(analysis))
		return 0;
	return error_say(err, PROFILE_REFUSED,
		"run %" PRId64
		" (%s) is neither an L nor clean, but shows %s; cutoffs from it would be meaningless",
		analysis->run.id, analysis->run.program, analysis->why);
}

static int coarser_resolution(
	struct book *book, int64_t short_run, int64_t long_run, int64_t *ret, struct error *err)
{
	_cleanup_(run_clear) struct run a = {}, b = {};
	int r;

	r = book_get_run(book, short_run, &a, err);
	if (r == 0)
		r = book_get_run(book, long_run, &b, err);
	if (r == 0)
		*ret = a.resolution_ns > b.resolution_ns ? a.resolution_ns : b.resolution_ns;
	return r;
}

/* Whether one has a family of names that the other has not. */
static bool has_more_families(const struct analysis *a, const struct analysis *b)
{
	for (size_t i = 0; i < a->n_statistics; i++)
		if (a->statistics[i].names > 0 && !analysis_daemon(b, a->statistics[i].name))
			return true;
	return false;
}

/* Names that are a family in one of the two are one in the other, too, which may have few of them. */
static int load_both(struct book *book, const int64_t runs[2], const struct profile_request *m,
	struct analysis_options *options, struct analysis *short_analysis, struct analysis *long_analysis,
	struct error *err)
{
	int r;

	options->central_max_ns = m->short_central_max_ns;
	r = analysis_load(book, runs[0], options, short_analysis, err);
	if (r < 0)
		return r;
	options->central_max_ns = m->long_central_max_ns;
	options->family_reference[0] = short_analysis;
	r = analysis_load(book, runs[1], options, long_analysis, err);
	if (r < 0 || !has_more_families(long_analysis, short_analysis))
		return r;
	analysis_clear(short_analysis);
	options->central_max_ns = m->short_central_max_ns;
	options->family_reference[0] = long_analysis;
	return analysis_load(book, runs[0], options, short_analysis, err);
}

int profile_from_runs(struct book *book, int64_t short_run, int64_t long_run, const struct profile_request *m,
	struct profile *ret, struct error *err)
{
	_cleanup_(analysis_clear) struct analysis short_analysis = {}, long_analysis = {};
	struct analysis_options options = {.resolution_ns = m->resolution_ns,
		.other_cpus = m->other_cpus,
		.by_wait = m->by_wait,
		.by_wait_if_exact = m->by_wait_if_exact};
	int r;
	_cleanup_(profile_clear) struct profile profile = {};
	_cleanup_(cutoffs_clear) struct cutoffs left_out = {};

	r = m->resolution_ns > 0 ? 0
				 : coarser_resolution(book, short_run, long_run, &options.resolution_ns, err);
	if (r < 0)
		return r;
	r = load_both(book, (const int64_t[]){short_run, long_run}, m, &options, &short_analysis,
		&long_analysis, err);
	if (r < 0)
		return r;

	int64_t environment = short_analysis.run.environment;
	bool imported = short_analysis.run.kind == RUN_IMPORT; /* how others measured is not known */
	const struct cutoff_rules rules = {m->name, &short_analysis, &long_analysis,
		m->least_share_ppm >= 0 ? m->least_share_ppm
		: imported              ? 0
					: LEAST_SHARE_PPM};

	r = m->force ? 0 : check_shape(&short_analysis, err);
	if (r == 0)
		r = m->force ? 0 : check_shape(&long_analysis, err);
	if (r == 0)
		r = cutoffs_make(&rules, &profile, &left_out, err);
	if (r == 0 && environment > 0)
		r = book_get_environment(book, environment, &profile.environment_digest, NULL, err);
	if (r == 0 && !imported) {
		resolving_find(profile.resolving, &short_analysis);
		profile.correlation = correlation_find(&short_analysis);
	}
	if (r == 0)
		r = noise_mark(book, &short_analysis, &long_analysis, &profile, err);
	if (r == 0) {
		if (m->left_out)
			*m->left_out = TAKE_STRUCT(left_out);
		profile.made_ns = clock_ns(CLOCK_REALTIME);
		*ret = TAKE_STRUCT(profile);
		r = 0;
	}
	if (r >= 0 && m->short_analysis)
		*m->short_analysis = TAKE_STRUCT(short_analysis);
	if (r >= 0 && m->long_analysis)
		*m->long_analysis = TAKE_STRUCT(long_analysis);
	return r;
}
