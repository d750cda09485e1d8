/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on a run, by the shape of its scatter, and the reason; and what its central cluster
 * hides: see verdict.h.
 *
 * The order of the questions: Are long samples frequent, and do daemons explain them? Do others
 * take a part of every sample (busy)? Without the samples that daemons explain, are there two
 * clusters (two speeds), or do the ETs change over time (drift, step)? By W, that makes a run noisy
 * only. Otherwise the shape is an L, or clean, unless many pairs are long in both halves. Long
 * samples without a known cause are no shape, but noise. Proportions are judged by the lower end of
 * their interval, so that a few samples of a short run are not significant. */
#include "lib/protocol/analysis_internal.h"

#include "lib/protocol/disturbances.h"
#include "lib/stats/time_series.h"

#include <ctype.h>

/* Fewer samples than this are not significant, nor are fewer a second cluster. */
enum { LEAST = 5, LEAST_CLUSTER = 8 };
/* More than one sample in ten long, or more than one pair in twenty long in both halves, is
 * frequent. */
static const double FREQUENT = 0.10, FREQUENT_CORNERS = 0.05;
/* Daemons that explain half of the extra time are the cause; one that explains a fifth is named. */
static const double CAUSE = 0.5, NAMED = 0.2;
/* The cluster is not round but stretched along the diagonal if this share of the variance of ET is
 * a slow change with time, if a line explains this share, or if neighbours are as alike as this. */
static const double SLOW = 0.6, LINE = 0.4, ALIKE = 0.55;
/* Correlations of neighbours by chance have an sd of 1/sqrt(n), and hardly ever exceed this
 * many. */
static const double CHANCE_SD = 3;
/* The share of the slow variance that one change of level must explain to be a step; of a straight
 * drift it explains 0.75. */
static const double STEP = 0.88;
/* Two clusters hardly overlap if their middles are this many robust sd apart. */
static const double TWO_SPEEDS_SD = 6;
/* If others take more of the ET of the median sample, the CPU is busy. */
static const double BUSY = 0.02;
/* A run is noisy if its central cluster reaches further above the median, or its PT varies more. */
static const double WIDE = 0.05, VARYING = 0.01;
/* A sample within the central cluster is not long if it exceeds the median ET by less than this
 * share. */
static const double LONG = 0.01;
/* ET - PT of a sample from which nothing was taken: the time that it takes to start a program and
 * to notice its end. */
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

/* A bound of the central cluster: an ET with the significant digits, or a W. */
static const char *verdict_bound_text(const struct analysis *a, int64_t bound_ns)
{
	if (a->by_wait)
		return text_duration(bound_ns - a->median_rest_ns);
	return text_precise(
		(double)bound_ns, (double)(a->central.high_ns - a->central.low_ns) / 10);
}

/* The daemon with the greatest `extra`, of one at least. */
static struct daemon_statistics *greatest_daemon(const struct analysis *a)
{
	struct daemon_statistics *greatest = &a->statistics[0];

	for (size_t i = 1; i < a->n_statistics; i++)
		if (a->statistics[i].extra > greatest->extra)
			greatest = &a->statistics[i];
	return greatest;
}

/* Names the daemons that explain most by their `extra`, the one that explains the most first. */
static void set_frequent(struct analysis *a, size_t slow, int64_t bound_ns)
{
	struct daemon_statistics *greatest = greatest_daemon(a);
	_cleanup_(freep) char *names = xstrdup(greatest->name);
	double all = 0;

	for (size_t i = 0; i < a->n_statistics; i++)
		all += fmax(a->statistics[i].extra, 0);
	for (size_t i = 0; i < a->n_statistics; i++) {
		struct daemon_statistics *daemon = &a->statistics[i];

		daemon->frequent = daemon == greatest || daemon->extra >= NAMED * all;
		if (daemon->frequent && daemon != greatest)
			text_append(&names, ", ", "%s", daemon->name);
	}
	a->verdict = VERDICT_FREQUENT;
	a->why = text_format(
		"frequent daemons in the upper right: %zu of %zu samples (%.0f %%) %s %s or more "
		"because of %s",
		slow, a->n_samples, 100 * (double)slow / (double)a->n_samples,
		a->by_wait ? "have a W of" : "take", verdict_bound_text(a, bound_ns), names);
}

