/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on a run, by the shape of its scatter, and the reason; and what its central cluster hides.
 *
 * The order of the questions: Are long samples frequent, and do daemons explain them? Do others take a part of every
 * sample (busy)? Without the samples that daemons explain, are there two clusters (two speeds), or do the ETs change over
 * time (drift, step)? By W, that makes a run noisy only. Otherwise the shape is an L, or clean. Proportions are judged by
 * the lower end of their interval, so that a few samples of a short run are not significant. */
#include "lib/protocol/analysis_internal.h"

#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/stats/summary.h"
#include "lib/stats/time_series.h"

#include <math.h>
#include <stdarg.h>
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
/* Of the ET of the median sample: if others take more of it, the CPU is busy. */
static const double BUSY = 0.02;
/* A central cluster that reaches further above its median, or a PT that varies more, is noisy. */
static const double WIDE = 0.05, VARYING = 0.01;
/* Of normal values, how many sd the deciles are apart: twice the normal quantile of 0.9. */
static const double DECILES_OF_NORMAL = 2.563103131089201;
/* ET - PT of a sample from which nothing was taken: the time that it takes to start a program and to notice its end. */
static const int64_t START_NS = NS_PER_MS;

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_L] = "L",
		[VERDICT_CLEAN] = "clean",
		[VERDICT_FREQUENT] = "frequent",
		[VERDICT_DRIFT] = "drift",
		[VERDICT_STEP] = "step",
		[VERDICT_BUSY] = "busy",
	};

	return names[verdict];
}

__attribute__((format(printf, 2, 3))) static void add_why(struct analysis *analysis, const char *format, ...)
{
	size_t len = strlen(analysis->why);
	va_list args;

	va_start(args, format);
	vsnprintf(analysis->why + len, sizeof(analysis->why) - len, format, args);
	va_end(args);
}

/* A bound of the central cluster: an ET with the significant digits, or a W. */
static const char *verdict_bound_text(const struct analysis_feed *feed, int64_t bound_ns)
{
	const struct cluster *c = &feed->central;

	if (feed->et_minus_wait_ns)
		return text_duration(bound_ns - feed->median_rest_ns);
	return text_precise((double)bound_ns, (double)(c->high_ns - c->low_ns) / 10);
}

/* Names the daemons that explain most, the one that explains the most first. */
static void set_frequent(struct analysis_feed *feed, struct analysis *analysis, size_t slow, int64_t bound_ns)
{
	struct daemon_statistics *items = feed->daemons.items;
	char names[200];
	size_t greatest = 0, len;
	double all = 0;

	for (size_t i = 0; i < feed->daemons.n; i++) {
		all += fmax(items[i].extra, 0);
		if (items[i].extra > items[greatest].extra)
			greatest = i;
	}
	for (size_t i = 0; i < feed->daemons.n; i++)
		items[i].frequent = i == greatest || items[i].extra >= NAMED * all;
	len = (size_t)snprintf(names, sizeof(names), "%s", items[greatest].name);
	for (size_t i = 0; i < feed->daemons.n && len < sizeof(names); i++)
		if (i != greatest && items[i].frequent)
			len += (size_t)snprintf(names + len, sizeof(names) - len, ", %s", items[i].name);
	text_trim_utf8(names);
	analysis->verdict = VERDICT_FREQUENT;
	add_why(analysis,
		"frequent daemons in the upper right: %zu of %zu samples (%.0f %%) %s %s or more because of %s",
		slow, feed->n_samples, 100 * (double)slow / (double)feed->n_samples,
		feed->et_minus_wait_ns ? "have a W of" : "take", verdict_bound_text(feed, bound_ns), names);
}

