/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The analysis of one run: see analysis.h. Executions in the central cluster are summed up; of those in longer samples, only
 * the ones that may be long for their daemon are kept. */
#include "lib/protocol/analysis_internal.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/stats/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Smaller shares of a sample are not a disturbance. */
static const double LEAST_SHARE = 0.01;
/* If W is unknown for more of the samples, the run has no W. */
static const double MOST_UNKNOWN = 0.1;
/* If daemons explain half of the samples beyond a bound, the bound holds. */
static const double EXPLAINED = 0.5;

static size_t count_unknown_waits(const struct sample *samples, size_t n)
{
	size_t unknown = 0;

	for (size_t i = 0; i < n; i++)
		unknown += samples[i].wait_ns < 0;
	return unknown;
}

static bool is_wait_known(const struct sample *samples, size_t n)
{
	return (double)count_unknown_waits(samples, n) <= MOST_UNKNOWN * (double)n;
}

/* Replaces each ET by W and the median of ET - W: what it would be if the program itself always took the same time. W is
 * rounded: what the program's own time varies by, or a hundredth of a sample, makes no sample long. */
static int use_waits(struct analysis_feed *feed, const struct run *run, struct sample *samples, size_t n,
	struct error *err)
{
	_cleanup_(freep) int64_t *sorted = NULL;
	int64_t step_ns;
	int64_t step = 1;

	if (!is_wait_known(samples, n)) {
		while (samples->wait_ns >= 0)
			samples++;
		return error_say(err, -ENODATA,
			"the waiting time of sample %" PRIu32 " in run %" PRId64
			" is not known: it needs --accounting bpf and a cgroup, and a program of several tasks needs --cpu",
			samples->n, run->id);
	}

	/* Of a sample whose W is unknown it is the ET, but not more than the greatest of the others: what
	 * it is longer by was taken by others. */
	int64_t *rest_ns = xcalloc(n, sizeof(*rest_ns)), most_ns = 0;

	for (size_t i = 0; i < n; i++) {
		rest_ns[i] = samples[i].et_ns - samples[i].wait_ns;
		if (samples[i].wait_ns >= 0 && rest_ns[i] > most_ns)
			most_ns = rest_ns[i];
	}
	for (size_t i = 0; i < n; i++)
		if (samples[i].wait_ns < 0)
			rest_ns[i] = samples[i].et_ns < most_ns ? samples[i].et_ns : most_ns;
	feed->et_minus_wait_ns = rest_ns;
	feed->exact_ns = xcalloc(n, sizeof(*feed->exact_ns));
	if (n == 0)
		return 0;
	feed->n_by_et = count_unknown_waits(samples, n);
	sorted = xcalloc(n, sizeof(*sorted));
	memcpy(sorted, feed->et_minus_wait_ns, n * sizeof(*sorted));
	sort_ascending(sorted, n);
	feed->median_rest_ns = llround(quantile_of(sorted, n, 0.5));
	feed->least_ns = fmin(shorth_of(sorted, n).sd, LEAST_SHARE * (double)feed->median_rest_ns);
	/* The largest 1, 2 or 5 times a power of ten that is no more than this; a millisecond at most. */
	while (10 * (double)step <= feed->least_ns && step < NS_PER_MS)
		step *= 10;
	if (step < NS_PER_MS)
		step *= 5 * (double)step <= feed->least_ns ? 5 : 2 * (double)step <= feed->least_ns ? 2 : 1;
	step_ns = step;
	for (size_t i = 0; i < n; i++) {
		feed->exact_ns[i] = feed->median_rest_ns + samples[i].et_ns - feed->et_minus_wait_ns[i];
		samples[i].et_ns = resolution_round(feed->exact_ns[i], step_ns);
	}
	return 0;
}

static enum zone zone_of(const struct cluster *c, int64_t et_ns)
{
	if (et_ns < c->low_ns)
		return ZONE_BELOW;
	if (et_ns > c->high_ns)
		return ZONE_ABOVE;
	if (et_ns <= c->core_high_ns)
		return ZONE_CORE;
	return et_ns <= c->near_high_ns ? ZONE_NEAR : ZONE_FAR;
}