/* Long samples are the minority: each is judged separately. */
static bool is_frequent(struct analysis_feed *feed)
{
	struct analysis *a = &feed->analysis;
	size_t samples = 0, corners = 0;
	bool mate = false;

	for (size_t i = 0; i < a->n_samples; i++) {
		int64_t longer_ns = a->samples[i].et_ns - a->central.median_ns;
		bool explained = feed->zones[i] == ZONE_ABOVE &&
				 (double)longer_ns >= feed->least_ns && analysis_explains(feed, i);

		samples += explained;
		corners += i % 2 == 1 && explained && mate; /* both of a pair */
		mate = explained;
	}
	if (samples < LEAST ||
		(proportion_at_least(samples, a->n_samples) <= FREQUENT &&
			proportion_at_least(corners, a->n_samples / 2) <= FREQUENT_CORNERS))
		return false;
	/* Each long sample is divided among the daemons that ran long in it, however long it is. */
	for (size_t d = 0; d < a->n_statistics; d++) {
		struct daemon_statistics *daemon = &a->statistics[d];

		daemon->extra = 0;
		for (size_t i = 0; i < daemon->n_long_executions; i++) {
			const struct long_execution *e = &daemon->long_executions[i];
			double extra = analysis_beyond_usual(feed, daemon, e);

			if (analysis_explains(feed, e->at) && extra > 0)
				daemon->extra += extra / feed->extra_ns[e->at];
		}
	}
	set_frequent(a, samples, a->central.high_ns);
	return true;
}

/* About the variance of what a daemon used in `n` samples: of one that runs at random at most once
 * in a sample (then the number of its executions is binomial), or that runs more often (then it is
 * Poisson's). */
static double variance_of_sum(const struct running *seen, size_t n)
{
	double sum = running_sum(seen), squares = running_sum_of_squares(seen);

	return seen->n > n ? squares : fmax(squares - sum * sum / (double)n, 0);
}

/* Fills in by how much more a daemon ran in the slow samples than in the fast ones, if these had
 * taken as much time; `ratio` is that of both times. A process that runs all the time runs longer
 * in a longer sample without being its cause. Nor is one a cause that ran more in these samples by
 * chance, that is, by no more than three standard errors. */
static void find_extra(struct daemon_statistics *daemon, double ratio, size_t n_fast, size_t n_slow)
{
	const struct running *fast = &daemon->seen[ZONE_BELOW];
	struct running slow = running_join(&daemon->seen[ZONE_CORE], &daemon->seen[ZONE_ABOVE]);
	double chance = sqrt(
		variance_of_sum(&slow, n_slow) + ratio * ratio * variance_of_sum(fast, n_fast));

	daemon->extra = running_sum(&slow) - ratio * running_sum(fast);
	if (!(daemon->extra > 3 * chance))
		daemon->extra = 0;
}

/* Long samples are the majority, and form the central cluster: the short ones show the usual
 * times. */
static bool is_usually_long(struct analysis_feed *feed)
{
	struct analysis *a = &feed->analysis;
	const struct cluster *c = &a->central;
	size_t n_fast = c->n_below, n_slow = a->n_samples - n_fast;
	double fast_ns = 0, slow_ns = 0, extra = 0, all;

	if (n_fast < LEAST || proportion_at_least(n_fast, a->n_samples) <= FREQUENT)
		return false;
	for (size_t i = 0; i < a->n_samples; i++) {
		double et_ns = (double)a->samples[i].et_ns;

		if (feed->zones[i] == ZONE_BELOW)
			fast_ns += et_ns;
		else
			slow_ns += et_ns;
	}
	all = slow_ns - fast_ns / (double)n_fast * (double)n_slow;

	for (size_t i = 0; i < a->n_statistics; i++) {
		find_extra(&a->statistics[i], slow_ns / fast_ns, n_fast, n_slow);
		extra += a->statistics[i].extra;
	}
	if (!(all > 0) || extra / all < CAUSE)
		return false;
	set_frequent(a, n_slow, c->low_ns);
	return true;
}

