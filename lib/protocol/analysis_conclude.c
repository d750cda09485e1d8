/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the sums of a feed to an analysis: see analysis_feed.h. */
#include "lib/protocol/analysis_feed.h"
#include "lib/base/xalloc.h"
#include "lib/protocol/analysis_internal.h"

#include "lib/base/text.h"
#include "lib/stats/robust.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* If daemons explain half of the samples beyond a bound, the bound holds. */
static const double EXPLAINED = 0.5;

/* The book has every process that ever ran; the analysis has those of this run. */
static void drop_unseen(struct analysis_feed *feed)
{
	size_t kept = 0;

	for (size_t i = 0; i < feed->n_tallies; i++)
		if (feed->tallies[i].longest_ns > 0) /* what never ran owns no memory */
			feed->tallies[kept++] = feed->tallies[i];
	feed->n_tallies = kept;
}

/* The share of the samples in these zones that daemons explain; 0 if there are none. */
static double share_explained(const struct analysis_feed *feed, unsigned zones)
{
	size_t n = 0, explained = 0;

	for (size_t i = 0; i < feed->n_samples; i++)
		if (zones & IN(feed->zones[i])) {
			n++;
			explained += causes_explain(feed, i);
		}
	return n > 0 ? (double)explained / (double)n : 0;
}

static void move(struct analysis_feed *feed, enum zone from, enum zone to)
{
	for (size_t i = 0; i < feed->n_samples; i++)
		if (feed->zones[i] == from)
			feed->zones[i] = (uint8_t)to;
	for (struct daemon_tally *tally = feed->tallies; tally < feed->tallies + feed->n_tallies; tally++) {
		tally->seen[to] = running_join(&tally->seen[to], &tally->seen[from]);
		tally->seen[from] = RUNNING_NONE;
	}
}

/* If daemons explain most of the samples beyond the core, or beyond the gap further out, the central cluster ends
 * there. */
static int settle(struct analysis_feed *feed)
{
	struct cluster *c = &feed->central;
	double beyond_core = share_explained(feed, IN(ZONE_NEAR) | IN(ZONE_FAR));
	double beyond_gap = share_explained(feed, IN(ZONE_FAR));
	bool core = beyond_core > EXPLAINED, gap = core || beyond_gap > EXPLAINED;

	move(feed, ZONE_NEAR, core ? ZONE_ABOVE : ZONE_CORE);
	move(feed, ZONE_FAR, gap ? ZONE_ABOVE : ZONE_CORE);
	if (!gap)
		return 0;
	return cluster_tighten(c, feed->samples, feed->n_samples, core ? c->core_high_ns : c->near_high_ns,
		core ? beyond_core : beyond_gap);
}

/* Step 4, for the kept executions of one daemon: removes those in the central cluster, those in samples that daemons do
 * not explain, and those that are not long for it, and marks the samples of the others as explained. */
static void sift(struct analysis_feed *feed, struct daemon_tally *tally, bool *explained)
{
	const struct running *central = &tally->seen[ZONE_CORE];
	size_t kept = 0;

	feed->cursor = 0;
	for (size_t i = 0; i < tally->n_longs; i++) {
		size_t sample = analysis_feed_sample(feed, tally->longs[i].sample);

		if (feed->zones[sample] != ZONE_ABOVE || !analysis_feed_explains(feed, sample) ||
			!running_is_long(central, tally->longs[i].pt_ns))
			continue;
		explained[sample] = true;
		tally->longs[kept++] = tally->longs[i];
	}
	tally->n_longs = kept;
}

static int list_samples(struct analysis_feed *feed, const bool *explained, struct analysis *analysis)
{
	size_t above = feed->central.n_above;

	analysis->l_samples = xreallocarray(NULL, above + 1, sizeof(uint32_t));
	analysis->unexplained = xreallocarray(NULL, above + 1, sizeof(uint32_t));
	for (size_t i = 0; i < feed->n_samples; i++) {
		if (feed->zones[i] != ZONE_ABOVE)
			continue;
		if (explained[i])
			analysis->l_samples[analysis->n_l_samples++] = feed->samples[i].n;
		else
			analysis->unexplained[analysis->n_unexplained++] = feed->samples[i].n;
	}
	return 0;
}

