/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shape of a run's scatter, and the reason: see analysis_internal.h.
 *
 * The order of the questions: Are long samples frequent, and do daemons explain them? Do others take a part of every
 * sample (busy)? Without the samples that daemons explain, are there two clusters (two speeds), or do the ETs change over
 * time (drift, step)? By W, that makes a run noisy only. Otherwise the shape is an L, or clean. Proportions are judged by the lower end of their interval, so that a few
 * samples of a short run are not significant. */
#include "lib/protocol/analysis_internal.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"
#include "lib/stats/trend.h"
#include "lib/stats/two_levels.h"
#include "lib/stats/robust.h"
#include "lib/stats/proportion.h"
#include "lib/stats/spacings.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Fewer samples than this are not significant, nor are fewer a second cluster. */
enum { LEAST = 5, LEAST_CLUSTER = 8 };
/* More than one sample in ten long, or more than one pair in twenty long in both halves, is frequent. */
static const double FREQUENT = 0.10, FREQUENT_CORNERS = 0.05;
/* Daemons that explain half of the extra time are the cause; one that explains a fifth is named. */
static const double CAUSE = 0.5, NAMED = 0.2;
/* If most of the variance is over time, the cluster is not round but stretched along the diagonal. So it is if a line
 * explains this much of it, or if neighbours are as alike as this. */
static const double SLOW = 0.6, LINE = 0.4, ALIKE = 0.55;
/* Correlations of neighbours by chance have an sd of 1/sqrt(n), and hardly ever exceed this many. */
static const double CHANCE_SD = 3;
/* The share of the slow variance that one change of level must explain to be a step; of a straight drift it explains
 * 0.75. */
static const double STEP = 0.88;
/* Two clusters whose middles are this many robust sd apart hardly overlap. */
static const double TWO_SPEEDS_SD = 6;

/* ", " and the names of the daemons that explain most, the one that explains the most first. */
static void name_the_frequent(struct analysis_feed *feed, struct analysis *analysis, char *text, size_t size)
{
	size_t greatest = 0, len = 0;
	double all = 0;

	for (size_t i = 0; i < feed->n_tallies; i++) {
		all += fmax(feed->tallies[i].extra, 0);
		if (feed->tallies[i].extra > feed->tallies[greatest].extra)
			greatest = i;
	}
	for (size_t i = 0; i < feed->n_tallies; i++)
		analysis->statistics[i].frequent = i == greatest || feed->tallies[i].extra >= NAMED * all;
	len += (size_t)snprintf(text, size, "%s", analysis->statistics[greatest].name);
	for (size_t i = 0; i < analysis->n_statistics && len < size; i++)
		if (i != greatest && analysis->statistics[i].frequent)
			len += (size_t)snprintf(text + len, size - len, ", %s", analysis->statistics[i].name);
	text_trim_utf8(text);
}

/* A bound of the central cluster: an ET with the significant digits, or a W. */
static char *bound_text(char text[TEXT_TIME_SIZE], const struct analysis_feed *feed, int64_t bound_ns)
{
	const struct cluster *c = &feed->central;

	if (feed->own_ns)
		return text_duration(text, bound_ns - feed->usual_ns);
	return text_precise(text, (double)bound_ns, (double)(c->high_ns - c->low_ns) / 10);
}

/* Samples and pairs of samples that are long and that daemons explain. */
static void count_explained(const struct analysis_feed *feed, size_t *ret_samples, size_t *ret_corners)
{
	bool mate = false;

	*ret_samples = *ret_corners = 0;
	for (size_t i = 0; i < feed->n_samples; i++) {
		int64_t longer_ns = feed->samples[i].et_ns - feed->central.median_ns;
		bool explained = feed->zones[i] == ZONE_ABOVE && (double)longer_ns >= feed->material_ns &&
				 causes_explain(feed, i);

		*ret_samples += explained;
		*ret_corners += i % 2 == 1 && explained && mate;
		mate = explained;
	}
}