/* A daemon runs in many samples, and these are the longer ones, without a gap between. */
static bool is_divided(struct analysis_feed *feed)
{
	struct analysis *a = &feed->analysis;
	struct daemon_statistics *daemon = feed->divides;

	if (!daemon || daemon->pt_ns < feed->least_ns * (double)daemon->n_present)
		return false;
	daemon->frequent = true;
	a->verdict = VERDICT_FREQUENT;
	a->why = text_format(
		"frequent daemons: %s ran in %zu of %zu samples, and those are the longer ones",
		daemon->name, daemon->n_present, a->n_samples);
	return true;
}

/* Whether the program is an INC: by the kind of its run, or of an imported run by its name (INC128,
 * as calibrations name it). */
static bool is_run_of_inc(const struct run *run)
{
	const char *name = run->program ?: "";

	if (run->kind != RUN_IMPORT)
		return run->kind == RUN_SHORT || run->kind == RUN_LONG ||
		       run->kind == RUN_REVALIDATE;
	return !strncasecmp(name, "INC", 3) && !isalpha((unsigned char)name[3]);
}

/* What others took from the program in samples of the core. */
struct taken_time {
	double median_ns, median_et_ns; /* of a sample: of what was taken, and of its ET */
	double sum_ns, et_ns;           /* of all */
};

/* W; where it is not known, ET - PT without the time to start the program. */
static int64_t most_taken_ns(const struct sample *s)
{
	int64_t taken_ns = sample_taken_ns(s);

	if (s->wait_ns >= 0)
		return taken_ns;
	return taken_ns > START_NS ? taken_ns - START_NS : 0;
}

static struct taken_time taken_time_of(const struct analysis_feed *feed)
{
	const struct analysis *a = &feed->analysis;
	_cleanup_(freep) int64_t *ets = xcalloc(a->n_samples, sizeof(*ets));
	_cleanup_(freep) int64_t *taken = xcalloc(a->n_samples, sizeof(*taken));
	struct taken_time t = {};
	size_t n = 0;

	for (size_t i = 0; i < a->n_samples; i++) {
		if (feed->zones[i] != ZONE_CORE)
			continue;
		ets[n] = a->samples[i].et_ns;
		taken[n] = most_taken_ns(&a->samples[i]);
		t.et_ns += (double)feed->ets_ns[i];
		t.sum_ns += (double)taken[n++];
	}
	t.median_ns = median_of(taken, n);
	t.median_et_ns = median_of(ets, n);
	return t;
}

/* "stress-ng 31 %, cron 12 %": those who took most by their `extra`, which becomes 0, or at least
 * the one who took most of all, and their parts of the time of the central samples. `share` is that
 * of all of them, of whom known_ns is known. NULL: nobody is known. */
static char *name_takers(
	struct analysis *a, double share, const struct taken_time *taken, double known_ns)
{
	char *names = NULL;

	for (size_t shown = 0; shown < a->n_statistics; shown++) {
		struct daemon_statistics *next = greatest_daemon(a);
		/* Known executions may be longer than what was taken: the program did not wait for
		 * all. */
		double part = share * next->extra / fmax(taken->sum_ns, known_ns);

		if (next->extra <= 0 || (shown > 0 && part < NAMED * share))
			break;
		text_append(&names, ", ", "%s %s", next->name, text_percent(part));
		next->extra = 0;
	}
	return names;
}

/* Others take so much of the median sample that it does not show the program alone. INC never waits
 * for anything else, so that its ET - PT is what others took; of other programs only W is. */
static bool is_cpu_busy(struct analysis_feed *feed)
{
	struct analysis *a = &feed->analysis;
	bool knows_wait = a->samples[0].wait_ns >= 0;
	_cleanup_(freep) char *names = NULL;
	double known_ns = 0, share;
	struct taken_time taken;

	if (!is_run_of_inc(&a->run) && !knows_wait)
		return false;
	taken = taken_time_of(feed);
	if (taken.et_ns <= 0 || taken.median_ns <= BUSY * taken.median_et_ns)
		return false;

	for (size_t i = 0; i < a->n_statistics; i++) {
		a->statistics[i].extra = running_sum(&a->statistics[i].seen[ZONE_CORE]);
		known_ns += a->statistics[i].extra;
	}
	/* How others measured is not known: what they have recorded of processes must explain
	 * it. */
	if (a->run.kind == RUN_IMPORT && !knows_wait && known_ns < CAUSE * taken.sum_ns)
		return false;

	share = taken.sum_ns / taken.et_ns;
	names = name_takers(a, share, &taken, known_ns);
	a->verdict = VERDICT_BUSY;
	a->why = text_format(
		"a busy CPU: other processes took %s of the time of the central samples",
		text_percent(share));
	if (names)
		text_append(&a->why, " ", "(%s)", names);
	return true;
}