/* Fills in spans, unless a sample does not follow the one before: in a run without start times, or if the clock was set. */
static int find_spans(struct analysis_feed *feed)
{
	feed->spans = xreallocarray(NULL, feed->n_samples, sizeof(*feed->spans));
	for (size_t i = 0; i < feed->n_samples; i++) {
		const struct sample *s = &feed->samples[i];
		int64_t et_ns = feed->own_ns ? feed->own_ns[i] + feed->exact_ns[i] - feed->usual_ns : s->et_ns;

		feed->spans[i] = (struct sample_span){s->start_ns, s->start_ns + et_ns};
		if (i > 0 && (s->start_ns <= feed->spans[i - 1].from_ns ||
				     s->start_ns < feed->spans[i - 1].to_ns)) {
			free(TAKE(feed->spans));
			return 0;
		}
	}
	return 0;
}

/* In time; of imported runs first as the papers did, so that their tables come out. */
static int find_daemon_period(struct daemon_statistics *daemon, struct analysis_feed *feed)
{
	_cleanup_(freep) uint32_t *numbers = xreallocarray(NULL, daemon->n_longs + 1, sizeof(*numbers));
	_cleanup_(freep) uint32_t *indexes = xreallocarray(NULL, daemon->n_longs + 1, sizeof(*indexes));
	size_t n = 0;

	feed->cursor = 0;
	for (size_t i = 0; i < daemon->n_longs; i++)
		if (n == 0 || numbers[n - 1] != daemon->longs[i].sample) {
			numbers[n] = daemon->longs[i].sample;
			indexes[n] = (uint32_t)analysis_feed_sample(feed, numbers[n]);
			n++;
		}
	if (feed->run.kind == RUN_IMPORT || !feed->spans)
		daemon->period = period_find(numbers, n, feed->samples[feed->n_samples - 1].n);
	if (feed->spans && !period_is_known(&daemon->period))
		daemon->period = period_find_in_time(indexes, n, feed->spans, feed->n_samples);
	return 0;
}

static int64_t least(const struct long_execution *longs, size_t n)
{
	int64_t least_ns = longs[0].pt_ns;

	for (size_t i = 1; i < n; i++)
		if (longs[i].pt_ns < least_ns)
			least_ns = longs[i].pt_ns;
	return least_ns;
}

static int conclude_daemon(
	struct daemon_statistics *daemon, struct daemon_tally *tally, struct analysis_feed *feed)
{
	const struct running *central = &tally->seen[ZONE_CORE];
	const char *unit = feed->daemons->items[tally->longest].unit;

	daemon->names = tally->names;
	daemon->n_central = central->n;
	daemon->central_max_ns = central->max_ns;
	daemon->central_sd_ns = running_sd(central);
	daemon->n_outside = tally->seen[ZONE_ABOVE].n;
	daemon->n_longs = tally->n_longs;
	daemon->longs = TAKE(tally->longs);
	daemon->long_min_ns = daemon->cutoff_ns = -1;
	daemon->name = xstrdup(tally->name);
	daemon->unit = text_copy(unit);
	if (!daemon->name || (unit && !daemon->unit))
		return -ENOMEM;
	if (daemon->n_longs == 0)
		return 0;
	daemon->long_min_ns = least(daemon->longs, daemon->n_longs);
	daemon->cutoff_ns = resolution_midpoint(
		central->n > 0 ? central->max_ns : 0, daemon->long_min_ns, feed->resolution_ns);
	return find_daemon_period(daemon, feed);
}

/* The mean ET and the median pause, rather than the mean distance of starts: a run that was resumed after
 * days must not give its daemons a longer period. */
static double spacing(const struct sample *samples, size_t n)
{
	_cleanup_(freep) int64_t *pauses = xreallocarray(NULL, n, sizeof(*pauses));
	double sum = 0, pause;

	for (size_t i = 0; i < n; i++)
		sum += (double)samples[i].et_ns;
	for (size_t i = 1; pauses && i < n; i++)
		pauses[i - 1] = samples[i].start_ns - samples[i - 1].start_ns - samples[i - 1].et_ns;
	pause = n > 1 && pauses ? median_of(pauses, n - 1) : 0;
	return sum / (double)n + fmax(pause, 0);
}