int analysis_feed_new(struct analysis_feed **ret, struct run *run, struct sample *samples, size_t n,
	const struct sources *sources, const struct analysis_options *options, struct error *err)
{
	_cleanup_(analysis_feed_freep) struct analysis_feed *feed = xcalloc(1, sizeof(*feed));
	int r = 0;

	feed->n_samples = n;
	feed->sources = sources;
	feed->patterns = options->patterns;
	feed->other_cpus = options->other_cpus;
	memcpy(feed->family_reference, options->family_reference, sizeof(feed->family_reference));
	feed->resolution_ns = options->resolution_ns ?: run->resolution_ns > 0 ? run->resolution_ns : 1;
	for (size_t i = 0; i < n; i++)
		samples[i].wait_ns = sample_wait_ns(&samples[i]);
	if (options->by_wait ||
		(options->by_wait_if_exact && run_wait_is_exact(run) && is_wait_known(samples, n)))
		r = use_waits(feed, run, samples, n, err);
	if (r < 0)
		return r;
	if (options->central_max_ns > 0 && options->central_max_ns <= feed->median_rest_ns)
		return error_say(err, -EINVAL,
			"run %" PRId64 ": the longest central ET must be above the median ET - W, %s",
			run->id, text_duration(feed->median_rest_ns));
	r = cluster_find(&feed->central, samples, n, run->resolution_ns, options->central_max_ns, err);
	if (r < 0)
		return error_prefix(err, r, "run %" PRId64, run->id);
	feed->zones = xmalloc(n);
	feed->extra_ns = xcalloc(n, sizeof(*feed->extra_ns));
	for (size_t i = 0; i < n; i++)
		feed->zones[i] = (uint8_t)zone_of(&feed->central, samples[i].et_ns);
	feed->run = TAKE_STRUCT(*run);
	feed->samples = samples;
	*ret = TAKE(feed);
	return 0;
}

void analysis_feed_free(struct analysis_feed *feed)
{
	if (!feed)
		return;
	daemons_clear(&feed->daemons);
	free(feed->et_minus_wait_ns);
	free(feed->exact_ns);
	free(feed->spans);
	free(feed->zones);
	free(feed->extra_ns);
	free(feed->samples);
	cluster_clear(&feed->central);
	run_clear(&feed->run);
	free(feed);
}

int analysis_feed_add(struct analysis_feed *feed, const struct execution *e, struct error *err)
{
	int64_t used_ns = feed->other_cpus ? e->pt_ns : execution_disturbing_ns(e);
	int64_t pt_ns = resolution_round(used_ns, feed->resolution_ns);
	enum zone zone;
	struct daemon_statistics *daemon;
	size_t sample;

	if (e->sample > feed->samples[feed->n_samples - 1].n) /* taken after the samples were read */
		return 0;
	sample = analysis_feed_sample(feed, e->sample);
	if (sample == feed->n_samples || e->source < 1 || e->source > feed->sources->n)
		return error_say(err, -EINVAL,
			"run %" PRId64 " has an execution in sample %" PRIu32 " by process %" PRIu32
			", one of which is not in the book",
			feed->run.id, e->sample, e->source);
	if (pt_ns == 0) /* below the resolution it counts as not run */
		return 0;
	zone = feed->zones[sample];
	daemon = daemons_add(&feed->daemons, feed->patterns, &feed->sources->items[e->source - 1], e, pt_ns);
	running_add(&daemon->seen[zone], pt_ns);
	if (zone != ZONE_ABOVE) {
		daemon->pt_ns += (double)pt_ns;
		if (daemon->last != e->sample) {
			daemon->last = e->sample;
			daemon->n_present++;
			daemon->et_ns += (double)(feed->samples[sample].et_ns - feed->central.median_ns);
		}
	}
	if (zone > ZONE_CORE && pt_ns > daemon->seen[ZONE_CORE].max_ns) {
		struct long_execution *added = array_add_reused(
			daemon->longs, daemon->n_longs, daemon->capacity);

		*added = (struct long_execution){.sample = e->sample, .pt_ns = pt_ns};
	}
	return 0;
}

static int daemon_by_name(const void *a, const void *b)
{
	return strcmp(
		((const struct daemon_statistics *)a)->name, ((const struct daemon_statistics *)b)->name);
}

static void sort_daemons(struct daemons *daemons)
{
	if (daemons->n > 0)
		qsort(daemons->items, daemons->n, sizeof(*daemons->items), daemon_by_name);
}