/* The times of the samples that daemons do not explain: ET, or by W, ET - W. */
struct unexplained_times {
	int64_t *in_time; /* in the order of time */
	int64_t *sorted;
	size_t n;
};

/* Two speeds, whichever has more samples; a single change of level is a step (has_trend). */
static bool has_two_speeds(struct analysis *a, const struct unexplained_times *t)
{
	/* samples that are a second cluster rather than a few outliers */
	size_t least = LEAST_CLUSTER;
	struct two_levels levels;
	double apart;

	while (least < t->n && proportion_at_least(least, t->n) <= FREQUENT)
		least++;
	levels = two_levels_of(t->sorted, t->n, least, quantum_of(t->sorted, t->n));
	apart = levels.high - levels.low;
	if (levels.n_low == 0 || levels.apart < TWO_SPEEDS_SD)
		return false;
	a->verdict = VERDICT_STEP;
	a->why = text_format(
		"a step between two speeds: %zu samples %s about %s, %zu about %s, and no daemon "
		"explains it",
		levels.n_low, a->by_wait ? "have an ET - W of" : "take",
		text_precise(levels.low, apart), t->n - levels.n_low,
		text_precise(levels.high, apart));
	return true;
}

/* Between which bounds single times count in full in a trend: all of the central cluster and two of
 * its sd more, but not the two outermost in a hundred on either side. */
static void find_trend_bounds(const struct analysis *a, const struct unexplained_times *t,
	double *ret_low, double *ret_high)
{
	const struct cluster *c = &a->central;
	struct running central = RUNNING_NONE;

	*ret_low = quantile_of(t->sorted, t->n, 0.02);
	*ret_high = quantile_of(t->sorted, t->n, 0.98);
	if (a->by_wait)
		return;
	for (size_t i = 0; i < t->n; i++)
		if (cluster_holds(c, t->sorted[i]))
			running_add(&central, t->sorted[i]);
	*ret_low = fmax(*ret_low, (double)c->low_ns - 2 * running_sd(&central));
	*ret_high = fmin(*ret_high, (double)c->high_ns + 2 * running_sd(&central));
}

/* How much neighbours are alike, without the bias of a short series (Marriott & Pope 1954); 0 if it
 * may be chance. By W it hides nothing, and is 0: only what others took makes L-samples. */
static double significant_likeness(const struct analysis *a, const struct unexplained_times *t)
{
	double alike, n = (double)t->n;

	if (a->by_wait)
		return 0;
	alike = neighbours_alike(t->in_time, t->sorted, t->n);
	if (!(alike > CHANCE_SD / sqrt(n)))
		return 0;
	return fmin(alike + (1 + 4 * alike) / n, 1);
}

/* The times change slowly: a drift, or a step from one speed to the other. */
static bool has_trend(struct analysis *a, const struct unexplained_times *t)
{
	double low, high, alike, slow, change, n = (double)t->n;
	struct trend trend;

	if (t->n == 0)
		return false;
	find_trend_bounds(a, t, &low, &high);
	trend = trend_of(t->in_time, t->n, llround(low), llround(high));
	if (trend.line <= CHANCE_SD * CHANCE_SD / n)
		trend.line = 0;
	alike = significant_likeness(a, t);
	if (trend.slow < SLOW && trend.line < LINE && alike < ALIKE)
		return false;

	if (trend.step > trend.line && trend.step >= STEP * fmax(trend.slow, alike)) {
		change = fabs(trend.after - trend.before);
		a->verdict = VERDICT_STEP;
		a->why = text_format(
			"a step between two speeds: %sabout %s in the first %zu samples, then "
			"about %s; %.0f %% of the variance is this change",
			a->by_wait ? "ET - W is " : "", text_precise(trend.before, change),
			trend.change, text_precise(trend.after, change), 100 * trend.step);
		return true;
	}

	a->verdict = VERDICT_DRIFT;
	slow = fmax(trend.slow, trend.line);
	if (slow >= alike)
		a->why = text_format(
			"a drift of the machine's speed: %.0f %% of the variance of %s changes "
			"slowly with time (%.0f %% along a straight line)",
			100 * slow, a->by_wait ? "ET - W" : "ET", 100 * trend.line);
	else
		a->why = text_format(
			"a drift of the machine's speed: neighbouring samples are alike "
			"(correlation %.2f)",
			alike);
	return true;
}