static void set_frequent(struct analysis_feed *feed, struct analysis *analysis, size_t slow, int64_t bound_ns)
{
	char names[200], bound[TEXT_TIME_SIZE];

	name_the_frequent(feed, analysis, names, sizeof(names));
	bound_text(bound, feed, bound_ns);
	analysis->verdict = VERDICT_FREQUENT;
	snprintf(analysis->why, sizeof(analysis->why),
		"frequent daemons in the upper right: %zu of %zu samples (%.0f %%) %s %s or more because of %s",
		slow, feed->n_samples, 100 * (double)slow / (double)feed->n_samples,
		feed->own_ns ? "have a W of" : "take", bound, names);
}

/* Long samples are the minority: each is judged separately. */
static bool is_frequent(struct analysis_feed *feed, struct analysis *analysis)
{
	size_t samples, corners;

	count_explained(feed, &samples, &corners);
	if (samples < LEAST)
		return false;
	if (proportion_at_least(samples, feed->n_samples) <= FREQUENT &&
		proportion_at_least(corners, feed->n_samples / 2) <= FREQUENT_CORNERS)
		return false;
	causes_share_out(feed, analysis->statistics);
	set_frequent(feed, analysis, samples, feed->central.high_ns);
	return true;
}

/* Long samples are the majority, and form the central cluster: the short ones show the usual times. */
static bool is_usually_long(struct analysis_feed *feed, struct analysis *analysis)
{
	const struct cluster *c = &feed->central;

	if (c->n_below < LEAST || proportion_at_least(c->n_below, c->n_samples) <= FREQUENT ||
		causes_explained_share(feed, IN(ZONE_BELOW), IN(ZONE_CORE) | IN(ZONE_ABOVE)) < CAUSE)
		return false;
	set_frequent(feed, analysis, c->n_central + c->n_above, c->low_ns);
	return true;
}

/* A daemon runs in many samples, and these are the longer ones, without a gap between. */
static bool is_divided(const struct analysis_feed *feed, struct analysis *analysis)
{
	const struct daemon_tally *tally = feed->divides;

	if (!tally || tally->pt_ns < feed->material_ns * (double)tally->n_present)
		return false;
	analysis->statistics[tally - feed->tallies].frequent = true;
	analysis->verdict = VERDICT_FREQUENT;
	snprintf(analysis->why, sizeof(analysis->why),
		"frequent daemons: %s ran in %zu of %zu samples, and those are the longer ones", tally->name,
		tally->n_present, feed->n_samples);
	return true;
}

/* How far single ETs may weigh in the trend: all of the central cluster and two of its sd more, but not
 * the two outermost in a hundred on either side. */
static void limits(
	const struct analysis_feed *feed, const int64_t *sorted, size_t n, int64_t *low, int64_t *high)
{
	const struct cluster *c = &feed->central;
	struct running central = RUNNING_NONE;

	for (size_t i = 0; i < n; i++)
		if (cluster_holds(c, sorted[i]))
			running_add(&central, sorted[i]);
	*low = llround(quantile_of(sorted, n, 0.02));
	*high = llround(quantile_of(sorted, n, 0.98));
	if (feed->own_ns) /* the central cluster is not of these times */
		return;
	*low = llround(fmax((double)*low, (double)c->low_ns - 2 * running_sd(&central)));
	*high = llround(fmin((double)*high, (double)c->high_ns + 2 * running_sd(&central)));
}

/* The times of the samples that daemons do not explain. */
struct series {
	int64_t *in_time; /* in the order of time */
	int64_t *sorted;
	size_t n;
};

static void series_clear(struct series *series)
{
	free(series->in_time);
	free(series->sorted);
}

static int series_make(struct series *s, const struct analysis_feed *feed, const struct analysis *analysis)
{
	size_t l = 0;

	s->in_time = xreallocarray(NULL, feed->n_samples + 1, sizeof(*s->in_time));
	s->sorted = xreallocarray(NULL, feed->n_samples + 1, sizeof(*s->sorted));
	for (size_t i = 0; i < feed->n_samples; i++) {
		if (l < analysis->n_l_samples && analysis->l_samples[l] == feed->samples[i].n)
			l++;
		else
			s->in_time[s->n++] = feed->own_ns ? feed->own_ns[i] : feed->samples[i].et_ns;
	}
	memcpy(s->sorted, s->in_time, s->n * sizeof(*s->sorted));
	sort_ascending(s->sorted, s->n);
	return 0;
}