static void find_central_statistics(struct daemons *daemons)
{
	for (size_t i = 0; i < daemons->n; i++) {
		struct daemon_statistics *daemon = &daemons->items[i];
		const struct running *central = &daemon->seen[ZONE_CORE];

		daemon->n_central = central->n;
		daemon->central_max_ns = central->max_ns;
		daemon->central_sd_ns = running_sd(central);
		daemon->n_outside = daemon->seen[ZONE_ABOVE].n;
	}
}

/* The share of the samples in these zones that daemons explain; 0 if there are none. */
static double share_explained(const struct analysis_feed *feed, unsigned zones)
{
	size_t n = 0, explained = 0;

	for (size_t i = 0; i < feed->n_samples; i++)
		if (zones & ZONE_BIT(feed->zones[i])) {
			n++;
			explained += causes_explain(feed, i);
		}
	return n > 0 ? (double)explained / (double)n : 0;
}

static void dissolve_zone(struct analysis_feed *feed, enum zone from, enum zone to)
{
	for (size_t i = 0; i < feed->n_samples; i++)
		if (feed->zones[i] == from)
			feed->zones[i] = (uint8_t)to;
	for (size_t i = 0; i < feed->daemons.n; i++) {
		struct running *seen = feed->daemons.items[i].seen;

		seen[to] = running_join(&seen[to], &seen[from]);
		seen[from] = RUNNING_NONE;
	}
}

/* Fills in spans, unless a sample does not follow the one before: in a run without start times, or if the clock was set. */
static void find_spans(struct analysis_feed *feed)
{
	feed->spans = xcalloc(feed->n_samples, sizeof(*feed->spans));
	for (size_t i = 0; i < feed->n_samples; i++) {
		const struct sample *s = &feed->samples[i];
		int64_t et_ns = feed->et_minus_wait_ns
					? feed->et_minus_wait_ns[i] + feed->exact_ns[i] - feed->median_rest_ns
					: s->et_ns;

		feed->spans[i] = (struct sample_span){s->start_ns, s->start_ns + et_ns};
		if (i > 0 && (s->start_ns <= feed->spans[i - 1].from_ns ||
				     s->start_ns < feed->spans[i - 1].to_ns)) {
			free(TAKE(feed->spans));
			return;
		}
	}
}

/* Concludes on each daemon, and lists the samples above the central cluster. */
static void conclude_daemons(struct analysis_feed *feed, struct analysis *analysis)
{
	_cleanup_(freep) bool *explained = xcalloc(feed->n_samples, sizeof(*explained));

	find_spans(feed);
	for (size_t i = 0; i < feed->daemons.n; i++) {
		struct daemon_statistics *daemon = &feed->daemons.items[i];
		size_t kept = 0;
		struct period period = {};
		size_t n = 0;

		/* Step 4: of the executions kept, those are long that are in samples above the central
		 * cluster which daemons explain, and long for the daemon. Where W is known, it must not
		 * contradict that: other processes made the sample long. */
		feed->cursor = 0;
		daemon->long_min_ns = daemon->cutoff_ns = -1;
		for (size_t k = 0; k < daemon->n_longs; k++) {
			const struct long_execution e = daemon->longs[k];
			size_t at = analysis_feed_sample(feed, e.sample);
			const struct sample *s = &feed->samples[at];

			if (feed->zones[at] != ZONE_ABOVE || !causes_explain(feed, at) ||
				!daemon_statistics_is_long(daemon, e.pt_ns) ||
				(s->wait_ns >= 0 && s->wait_ns < (s->et_ns - feed->central.median_ns) / 2))
				continue;
			explained[at] = true;
			if (kept == 0 || e.pt_ns < daemon->long_min_ns)
				daemon->long_min_ns = e.pt_ns;
			daemon->longs[kept++] = e;
		}
		daemon->n_longs = kept;
		if (kept == 0)
			continue;
		daemon->cutoff_ns = resolution_midpoint(daemon->n_central > 0 ? daemon->central_max_ns : 0,
			daemon->long_min_ns, feed->resolution_ns);

		/* In time; of imported runs first as the papers did, so that their tables come out. */
		_cleanup_(freep) uint32_t *numbers = xcalloc(daemon->n_longs, sizeof(*numbers));
		_cleanup_(freep) uint32_t *indexes = xcalloc(daemon->n_longs, sizeof(*indexes));

		feed->cursor = 0;
		for (size_t k = 0; k < daemon->n_longs; k++)
			if (n == 0 || numbers[n - 1] != daemon->longs[k].sample) {
				numbers[n] = daemon->longs[k].sample;
				indexes[n] = (uint32_t)analysis_feed_sample(feed, numbers[n]);
				n++;
			}
		if (feed->run.kind == RUN_IMPORT || !feed->spans)
			period = period_find(numbers, n, feed->samples[feed->n_samples - 1].n);
		if (feed->spans && !period_is_known(&period))
			period = period_find_in_time(indexes, n, feed->spans, feed->n_samples);
		daemon->period = period;
	}
	analysis->l_samples = xcalloc(feed->central.n_above, sizeof(uint32_t));
	analysis->unexplained = xcalloc(feed->central.n_above, sizeof(uint32_t));
	for (size_t i = 0; i < feed->n_samples; i++) {
		if (feed->zones[i] != ZONE_ABOVE)
			continue;
		if (explained[i])
			analysis->l_samples[analysis->n_l_samples++] = feed->samples[i].n;
		else
			analysis->unexplained[analysis->n_unexplained++] = feed->samples[i].n;
	}
}