static int make_analysis(struct analysis_feed *feed, struct analysis *analysis)
{
	_cleanup_(freep) bool *explained = xcalloc(feed->n_samples, sizeof(*explained));
	int r;

	analysis->statistics = xcalloc(feed->n_tallies + 1, sizeof(*analysis->statistics));
	r = find_spans(feed);
	if (r < 0)
		return r;
	analysis->n_statistics = feed->n_tallies;
	for (size_t i = 0; i < feed->n_tallies; i++) {
		sift(feed, &feed->tallies[i], explained);
		r = conclude_daemon(&analysis->statistics[i], &feed->tallies[i], feed);
		if (r < 0)
			return r;
	}
	return list_samples(feed, explained, analysis);
}

/* The least exact time of the samples from `low_ns` on, and the greatest of those up to `high_ns`. */
static int64_t exact_low(const int64_t *exact, const int64_t *rounded, size_t n, int64_t low_ns)
{
	size_t i = 0;

	while (i + 1 < n && rounded[i] < low_ns)
		i++;
	return exact[i];
}

static int64_t exact_high(const int64_t *exact, const int64_t *rounded, size_t n, int64_t high_ns)
{
	size_t i = n;

	while (i > 1 && rounded[i - 1] > high_ns)
		i--;
	return exact[i - 1];
}

static void set_exact_bounds(struct cluster *c, const int64_t *exact, const int64_t *rounded, size_t n)
{
	size_t first = 0, end;

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
	for (end = n; exact[end - 1] > c->high_ns;)
		end--;
	c->median_ns = llround(quantile_of(exact + first, end - first, 0.5));
}

/* By W, the central cluster was found in rounded times. What is shown is exact: rounding keeps the order, so that the same samples
 * are within the bounds. */
static int show_exact(struct analysis_feed *feed)
{
	_cleanup_(freep) int64_t *rounded = NULL, *exact = NULL;
	size_t n = feed->n_samples;

	if (!feed->exact_ns)
		return 0;
	rounded = xreallocarray(NULL, n, sizeof(*rounded));
	exact = xreallocarray(NULL, n, sizeof(*exact));
	for (size_t i = 0; i < n; i++) {
		rounded[i] = feed->samples[i].et_ns;
		exact[i] = feed->samples[i].et_ns = feed->exact_ns[i];
	}
	sort_ascending(rounded, n);
	sort_ascending(exact, n);
	set_exact_bounds(&feed->central, exact, rounded, n);
	return 0;
}

int analysis_feed_finish(struct analysis_feed *feed, struct analysis *ret, struct error *err)
{
	_cleanup_(analysis_clear) struct analysis analysis = {.resolution_ns = feed->resolution_ns};
	int r;

	drop_unseen(feed);
	if (families_join(feed) < 0)
		return error_oom(err);
	drop_unseen(feed);
	feed->divides = causes_dividing(feed);
	causes_add_up(feed);
	r = settle(feed);
	if (r == 0)
		r = make_analysis(feed, &analysis);
	if (r == 0)
		causes_find_shares(feed, analysis.statistics);
	if (r == 0)
		r = show_exact(feed);
	if (r == 0)
		r = shape_judge(feed, &analysis);
	if (r < 0)
		return error_oom(err);
	analysis.spacing_ns = spacing(feed->samples, feed->n_samples);
	analysis.run = feed->run;
	analysis.central = feed->central;
	analysis.n_samples = feed->n_samples;
	analysis.samples = TAKE(feed->samples);
	analysis.by_wait = feed->own_ns;
	analysis.usual_ns = feed->usual_ns;
	analysis.n_by_et = feed->n_by_et;
	feed->run = (struct run){};
	feed->central = (struct cluster){};
	*ret = TAKE_STRUCT(analysis);
	return 0;
}