/* Long samples are the minority: each is judged separately. */
static bool is_frequent(struct analysis_feed *feed, struct analysis *analysis)
{
	size_t samples = 0, corners = 0;
	bool mate = false;

	for (size_t i = 0; i < feed->n_samples; i++) {
		int64_t longer_ns = feed->samples[i].et_ns - feed->central.median_ns;
		bool explained = feed->zones[i] == ZONE_ABOVE && (double)longer_ns >= feed->least_ns &&
				 causes_explain(feed, i);

		samples += explained;
		corners += i % 2 == 1 && explained && mate; /* both of a pair */
		mate = explained;
	}
	if (samples < LEAST)
		return false;
	if (proportion_at_least(samples, feed->n_samples) <= FREQUENT &&
		proportion_at_least(corners, feed->n_samples / 2) <= FREQUENT_CORNERS)
		return false;
	causes_attribute(feed);
	set_frequent(feed, analysis, samples, feed->central.high_ns);
	return true;
}

/* Long samples are the majority, and form the central cluster: the short ones show the usual times. */
static bool is_usually_long(struct analysis_feed *feed, struct analysis *analysis)
{
	const struct cluster *c = &feed->central;

	if (c->n_below < LEAST || proportion_at_least(c->n_below, c->n_samples) <= FREQUENT ||
		causes_explained_share(
			feed, ZONE_BIT(ZONE_BELOW), ZONE_BIT(ZONE_CORE) | ZONE_BIT(ZONE_ABOVE)) < CAUSE)
		return false;
	set_frequent(feed, analysis, c->n_central + c->n_above, c->low_ns);
	return true;
}

/* A daemon runs in many samples, and these are the longer ones, without a gap between. */
static bool is_divided(struct analysis_feed *feed, struct analysis *analysis)
{
	const struct daemon_statistics *daemon = feed->divides;

	if (!daemon || daemon->pt_ns < feed->least_ns * (double)daemon->n_present)
		return false;
	feed->daemons.items[daemon - feed->daemons.items].frequent = true;
	analysis->verdict = VERDICT_FREQUENT;
	add_why(analysis, "frequent daemons: %s ran in %zu of %zu samples, and those are the longer ones",
		daemon->name, daemon->n_present, feed->n_samples);
	return true;
}

static int64_t sample_et_ns(const struct sample *sample)
{
	return sample->et_ns;
}

static int64_t sample_pt_ns(const struct sample *sample)
{
	return sample->pt_ns;
}

static int64_t sample_preempted_ns(const struct sample *sample)
{
	int64_t taken_ns = sample_taken_ns(sample);

	return sample->wait_ns >= 0 ? taken_ns : taken_ns > START_NS ? taken_ns - START_NS : 0;
}

/* One time of each sample of the core, ascending; the caller frees it. */
static int64_t *core_times(
	const struct analysis_feed *feed, int64_t (*time_of)(const struct sample *sample), size_t *ret_n)
{
	int64_t *times = xcalloc(feed->n_samples, sizeof(*times));
	size_t n = 0;

	for (size_t i = 0; i < feed->n_samples; i++)
		if (feed->zones[i] == ZONE_CORE)
			times[n++] = time_of(&feed->samples[i]);
	sort_ascending(times, n);
	*ret_n = n;
	return times;
}

static double core_time_of(const struct daemon_statistics *daemon)
{
	return running_sum(&daemon->seen[ZONE_CORE]);
}

/* The time that other processes took from the central samples. */
struct preemptions {
	double et_ns; /* the sum over the central samples */
	double share; /* the share of et_ns that other processes took */
	double counted_ns; /* what they took, or their known executions if these are longer: the program did not wait for all of them */
};

/* The next largest consumer after `after`; NULL: the first, or there is none. */
static const struct daemon_statistics *next_consumer(
	const struct daemons *daemons, const struct daemon_statistics *after)
{
	const struct daemon_statistics *next = NULL;

	for (const struct daemon_statistics *d = daemons->items; d < daemons->items + daemons->n; d++) {
		double time = core_time_of(d), limit = after ? core_time_of(after) : INFINITY;

		if (time <= 0 || time > limit || (time == limit && d <= after))
			continue;
		if (!next || time > core_time_of(next))
			next = d;
	}
	return next;
}

/* Others take so much of the median sample that it does not show the program alone. INC never waits for anything else, so
 * that its ET - PT is what others took; of other programs only W is. */