/* Fills in which samples are long without a known cause: those above the central cluster that
 * daemons do not explain, and those beyond its core where heavy tails, or noise that is as long,
 * leave no gap that bounds it. Returns how many there are. */
static size_t find_unexplained(const struct analysis_feed *feed, bool *unexplained)
{
	const struct analysis *a = &feed->analysis;
	double least_ns = (1 + LONG) * (double)a->central.median_ns;
	size_t n = 0, u = 0;

	for (size_t i = 0; i < a->n_samples; i++) {
		unexplained[i] = feed->zones[i] == ZONE_CORE && feed->beyond_core[i] &&
				 (double)a->samples[i].et_ns > least_ns &&
				 !analysis_explains(feed, i);
		if (u < a->n_unexplained && a->unexplained[u] == a->samples[i].n) {
			unexplained[i] = true;
			u++;
		}
		n += unexplained[i];
	}
	return n;
}

static bool had_neighbour(const struct analysis *a, size_t i)
{
	return sample_has_neighbour(&a->samples[i], run_neighbour_limit_ppm(&a->run));
}

/* So many samples are long, and no daemon is the cause. Returns whether that is noise; then they
 * are in a->unexplained. by_neighbour: that their time is long may be because of a neighbour. */
static bool note_many_long(
	struct analysis *a, const bool *is_long, size_t n_long, bool by_neighbour)
{
	if (n_long < LEAST || proportion_at_least(n_long, a->n_samples) <= FREQUENT)
		return false;
	free(a->unexplained);
	a->unexplained = xcalloc(n_long, sizeof(*a->unexplained));
	a->n_unexplained = 0;
	a->noise.n_long_beside = 0;
	for (size_t i = 0; i < a->n_samples; i++)
		if (is_long[i]) {
			a->unexplained[a->n_unexplained++] = a->samples[i].n;
			a->noise.n_long_beside += by_neighbour && had_neighbour(a, i);
		}
	a->noise.n_long = n_long;
	a->noise.noisy = true;
	return true;
}

/* Pairs of which both samples are long, for a known cause or none, are no arms of an L. */
static bool is_long_in_pairs(struct analysis_feed *feed, const bool *unexplained)
{
	struct analysis *a = &feed->analysis;
	size_t corners = 0, n = 0, l = 0;
	bool mate = false;

	for (size_t i = 0; i < a->n_samples; i++) {
		bool is_long = unexplained[i];

		if (l < a->n_l_samples && a->l_samples[l] == a->samples[i].n) {
			is_long = true;
			l++;
		}
		n += is_long;
		corners += i % 2 == 1 && is_long && mate;
		mate = is_long;
	}
	if (n < LEAST || proportion_at_least(corners, a->n_samples / 2) <= FREQUENT_CORNERS)
		return false;
	a->verdict = VERDICT_FREQUENT;
	a->why = text_format(
		"frequent long samples: %zu of %zu pairs are long in both halves (upper right)",
		corners, a->n_samples / 2);
	return true;
}

/* "3 beyond it are long, and no daemons explain it"; or how many of them a neighbour does. */
static void add_long_samples(struct analysis *a, size_t n, const char *which, size_t n_beside)
{
	text_append(&a->why, "; ", "%zu %s %s long", n, which, n == 1 ? "is" : "are");
	if (n_beside == 0)
		text_append(&a->why, ", ", "and no daemons explain it");
	else if (n_beside == n)
		text_append(&a->why, " ", "because of a neighbour");
	else
		text_append(&a->why, ", ", "%zu because of a neighbour; no daemons explain the %s",
			n_beside, n - n_beside == 1 ? "other" : "others");
}

