/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The central cluster itself: whether others keep the CPU busy in it, and which daemons its width hides. See
 * analysis_internal.h. */
#include "lib/protocol/analysis_internal.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"
#include "lib/stats/robust.h"

#include <errno.h>
#include <math.h>

/* Of the ET of the usual sample: if others take more of it, the CPU is busy. */
static const double BUSY = 0.02;
/* A daemon that has this share of what others took is named. */
static const double NAMED = 0.2;
/* A central cluster that reaches further above its median, or a PT that varies more, is noisy. */
static const double WIDE = 0.05, VARYING = 0.01;

/* ET - PT of a sample from which nothing was taken: the time that it takes to start a program and to notice its end. */
static const int64_t START_NS = NS_PER_MS;

enum time { ET, PT, TAKEN };

/* Whether ET - PT is what others took: INC never waits for anything else. */
static bool is_inc(const struct run *run)
{
	return run->kind == RUN_SHORT || run->kind == RUN_LONG || run->kind == RUN_REVALIDATE;
}

static int64_t time_of(const struct sample *sample, enum time which)
{
	int64_t taken_ns = sample_taken_ns(sample);

	if (which == TAKEN)
		return sample->wait_ns >= 0 ? taken_ns : taken_ns > START_NS ? taken_ns - START_NS : 0;
	return which == ET ? sample->et_ns : sample->pt_ns;
}

/* One time of each sample of the core, ascending. */
static int core_times(const struct analysis_feed *feed, enum time which, int64_t **ret, size_t *ret_n)
{
	int64_t *times = xreallocarray(NULL, feed->n_samples + 1, sizeof(*times));
	size_t n = 0;

	for (size_t i = 0; i < feed->n_samples; i++)
		if (feed->zones[i] == ZONE_CORE)
			times[n++] = time_of(&feed->samples[i], which);
	sort_ascending(times, n);
	*ret = times;
	*ret_n = n;
	return 0;
}

int noise_find(const struct analysis_feed *feed, struct cluster_noise *ret)
{
	const struct cluster *c = &feed->central;
	_cleanup_(freep) int64_t *pts = NULL;
	struct cluster_noise noise = {
		.blind_ns = llround(fmax((double)(c->high_ns - c->median_ns), feed->material_ns))};
	double median;
	size_t n;
	int r = core_times(feed, PT, &pts, &n);

	if (r < 0)
		return r;
	median = n > 0 ? quantile_of(pts, n, 0.5) : 0;
	noise.pt_sd = median > 0 ? shorth_of(pts, n).sd / median : 0;
	noise.noisy = (double)noise.blind_ns > WIDE * (double)c->median_ns || noise.pt_sd > VARYING;
	*ret = noise;
	return 0;
}

bool noise_varies(const int64_t *ascending, size_t n)
{
	const double deciles_of_normal = 2.563103131089201; /* twice the normal quantile of 0.9 */

	return quantile_of(ascending, n, 0.9) - quantile_of(ascending, n, 0.1) >
	       VARYING * deciles_of_normal * quantile_of(ascending, n, 0.5);
}

static double core_time(const struct daemon_tally *tally)
{
	return running_sum(&tally->seen[ZONE_CORE]);
}

/* The time that other processes took from the central samples, and the share of each. */
struct takers {
	double et_ns; /* the sum over the central samples */
	double share; /* the share of et_ns that other processes took */
	double counted_ns; /* what they took, or their known executions if these are longer: the program did not wait for all of them */
};

static struct takers takers_of(const struct analysis_feed *feed)
{
	struct takers takers = {};
	double taken = 0, known = 0;

	for (size_t i = 0; i < feed->n_samples; i++) {
		const struct sample *s = &feed->samples[i];

		if (feed->zones[i] != ZONE_CORE)
			continue;
		taken += (double)time_of(s, TAKEN);
		takers.et_ns += (double)(feed->own_ns ? s->et_ns - feed->usual_ns + feed->own_ns[i]
						      : s->et_ns);
	}
	for (size_t i = 0; i < feed->n_tallies; i++)
		known += core_time(&feed->tallies[i]);
	takers.share = taken / takers.et_ns;
	takers.counted_ns = fmax(taken, known);
	return takers;
}

/* The one who took most of those who took less than `after`; NULL: the first, or there is none. */
static const struct daemon_tally *next_taker(
	const struct analysis_feed *feed, const struct daemon_tally *after)
{
	const struct daemon_tally *next = NULL;

	for (const struct daemon_tally *t = feed->tallies; t < feed->tallies + feed->n_tallies; t++) {
		double time = core_time(t), limit = after ? core_time(after) : INFINITY;

		if (time <= 0 || time > limit || (time == limit && t <= after))
			continue;
		if (!next || time > core_time(next))
			next = t;
	}
	return next;
}

/* " (stress-ng 31 %, cron 12 %)": those who took most of it, or at least the one who took most of all, and how much of the
 * time of the central samples. */
static void name_takers(
	const struct analysis_feed *feed, const struct takers *takers, char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	for (const struct daemon_tally *t = next_taker(feed, NULL); t && len < size;
		t = next_taker(feed, t)) {
		double share = takers->share * core_time(t) / takers->counted_ns;
		char percent[TEXT_TIME_SIZE];

		if (len > 0 && share < NAMED * takers->share)
			break;
		len += (size_t)snprintf(text + len, size - len, "%s%s %s", len ? ", " : " (", t->name,
			text_percent(percent, share));
	}
	if (len > 0 && len < size)
		snprintf(text + len, size - len, ")");
	text_trim_utf8(text);
}

/* 1: others take so much of the usual sample that it does not show the program alone; it has the verdict. */
int noise_find_busy(const struct analysis_feed *feed, struct analysis *analysis)
{
	_cleanup_(freep) int64_t *ets = NULL, *taken = NULL;
	char names[200], percent[TEXT_TIME_SIZE];
	struct takers takers;
	size_t n;
	int r;

	if (!is_inc(&feed->run) && feed->samples[0].wait_ns < 0)
		return 0;
	r = core_times(feed, ET, &ets, &n);
	if (r == 0)
		r = core_times(feed, TAKEN, &taken, &n);
	if (r < 0 || n == 0)
		return r;
	if (quantile_of(taken, n, 0.5) <= BUSY * quantile_of(ets, n, 0.5))
		return 0;
	takers = takers_of(feed);
	if (takers.et_ns <= 0)
		return 0;
	name_takers(feed, &takers, names, sizeof(names));
	analysis->verdict = VERDICT_BUSY;
	snprintf(analysis->why, sizeof(analysis->why),
		"a busy CPU: other processes took %s of the time of the central samples%s",
		text_percent(percent, takers.share), names);
	return 1;
}

void noise_describe(const struct cluster_noise *noise, char text[NOISE_TEXT_SIZE])
{
	char blind[TEXT_TIME_SIZE], sd[TEXT_TIME_SIZE];

	snprintf(text, NOISE_TEXT_SIZE, "noisy: blind to daemons below %s, PT varies by %s",
		text_precise(blind, (double)noise->blind_ns, (double)noise->blind_ns),
		text_percent(sd, noise->pt_sd));
}