static bool is_cpu_busy(const struct analysis_feed *feed, struct analysis *analysis)
{
	enum run_kind kind = feed->run.kind;
	bool inc = kind == RUN_SHORT || kind == RUN_LONG || kind == RUN_REVALIDATE;
	_cleanup_(freep) int64_t *ets = NULL, *taken = NULL;
	char names[200];
	struct preemptions sums;
	size_t n;
	const struct daemon_statistics *d = NULL;
	size_t len = 0;
	struct preemptions preemptions_sums = {};

	if (!inc && feed->samples[0].wait_ns < 0)
		return false;
	ets = core_times(feed, sample_et_ns, &n);
	taken = core_times(feed, sample_preempted_ns, &n);
	if (n == 0 || quantile_of(taken, n, 0.5) <= BUSY * quantile_of(ets, n, 0.5))
		return false;

	double preemptions_taken = 0, known = 0;

	for (size_t i = 0; i < feed->n_samples; i++) {
		const struct sample *s = &feed->samples[i];

		if (feed->zones[i] != ZONE_CORE)
			continue;
		preemptions_taken += (double)sample_preempted_ns(s);
		preemptions_sums.et_ns += (double)(feed->et_minus_wait_ns ? s->et_ns - feed->median_rest_ns +
										    feed->et_minus_wait_ns[i]
									  : s->et_ns);
	}
	for (size_t i = 0; i < feed->daemons.n; i++)
		known += core_time_of(&feed->daemons.items[i]);
	preemptions_sums.share = preemptions_taken / preemptions_sums.et_ns;
	preemptions_sums.counted_ns = fmax(preemptions_taken, known);
	sums = preemptions_sums;
	if (sums.et_ns <= 0)
		return false;

	/* " (stress-ng 31 %, cron 12 %)": those who took most of it, or at least the one who took most of
	 * all, and how much of the time of the central samples. */
	size_t size = sizeof(names);

	*names = '\0';
	while (len < size && (d = next_consumer(&feed->daemons, d))) {
		double share = sums.share * core_time_of(d) / sums.counted_ns;

		if (len > 0 && share < NAMED * sums.share)
			break;
		len += (size_t)snprintf(
			names + len, size - len, "%s%s %s", len ? ", " : " (", d->name, text_percent(share));
	}
	if (len > 0 && len < size)
		snprintf(names + len, size - len, ")");
	text_trim_utf8(names);
	analysis->verdict = VERDICT_BUSY;
	add_why(analysis, "a busy CPU: other processes took %s of the time of the central samples%s",
		text_percent(sums.share), names);
	return true;
}

/* The times of the samples that daemons do not explain. */
struct unexplained_times {
	int64_t *in_time; /* in the order of time */
	int64_t *sorted;
	size_t n;
};

static void unexplained_times_clear(struct unexplained_times *times)
{
	free(times->in_time);
	free(times->sorted);
}

/* Two speeds, whichever has more samples; a single change of level is a step (has_trend). */
static bool has_two_speeds(
	const struct analysis_feed *feed, const struct unexplained_times *t, struct analysis *analysis)
{
	size_t least = LEAST_CLUSTER; /* samples that are a second cluster rather than a few outliers */
	struct two_levels levels;
	double apart;

	while (least < t->n && proportion_at_least(least, t->n) <= FREQUENT)
		least++;
	levels = two_levels_of(t->sorted, t->n, least, quantum_of(t->sorted, t->n));
	apart = levels.high - levels.low;
	if (levels.n_low == 0 || levels.apart < TWO_SPEEDS_SD)
		return false;
	analysis->verdict = VERDICT_STEP;
	add_why(analysis,
		"a step between two speeds: %zu samples %s about %s, %zu about %s, and no daemon explains it",
		levels.n_low, feed->et_minus_wait_ns ? "have an ET - W of" : "take",
		text_precise(levels.low, apart), t->n - levels.n_low, text_precise(levels.high, apart));
	return true;
}