/* A neighbour makes ET longer, but not W. */
static size_t count_unexplained_beside(const struct analysis *a)
{
	size_t n = 0;

	for (size_t i = 0, u = 0; !a->by_wait && u < a->n_unexplained; i++)
		if (a->samples[i].n == a->unexplained[u]) {
			n += had_neighbour(a, i);
			u++;
		}
	return n;
}

static void set_l_or_clean(struct analysis *a)
{
	const char *time = a->by_wait ? "with W " : "";
	const char *bound = verdict_bound_text(a, a->central.high_ns);

	a->verdict = a->n_l_samples > 0 ? VERDICT_L : VERDICT_CLEAN;
	if (a->n_l_samples > 0)
		a->why = text_format("an L: %zu of %zu samples %sover %s, because daemons ran long",
			a->n_l_samples, a->n_samples, time, bound);
	else
		a->why = text_format("one clean cluster of %s %sup to %s",
			text_count(a->central.n_central, "sample"), time, bound);
	if (a->n_unexplained > 0 && a->noise.n_long == 0)
		add_long_samples(a, a->n_unexplained, "beyond it", count_unexplained_beside(a));
}

/* By W, the cluster does not show samples in which the program itself took long: finds them. */
static void add_long_rests(struct analysis *a, const struct unexplained_times *t)
{
	_cleanup_(freep) struct sample *samples = xcalloc(t->n, sizeof(*samples));
	_cleanup_(freep) bool *is_long = xcalloc(a->n_samples, sizeof(*is_long));
	_cleanup_(cluster_clear) struct cluster c = {};
	struct error err;
	size_t n_long = 0, n_beside = 0;

	for (size_t i = 0; i < t->n; i++)
		samples[i].et_ns = t->in_time[i];
	if (cluster_find(&c, samples, t->n, a->run.resolution_ns, 0, &err) < 0)
		return;
	for (size_t i = 0, k = 0, l = 0; k < t->n; i++) { /* all but the L-samples */
		if (l < a->n_l_samples && a->l_samples[l] == a->samples[i].n) {
			l++;
			continue;
		}
		is_long[i] = samples[k].et_ns > c.high_ns ||
			     (samples[k].et_ns > c.core_high_ns &&
				     (double)samples[k].et_ns > (1 + LONG) * (double)c.median_ns);
		n_long += is_long[i];
		n_beside += samples[k].et_ns > c.high_ns && had_neighbour(a, i);
		k++;
	}
	if (a->noise.n_long == 0 && note_many_long(a, is_long, n_long, true))
		return;
	if (c.n_above > 0)
		add_long_samples(a, c.n_above,
			text_brief("with an ET - W over %s",
				text_precise(
					(double)c.high_ns, (double)(c.high_ns - c.low_ns) / 10)),
			n_beside);
}

/* A quota or the like held the program back: its samples show that, and no daemon. */
static bool is_held_back(struct analysis *a)
{
	double share = held_time_of(a->samples, a->n_samples).share;

	if (share <= HELD_TOO_LONG)
		return false;
	a->verdict = VERDICT_BUSY;
	a->why = text_format("a program that was held back for %s of its time by %s",
		text_percent(share), a->run.held_back_by ?: "a control group");
	return true;
}

/* The times of the samples that are no L-samples. The caller frees both arrays. */
static struct unexplained_times unexplained_times_of(const struct analysis_feed *feed)
{
	const struct analysis *a = &feed->analysis;
	struct unexplained_times t = {
		.in_time = xcalloc(a->n_samples, sizeof(*t.in_time)),
		.sorted = xcalloc(a->n_samples, sizeof(*t.sorted)),
	};
	size_t l = 0;

	for (size_t i = 0; i < a->n_samples; i++)
		if (l < a->n_l_samples && a->l_samples[l] == a->samples[i].n)
			l++;
		else
			t.in_time[t.n++] = a->by_wait ? feed->rests_ns[i] : a->samples[i].et_ns;
	memcpy(t.sorted, t.in_time, t.n * sizeof(*t.sorted));
	sort_ascending(t.sorted, t.n);
	return t;
}