static void set_step(const struct analysis_feed *feed, struct analysis *analysis, const struct trend *trend)
{
	char before[TEXT_TIME_SIZE], after[TEXT_TIME_SIZE];

	analysis->verdict = VERDICT_STEP;
	snprintf(analysis->why, sizeof(analysis->why),
		"a step between two speeds: %sabout %s in the first %zu samples, then about %s; %.0f %% of the variance is this change",
		feed->own_ns ? "ET - W is " : "",
		text_precise(before, trend->before, fabs(trend->after - trend->before)), trend->change,
		text_precise(after, trend->after, fabs(trend->after - trend->before)), 100 * trend->step);
}

static void set_drift(
	const struct analysis_feed *feed, struct analysis *analysis, const struct trend *trend, double alike)
{
	double slow = fmax(trend->slow, trend->line);

	analysis->verdict = VERDICT_DRIFT;
	if (slow >= alike)
		snprintf(analysis->why, sizeof(analysis->why),
			"a drift of the machine's speed: %.0f %% of the variance of %s changes slowly with time (%.0f %% along a straight line)",
			100 * slow, feed->own_ns ? "ET - W" : "ET", 100 * trend->line);
	else
		snprintf(analysis->why, sizeof(analysis->why),
			"a drift of the machine's speed: neighbouring samples are alike (correlation %.2f)",
			alike);
}

/* How much neighbours are alike, without the bias of a short series (Marriott & Pope 1954); 0 if it may be chance. Where W
 * is known, that hides nothing: only what others took makes L-samples. */
static double alike_of(const struct analysis_feed *feed, const struct series *s)
{
	double n = (double)s->n, alike = feed->own_ns ? 0 : neighbours_alike(s->in_time, s->sorted, s->n);

	return alike > CHANCE_SD / sqrt(n) ? fmin(alike + (1 + 4 * alike) / n, 1) : 0;
}

static bool has_trend(const struct analysis_feed *feed, const struct series *s, struct analysis *analysis)
{
	struct trend trend;
	int64_t low, high;
	double alike;

	if (s->n == 0)
		return false;
	limits(feed, s->sorted, s->n, &low, &high);
	trend = trend_of(s->in_time, s->n, low, high);
	alike = alike_of(feed, s);
	if (trend.line <= CHANCE_SD * CHANCE_SD / (double)s->n)
		trend.line = 0;
	if (trend.slow < SLOW && trend.line < LINE && alike < ALIKE)
		return false;
	if (trend.step > trend.line && trend.step >= STEP * fmax(trend.slow, alike))
		set_step(feed, analysis, &trend);
	else
		set_drift(feed, analysis, &trend, alike);
	return true;
}

/* The least number of n samples that is a second cluster rather than a few outliers. */
static size_t least_cluster(size_t n)
{
	size_t least = LEAST_CLUSTER;

	while (least < n && proportion_at_least(least, n) <= FREQUENT)
		least++;
	return least;
}

/* Two speeds, whichever has more samples; a single change of level is a step (has_trend). */
static bool has_two_speeds(
	const struct analysis_feed *feed, const struct series *s, struct analysis *analysis)
{
	struct two_levels levels = two_levels_of(
		s->sorted, s->n, least_cluster(s->n), quantum_of(s->sorted, s->n));
	double apart = levels.high - levels.low;
	char low[TEXT_TIME_SIZE], high[TEXT_TIME_SIZE];

	if (levels.n_low == 0 || levels.apart < TWO_SPEEDS_SD)
		return false;
	analysis->verdict = VERDICT_STEP;
	snprintf(analysis->why, sizeof(analysis->why),
		"a step between two speeds: %zu samples %s about %s, %zu about %s, and no daemon explains it",
		levels.n_low, feed->own_ns ? "have an ET - W of" : "take",
		text_precise(low, levels.low, apart), s->n - levels.n_low,
		text_precise(high, levels.high, apart));
	return true;
}