/* The times change slowly: a drift, or a step from one speed to the other. */
static bool has_trend(
	const struct analysis_feed *feed, const struct unexplained_times *t, struct analysis *analysis)
{
	struct trend trend;
	int64_t low, high;
	double alike, slow, n = (double)t->n;
	const struct cluster *c = &feed->central;
	struct running central = RUNNING_NONE;

	if (t->n == 0)
		return false;
	/* How far single ETs may weigh in the trend: all of the central cluster and two of its sd more,
	 * but not the two outermost in a hundred on either side. */
	for (size_t i = 0; i < t->n; i++)
		if (cluster_holds(c, t->sorted[i]))
			running_add(&central, t->sorted[i]);
	low = llround(quantile_of(t->sorted, t->n, 0.02));
	high = llround(quantile_of(t->sorted, t->n, 0.98));
	if (!feed->et_minus_wait_ns) {
		low = llround(fmax((double)*&low, (double)c->low_ns - 2 * running_sd(&central)));
		high = llround(fmin((double)*&high, (double)c->high_ns + 2 * running_sd(&central)));
	}
	trend = trend_of(t->in_time, t->n, low, high);
	/* How much neighbours are alike, without the bias of a short series (Marriott & Pope 1954); 0 if
	 * it may be chance. Where W is known, that hides nothing: only what others took makes L-samples. */
	alike = feed->et_minus_wait_ns ? 0 : neighbours_alike(t->in_time, t->sorted, t->n);
	alike = alike > CHANCE_SD / sqrt(n) ? fmin(alike + (1 + 4 * alike) / n, 1) : 0;
	if (trend.line <= CHANCE_SD * CHANCE_SD / n)
		trend.line = 0;
	if (trend.slow < SLOW && trend.line < LINE && alike < ALIKE)
		return false;
	slow = fmax(trend.slow, trend.line);
	if (trend.step > trend.line && trend.step >= STEP * fmax(trend.slow, alike)) {
		double change = fabs(trend.after - trend.before);

		analysis->verdict = VERDICT_STEP;
		add_why(analysis,
			"a step between two speeds: %sabout %s in the first %zu samples, then about %s; %.0f %% of the variance is this change",
			feed->et_minus_wait_ns ? "ET - W is " : "", text_precise(trend.before, change),
			trend.change, text_precise(trend.after, change), 100 * trend.step);
		return true;
	}
	analysis->verdict = VERDICT_DRIFT;
	if (slow >= alike)
		add_why(analysis,
			"a drift of the machine's speed: %.0f %% of the variance of %s changes slowly with time (%.0f %% along a straight line)",
			100 * slow, feed->et_minus_wait_ns ? "ET - W" : "ET", 100 * trend.line);
	else
		add_why(analysis,
			"a drift of the machine's speed: neighbouring samples are alike (correlation %.2f)",
			alike);
	return true;
}

static void set_l_or_clean(const struct analysis_feed *feed, struct analysis *analysis)
{
	const struct cluster *c = &feed->central;
	const char *time = feed->et_minus_wait_ns ? "with W " : "";
	const char *bound = verdict_bound_text(feed, c->high_ns);

	analysis->verdict = analysis->n_l_samples > 0 ? VERDICT_L : VERDICT_CLEAN;
	if (analysis->n_l_samples > 0)
		add_why(analysis, "an L: %zu of %zu samples %sover %s, because daemons ran long",
			analysis->n_l_samples, c->n_samples, time, bound);
	else
		add_why(analysis, "one clean cluster of %zu sample%s %sup to %s", c->n_central,
			c->n_central == 1 ? "" : "s", time, bound);
	if (analysis->n_unexplained > 0)
		add_why(analysis, "; %zu beyond it %s long, and no daemons explain it",
			analysis->n_unexplained, analysis->n_unexplained == 1 ? "is" : "are");
}