/* The least exact time of the samples from `low_ns` on. */
static int64_t exact_low(const int64_t *exact, const int64_t *rounded, size_t n, int64_t low_ns)
{
	size_t i = 0;

	while (i + 1 < n && rounded[i] < low_ns)
		i++;
	return exact[i];
}

/* The greatest exact time of the samples up to `high_ns`. */
static int64_t exact_high(const int64_t *exact, const int64_t *rounded, size_t n, int64_t high_ns)
{
	size_t i = n;

	while (i > 1 && rounded[i - 1] > high_ns)
		i--;
	return exact[i - 1];
}

/* By W, the central cluster was found in rounded times. What is shown is exact: rounding keeps the order, so that the same samples
 * are within the bounds. */
static void restore_exact_times(struct analysis_feed *feed)
{
	_cleanup_(freep) int64_t *rounded = NULL, *exact = NULL;
	struct cluster *c = &feed->central;
	size_t n = feed->n_samples, first = 0, end = n;

	if (!feed->exact_ns)
		return;
	rounded = xcalloc(n, sizeof(*rounded));
	exact = xcalloc(n, sizeof(*exact));
	for (size_t i = 0; i < n; i++) {
		rounded[i] = feed->samples[i].et_ns;
		exact[i] = feed->samples[i].et_ns = feed->exact_ns[i];
	}
	sort_ascending(rounded, n);
	sort_ascending(exact, n);
	for (size_t i = 0; i < c->n_zooms; i++) {
		c->zooms[i].low_ns = exact_low(exact, rounded, n, c->zooms[i].low_ns);
		c->zooms[i].high_ns = exact_high(exact, rounded, n, c->zooms[i].high_ns);
	}
	c->low_ns = exact_low(exact, rounded, n, c->low_ns);
	c->high_ns = exact_high(exact, rounded, n, c->high_ns);
	c->core_high_ns = exact_high(exact, rounded, n, c->core_high_ns);
	c->near_high_ns = exact_high(exact, rounded, n, c->near_high_ns);
	while (exact[first] < c->low_ns)
		first++;
	while (exact[end - 1] > c->high_ns)
		end--;
	c->median_ns = llround(quantile_of(exact + first, end - first, 0.5));
}

struct analysis analysis_feed_finish(struct analysis_feed *feed)
{
	struct analysis analysis = {.resolution_ns = feed->resolution_ns};
	struct cluster *c = &feed->central;
	_cleanup_(freep) const char **known = NULL;
	size_t n_families = 0;

	/* In the order of names, in which sums are the same whichever ran first. */
	for (size_t k = 0; k < ELEMENTS(feed->family_reference); k++) {
		const struct analysis *reference = feed->family_reference[k];

		for (size_t i = 0; reference && i < reference->n_statistics; i++)
			if (reference->statistics[i].names > 0)
				*array_add(known, n_families) = reference->statistics[i].name;
	}
	sort_daemons(&feed->daemons);
	daemons_join_families(&feed->daemons, known, n_families);
	sort_daemons(&feed->daemons);
	feed->divides = causes_dividing(feed);
	find_central_statistics(&feed->daemons);
	causes_add_up(feed);