static void set_l_or_clean(const struct analysis_feed *feed, struct analysis *analysis)
{
	const struct cluster *c = &feed->central;
	const char *time = feed->own_ns ? "with W " : "";
	char bound[TEXT_TIME_SIZE];
	size_t len;

	analysis->verdict = analysis->n_l_samples > 0 ? VERDICT_L : VERDICT_CLEAN;
	bound_text(bound, feed, c->high_ns);
	if (analysis->n_l_samples > 0)
		len = (size_t)snprintf(analysis->why, sizeof(analysis->why),
			"an L: %zu of %zu samples %sover %s, because daemons ran long", analysis->n_l_samples,
			c->n_samples, time, bound);
	else
		len = (size_t)snprintf(analysis->why, sizeof(analysis->why),
			"one clean cluster of %zu sample%s %sup to %s", c->n_central,
			c->n_central == 1 ? "" : "s", time, bound);
	if (analysis->n_unexplained > 0)
		snprintf(analysis->why + len, sizeof(analysis->why) - len,
			"; %zu beyond it %s long, and no daemons explain it", analysis->n_unexplained,
			analysis->n_unexplained == 1 ? "is" : "are");
}

/* By W, a machine whose speed changes hides no daemon, and cutoffs are times of daemons: the run is at most noisy. */
static void note_speed(const struct analysis_feed *feed, const struct series *s, struct analysis *analysis)
{
	char speed[sizeof(analysis->why)];
	size_t len;

	strcpy(speed, analysis->why);
	set_l_or_clean(feed, analysis);
	len = strlen(analysis->why);
	snprintf(analysis->why + len, sizeof(analysis->why) - len, "; %s", speed);
	analysis->noise.noisy |= noise_varies(s->sorted, s->n);
}

/* By W, samples may be long without the cluster showing it: those in which the program itself took long. */
static int note_long_themselves(
	const struct analysis_feed *feed, const struct series *s, struct analysis *analysis)
{
	_cleanup_(freep) struct sample *samples = xcalloc(s->n + 1, sizeof(*samples));
	_cleanup_(cluster_clear) struct cluster c = {};
	struct error ignored;
	char bound[TEXT_TIME_SIZE];
	size_t len = strlen(analysis->why);

	if (s->n == 0)
		return 0;
	for (size_t i = 0; i < s->n; i++)
		samples[i].et_ns = s->in_time[i];
	if (cluster_find(&c, samples, s->n, feed->run.resolution_ns, 0, &ignored) < 0)
		return -ENOMEM;
	if (c.n_above > 0)
		snprintf(analysis->why + len, sizeof(analysis->why) - len,
			"; %zu with an ET - W over %s %s long, and no daemons explain it", c.n_above,
			text_precise(bound, (double)c.high_ns, (double)(c.high_ns - c.low_ns) / 10),
			c.n_above == 1 ? "is" : "are");
	return 0;
}

static int judge(struct analysis_feed *feed, struct analysis *analysis)
{
	_cleanup_(series_clear) struct series series = {};
	int r;

	if (is_frequent(feed, analysis) || is_usually_long(feed, analysis) || is_divided(feed, analysis))
		return 0;
	r = noise_find_busy(feed, analysis);
	if (r != 0)
		return r;
	r = series_make(&series, feed, analysis);
	if (r < 0)
		return r;
	if (!has_two_speeds(feed, &series, analysis) && !has_trend(feed, &series, analysis)) {
		set_l_or_clean(feed, analysis);
		return feed->own_ns ? note_long_themselves(feed, &series, analysis) : 0;
	}
	if (feed->own_ns)
		note_speed(feed, &series, analysis);
	return 0;
}

int shape_judge(struct analysis_feed *feed, struct analysis *analysis)
{
	char noise[NOISE_TEXT_SIZE];
	size_t len;
	int r = noise_find(feed, &analysis->noise);

	if (r == 0)
		r = judge(feed, analysis);
	if (r < 0)
		return r;
	if (analysis->noise.noisy) {
		len = strlen(analysis->why);
		noise_describe(&analysis->noise, noise);
		snprintf(analysis->why + len, sizeof(analysis->why) - len, "; %s", noise);
	}
	text_trim_utf8(analysis->why);
	return 0;
}