static void find_shape(struct analysis_feed *feed, struct analysis *analysis)
{
	_cleanup_(unexplained_times_clear) struct unexplained_times times = {};
	bool by_wait = feed->et_minus_wait_ns;
	size_t l = 0;

	if (is_frequent(feed, analysis) || is_usually_long(feed, analysis) || is_divided(feed, analysis) ||
		is_cpu_busy(feed, analysis))
		return;

	struct unexplained_times t = {
		.in_time = xcalloc(feed->n_samples, sizeof(*t.in_time)),
		.sorted = xcalloc(feed->n_samples, sizeof(*t.sorted)),
	};

	for (size_t i = 0; i < feed->n_samples; i++) {
		if (l < analysis->n_l_samples && analysis->l_samples[l] == feed->samples[i].n)
			l++;
		else
			t.in_time[t.n++] = feed->et_minus_wait_ns ? feed->et_minus_wait_ns[i]
								  : feed->samples[i].et_ns;
	}
	memcpy(t.sorted, t.in_time, t.n * sizeof(*t.sorted));
	sort_ascending(t.sorted, t.n);
	times = t;
	if (!has_two_speeds(feed, &times, analysis) && !has_trend(feed, &times, analysis)) {
		set_l_or_clean(feed, analysis);
		if (by_wait) {
			_cleanup_(freep) struct sample *samples = xcalloc(times.n, sizeof(*samples));
			_cleanup_(cluster_clear) struct cluster c = {};
			struct error err;

			/* By W, samples may be long without the cluster showing it: those in which the
			 * program itself took long. */
			for (size_t i = 0; i < times.n; i++)
				samples[i].et_ns = times.in_time[i];
			if (cluster_find(&c, samples, times.n, feed->run.resolution_ns, 0, &err) == 0 &&
				c.n_above > 0)
				add_why(analysis,
					"; %zu with an ET - W over %s %s long, and no daemons explain it",
					c.n_above,
					text_precise((double)c.high_ns, (double)(c.high_ns - c.low_ns) / 10),
					c.n_above == 1 ? "is" : "are");
		}
	} else if (by_wait) {
		/* A machine whose speed changes hides no daemon, and cutoffs are times of daemons: the run
		 * is at most noisy. */
		char speed[sizeof(analysis->why)];

		strcpy(speed, analysis->why);
		*analysis->why = '\0';
		set_l_or_clean(feed, analysis);
		add_why(analysis, "; %s", speed);
		analysis->noise.noisy |= quantile_of(times.sorted, times.n, 0.9) -
						 quantile_of(times.sorted, times.n, 0.1) >
					 VARYING * DECILES_OF_NORMAL *
						 quantile_of(times.sorted, times.n, 0.5);
	}
}

static struct cluster_noise noise_of(const struct analysis_feed *feed)
{
	const struct cluster *c = &feed->central;
	size_t n;
	_cleanup_(freep) int64_t *pts = core_times(feed, sample_pt_ns, &n);
	double median = n > 0 ? quantile_of(pts, n, 0.5) : 0;
	struct cluster_noise noise = {
		.blind_ns = llround(fmax((double)(c->high_ns - c->median_ns), feed->least_ns)),
		.pt_sd = median > 0 ? shorth_of(pts, n).sd / median : 0,
	};

	noise.noisy = (double)noise.blind_ns > WIDE * (double)c->median_ns || noise.pt_sd > VARYING;
	return noise;
}

void noise_describe(const struct cluster_noise *noise, char text[NOISE_TEXT_SIZE])
{
	snprintf(text, NOISE_TEXT_SIZE, "noisy: blind to daemons below %s, PT varies by %s",
		text_precise((double)noise->blind_ns, (double)noise->blind_ns), text_percent(noise->pt_sd));
}

void verdict_find(struct analysis_feed *feed, struct analysis *analysis)
{
	char noise[NOISE_TEXT_SIZE];

	analysis->noise = noise_of(feed);
	find_shape(feed, analysis);
	if (analysis->noise.noisy) {
		noise_describe(&analysis->noise, noise);
		add_why(analysis, "; %s", noise);
	}
	text_trim_utf8(analysis->why);
}