	/* If daemons explain most of the samples beyond the core, or beyond the gap further out, the
	 * central cluster ends there. */
	double beyond_core = share_explained(feed, ZONE_BIT(ZONE_NEAR) | ZONE_BIT(ZONE_FAR));
	double beyond_gap = share_explained(feed, ZONE_BIT(ZONE_FAR));
	bool core = beyond_core > EXPLAINED, gap = core || beyond_gap > EXPLAINED;

	dissolve_zone(feed, ZONE_NEAR, core ? ZONE_ABOVE : ZONE_CORE);
	dissolve_zone(feed, ZONE_FAR, gap ? ZONE_ABOVE : ZONE_CORE);
	if (gap)
		cluster_tighten(c, feed->samples, feed->n_samples, core ? c->core_high_ns : c->near_high_ns,
			core ? beyond_core : beyond_gap);
	find_central_statistics(&feed->daemons);
	conclude_daemons(feed, &analysis);
	causes_find_shares(feed);
	restore_exact_times(feed);
	verdict_find(feed, &analysis);

	/* The mean ET and the median pause, rather than the mean distance of starts: a run that was
	 * resumed after days must not give its daemons a longer period. */
	size_t n = feed->n_samples;
	_cleanup_(freep) int64_t *pauses = xcalloc(n, sizeof(*pauses));
	double sum = 0, pause;

	for (size_t i = 0; i < n; i++)
		sum += (double)feed->samples[i].et_ns;
	for (size_t i = 1; i < n; i++)
		pauses[i - 1] = feed->samples[i].start_ns - feed->samples[i - 1].start_ns -
				feed->samples[i - 1].et_ns;
	pause = n > 1 ? median_of(pauses, n - 1) : 0;
	analysis.spacing_ns = sum / (double)n + fmax(pause, 0);
	analysis.by_wait = feed->et_minus_wait_ns;
	analysis.median_rest_ns = feed->median_rest_ns;
	analysis.n_by_et = feed->n_by_et;
	analysis.run = TAKE_STRUCT(feed->run);
	analysis.central = TAKE_STRUCT(feed->central);
	analysis.samples = TAKE(feed->samples);
	analysis.n_samples = feed->n_samples;
	analysis.statistics = TAKE(feed->daemons.items);
	analysis.n_statistics = feed->daemons.n;
	feed->daemons.n = 0;
	return analysis;
}

void analysis_clear(struct analysis *analysis)
{
	daemons_clear(&(struct daemons){.items = analysis->statistics, .n = analysis->n_statistics});
	free(analysis->l_samples);
	free(analysis->unexplained);
	free(analysis->samples);
	cluster_clear(&analysis->central);
	run_clear(&analysis->run);
	*analysis = (struct analysis){};
}

const struct daemon_statistics *analysis_daemon(const struct analysis *analysis, const char *name)
{
	if (analysis->n_statistics == 0)
		return NULL;
	return bsearch(&(struct daemon_statistics){.name = (char *)name}, analysis->statistics,
		analysis->n_statistics, sizeof(*analysis->statistics), daemon_by_name);
}

const struct daemon_statistics *analysis_daemon_of(
	const struct analysis *analysis, const struct name_pattern *patterns, const struct source *source)
{
	const struct daemon_statistics *daemon = analysis_daemon(
		analysis, name_group(patterns, source->name));

	for (size_t i = 0; !daemon && i < analysis->n_statistics; i++)
		if (analysis->statistics[i].names > 0 &&
			name_family_has(analysis->statistics[i].name, source))
			daemon = &analysis->statistics[i];
	return daemon;
}

double analysis_period_ns(const struct analysis *analysis, const struct daemon_statistics *daemon)
{
	double ns = daemon->period.ns > 0 ? daemon->period.ns : daemon->period.samples * analysis->spacing_ns;

	return fmin(ns, (double)JSON_MOMENT_MAX);
}

char *analysis_period_text(
	char text[PERIOD_TEXT_SIZE], const struct analysis *analysis, const struct daemon_statistics *daemon)
{
	char why[PERIOD_WHY_SIZE], samples[32] = "";

	if (daemon->period.samples > 0)
		snprintf(samples, sizeof(samples), "%g samples = ", daemon->period.samples);
	snprintf(text, PERIOD_TEXT_SIZE, "every %s%s, %s", samples,
		text_duration((int64_t)analysis_period_ns(analysis, daemon)),
		period_why(why, &daemon->period));
	return text;
}
