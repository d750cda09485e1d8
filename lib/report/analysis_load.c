/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The protocol applied to runs that are in the book: see analysis_load.h. */
#include "lib/report/analysis_load.h"

#include "lib/protocol/sample_size.h"

#include "lib/base/clock.h"
#include "lib/protocol/analysis.h"
#include "lib/protocol/names.h"
#include "lib/report/noise_load.h"

#include <inttypes.h>

/* A run and its samples from the book. */
struct stored {
	struct run run;
	struct names names;
	struct sources daemons;
	struct sample *samples;
	size_t n_samples;
};

static void stored_clear(struct stored *s)
{
	run_clear(&s->run);
	names_clear(&s->names);
	sources_clear(&s->daemons);
	free(s->samples);
}

static int load(struct book *book, int64_t run, struct stored *s, struct error *err)
{
	int r;

	r = book_get_run(book, run, &s->run, err);
	if (r == 0)
		r = book_samples(book, run, &s->samples, &s->n_samples, err);
	if (r == 0) /* after the samples: then it has all of theirs, even if the run is not over */
		r = book_sources(book, &s->daemons, err);
	if (r == 0)
		r = names_load(&s->names, err);
	return r;
}

struct walk {
	struct analysis_feed *feed;
	struct error *err;
};

static int feed_reader(const struct execution *execution, void *data)
{
	struct walk *walk = data;

	return analysis_feed_add(walk->feed, execution, walk->err);
}

int analysis_load(struct book *book, int64_t run, const struct analysis_options *options,
	struct analysis *ret, struct error *err)
{
	_cleanup_(stored_clear) struct stored stored = {};
	_cleanup_(analysis_feed_freep) struct analysis_feed *feed = NULL;
	struct analysis_options how = *options;
	int r;

	r = load(book, run, &stored, err);
	if (r < 0)
		return r;
	if (!how.patterns)
		how.patterns = stored.names.rows;
	r = analysis_feed_new(
		&feed, &stored.run, stored.samples, stored.n_samples, &stored.daemons, &how, err);
	if (r < 0)
		return r;
	TAKE(stored.samples);
	r = book_each_time(book, run, feed_reader, &(struct walk){.feed = feed, .err = err}, err);
	if (r < 0)
		return r;
	*ret = analysis_feed_finish(feed);
	return 0;
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

static int own_resolution(
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

static int make(struct book *book, const struct profile_request *m, const struct analysis *short_analysis,
	const struct analysis *long_analysis, struct profile *ret, struct error *err)
{
	_cleanup_(profile_clear) struct profile profile = {};
	int64_t environment = short_analysis->run.environment;
	bool imported = short_analysis->run.kind == RUN_IMPORT; /* how others measured is not known */
	const struct cutoff_rules rules = {m->name, short_analysis, long_analysis,
		m->least_share_ppm >= 0 ? m->least_share_ppm
		: imported              ? 0
					: LEAST_SHARE_PPM};
	_cleanup_(cutoffs_clear) struct cutoffs left_out = {};
	int r;

	r = m->force ? 0 : check_shape(short_analysis, err);
	if (r == 0)
		r = m->force ? 0 : check_shape(long_analysis, err);
	if (r == 0)
		r = cutoffs_make(&rules, &profile, &left_out, err);
	if (r == 0 && environment > 0)
		r = book_get_environment(book, environment, &profile.environment_digest, NULL, err);
	if (r == 0 && !imported) {
		resolving_find(profile.resolving, short_analysis);
		profile.correlation = correlation_find(short_analysis);
	}
	if (r == 0)
		r = noise_mark(book, short_analysis, long_analysis, &profile, err);
	if (r != 0)
		return r;
	if (m->left_out)
		*m->left_out = TAKE_STRUCT(left_out);
	profile.made_ns = clock_ns(CLOCK_REALTIME);
	*ret = TAKE_STRUCT(profile);
	return 0;
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

	r = m->resolution_ns > 0 ? 0 : own_resolution(book, short_run, long_run, &options.resolution_ns, err);
	if (r < 0)
		return r;
	r = load_both(book, (const int64_t[]){short_run, long_run}, m, &options, &short_analysis,
		&long_analysis, err);
	if (r < 0)
		return r;
	r = make(book, m, &short_analysis, &long_analysis, ret, err);
	if (r >= 0 && m->short_analysis) {
		*m->short_analysis = TAKE_STRUCT(short_analysis);
	}
	if (r >= 0 && m->long_analysis) {
		*m->long_analysis = TAKE_STRUCT(long_analysis);
	}
	return r;
}