static void unexplained_times_clear(struct unexplained_times *t)
{
	free(t->in_time);
	free(t->sorted);
}

static void find_shape(struct analysis_feed *feed, const bool *unexplained)
{
	struct analysis *a = &feed->analysis;
	_cleanup_(unexplained_times_clear) struct unexplained_times t = {};
	_cleanup_(freep) char *speed = NULL;
	bool changing;

	if (is_held_back(a) || is_frequent(feed) || is_usually_long(feed) || is_divided(feed) ||
		is_cpu_busy(feed))
		return;
	t = unexplained_times_of(feed);
	changing = has_two_speeds(a, &t) || has_trend(a, &t);
	if (changing && !a->by_wait)
		return;

	/* By W, a machine whose speed changes hides no daemon, and cutoffs are times of daemons:
	 * the run is at most noisy. */
	speed = TAKE(a->why);
	if (!is_long_in_pairs(feed, unexplained))
		set_l_or_clean(a);
	if (changing) {
		text_append(&a->why, "; ", "%s", speed);
		a->noise.noisy |= decile_sd_of(t.sorted, t.n) >
				  VARYING * quantile_of(t.sorted, t.n, 0.5);
	} else if (a->by_wait) {
		add_long_rests(a, &t);
	}
}

const char *noise_describe(const struct cluster_noise *noise)
{
	const char *blind = text_precise((double)noise->blind_ns, (double)noise->blind_ns);

	if (isnan(noise->pt_sd))
		return text_brief("noisy: blind to daemons below %s", blind);
	return text_brief("noisy: blind to daemons below %s, PT varies by %s", blind,
		text_percent(noise->pt_sd));
}

/* The robust sd of the PTs of the core, as a share of their median; NAN: of one sample. */
static double core_pt_sd(const struct analysis_feed *feed)
{
	const struct analysis *a = &feed->analysis;
	_cleanup_(freep) int64_t *pts = xcalloc(a->n_samples, sizeof(*pts));
	double median;
	size_t n = 0; /* at least one */

	for (size_t i = 0; i < a->n_samples; i++)
		if (feed->zones[i] == ZONE_CORE)
			pts[n++] = a->samples[i].pt_ns;
	if (n < 2)
		return NAN;
	sort_ascending(pts, n);
	median = quantile_of(pts, n, 0.5);
	return median > 0 ? shorth_of(pts, n).sd / median : 0;
}

/* "12 of 30 samples are long and nobody is known to be the cause", or a neighbour is that of some
 * or of all. */
static void add_many_long(struct analysis *a)
{
	const struct cluster_noise *noise = &a->noise;

	text_append(&a->why, "; ", "%zu of %zu samples are long", noise->n_long, a->n_samples);
	if (noise->n_long_beside == noise->n_long)
		text_append(&a->why, " ", "because of a neighbour");
	else if (noise->n_long_beside > 0)
		text_append(&a->why, ", ", "%zu because of a neighbour and %zu for no known cause",
			noise->n_long_beside, noise->n_long - noise->n_long_beside);
	else
		text_append(&a->why, " ", "and nobody is known to be the cause");
}

void verdict_find(struct analysis_feed *feed)
{
	struct analysis *a = &feed->analysis;
	const struct cluster *c = &a->central;
	struct cluster_noise *noise = &a->noise;
	_cleanup_(freep) bool *unexplained = xcalloc(a->n_samples, sizeof(*unexplained));
	size_t n_long = find_unexplained(feed, unexplained);

	noise->blind_ns = llround(fmax((double)(c->high_ns - c->median_ns), feed->least_ns));
	noise->pt_sd = core_pt_sd(feed);
	noise->noisy = (double)noise->blind_ns > WIDE * (double)c->median_ns ||
		       noise->pt_sd > VARYING;

	note_many_long(a, unexplained, n_long, !a->by_wait);
	find_shape(feed, unexplained);
	if (noise->n_long > 0)
		add_many_long(a);
	if (noise->noisy)
		text_append(&a->why, "; ", "%s", noise_describe(noise));
}
