/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding the executions of a run: see analysis_feed.h. Executions in the central cluster are summed up; of those in
 * longer samples, only the ones that may be long for their daemon are kept. */
#include "lib/protocol/analysis_feed.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/text.h"
#include "lib/protocol/analysis_internal.h"

#include "lib/stats/robust.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Of a sample: who takes less, however often, does not disturb it. */
static const double MATERIAL = 0.01;
/* Of the samples, W may be unknown. */
static const double MOST_UNKNOWN = 0.1;

struct named {
	const char *name;
	size_t daemon;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* One tally for each group of names, in the order of names. */
static int make_tallies(struct analysis_feed *feed, const struct name_pattern *patterns)
{
	const struct sources *daemons = feed->daemons;
	_cleanup_(freep) struct named *names = xreallocarray(NULL, daemons->n + 1, sizeof(*names));

	feed->tallies = xcalloc(daemons->n + 1, sizeof(*feed->tallies));
	feed->tally_of = xcalloc(daemons->n + 1, sizeof(*feed->tally_of));
	for (size_t i = 0; i < daemons->n; i++)
		names[i] = (struct named){name_group(patterns, daemons->items[i].name), i};
	qsort(names, daemons->n, sizeof(*names), by_name);
	for (size_t i = 0; i < daemons->n; i++) {
		if (i == 0 || strcmp(names[i].name, names[i - 1].name)) {
			struct daemon_tally *tally = &feed->tallies[feed->n_tallies++];

			tally->name = names[i].name;
			for (size_t c = 0; c < N_ZONES; c++)
				tally->seen[c] = RUNNING_NONE;
		}
		feed->tally_of[names[i].daemon] = (uint32_t)(feed->n_tallies - 1);
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

static int set_zones(struct analysis_feed *feed, const struct sample *samples)
{
	feed->zones = xmalloc(feed->n_samples);
	feed->extra_ns = xcalloc(feed->n_samples, sizeof(*feed->extra_ns));
	for (size_t i = 0; i < feed->n_samples; i++)
		feed->zones[i] = (uint8_t)zone_of(&feed->central, samples[i].et_ns);
	return 0;
}

static size_t count_without_wait(const struct sample *samples, size_t n)
{
	size_t unknown = 0;

	for (size_t i = 0; i < n; i++)
		unknown += samples[i].wait_ns < 0;
	return unknown;
}

static void forget_waits_at_once(struct sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++)
		samples[i].wait_ns = sample_wait_ns(&samples[i]);
}

/* If W is unknown for more samples than this, the run has no W. */
static bool is_wait_known(const struct sample *samples, size_t n)
{
	return (double)count_without_wait(samples, n) <= MOST_UNKNOWN * (double)n;
}

static int say_unknown(const struct run *run, const struct sample *samples, struct error *err)
{
	while (samples->wait_ns >= 0)
		samples++;
	return error_say(err, -ENODATA,
		"the waiting time of sample %" PRIu32 " in run %" PRId64
		" is not known: it needs --accounting bpf and a cgroup, and a program of several tasks needs --cpu",
		samples->n, run->id);
}

/* Fills in own_ns: ET - W. Of a sample whose W is unknown it is the ET, but not more than the greatest of the others: what it is
 * longer by was taken by others. */
static void find_own(struct analysis_feed *feed, const struct sample *samples, size_t n)
{
	int64_t most_ns = 0;

	for (size_t i = 0; i < n; i++) {
		feed->own_ns[i] = samples[i].et_ns - samples[i].wait_ns;
		if (samples[i].wait_ns >= 0 && feed->own_ns[i] > most_ns)
			most_ns = feed->own_ns[i];
	}
	for (size_t i = 0; i < n; i++)
		if (samples[i].wait_ns < 0)
			feed->own_ns[i] = samples[i].et_ns < most_ns ? samples[i].et_ns : most_ns;
}

/* The largest 1, 2 or 5 times a power of ten that is no more than this; a millisecond at most. */
static int64_t step_up_to(double most_ns)
{
	int64_t step = 1;

	while (10 * (double)step <= most_ns && step < NS_PER_MS)
		step *= 10;
	if (step < NS_PER_MS)
		step *= 5 * (double)step <= most_ns ? 5 : 2 * (double)step <= most_ns ? 2 : 1;
	return step;
}

/* Replaces each ET by W and the median of ET - W: what it would be if the program itself always took the same time. W is
 * rounded: what the program's own time varies by, or a hundredth of a sample, makes no sample long. */
static int take_waits(struct analysis_feed *feed, const struct run *run, struct sample *samples, size_t n,
	struct error *err)
{
	_cleanup_(freep) int64_t *sorted = xreallocarray(NULL, n + 1, sizeof(*sorted));
	int64_t step_ns;

	feed->own_ns = xreallocarray(NULL, n + 1, sizeof(*feed->own_ns));
	feed->exact_ns = xreallocarray(NULL, n + 1, sizeof(*feed->exact_ns));
	if (!is_wait_known(samples, n))
		return say_unknown(run, samples, err);
	if (n == 0)
		return 0;
	find_own(feed, samples, n);
	feed->n_by_et = count_without_wait(samples, n);
	memcpy(sorted, feed->own_ns, n * sizeof(*sorted));
	sort_ascending(sorted, n);
	feed->usual_ns = llround(quantile_of(sorted, n, 0.5));
	feed->material_ns = fmin(shorth_of(sorted, n).sd, MATERIAL * (double)feed->usual_ns);
	step_ns = step_up_to(feed->material_ns);
	for (size_t i = 0; i < n; i++) {
		feed->exact_ns[i] = feed->usual_ns + samples[i].et_ns - feed->own_ns[i];
		samples[i].et_ns = resolution_round(feed->exact_ns[i], step_ns);
	}
	return 0;
}

int analysis_feed_new(struct analysis_feed **ret, struct run *run, struct sample *samples, size_t n_samples,
	const struct sources *daemons, const struct analysis_options *options, struct error *err)
{
	_cleanup_(analysis_feed_freep) struct analysis_feed *feed = xcalloc(1, sizeof(*feed));
	char usual[TEXT_TIME_SIZE];
	int r = 0;

	feed->n_samples = n_samples;
	feed->daemons = daemons;
	feed->other_cpus = options->other_cpus;
	memcpy(feed->like, options->like, sizeof(feed->like));
	feed->resolution_ns = options->resolution_ns ?: run->resolution_ns > 0 ? run->resolution_ns : 1;
	forget_waits_at_once(samples, n_samples);
	if (options->by_wait ||
		(options->by_wait_if_exact && run_wait_is_exact(run) && is_wait_known(samples, n_samples)))
		r = take_waits(feed, run, samples, n_samples, err);
	if (r < 0)
		return r;
	if (options->central_max_ns > 0 && options->central_max_ns <= feed->usual_ns)
		return error_say(err, -EINVAL,
			"run %" PRId64 ": the longest central ET must be above the median ET - W, %s",
			run->id, text_duration(usual, feed->usual_ns));
	r = cluster_find(
		&feed->central, samples, n_samples, run->resolution_ns, options->central_max_ns, err);
	if (r < 0)
		return error_prefix(err, r, "run %" PRId64, run->id);
	r = set_zones(feed, samples);
	if (r == 0)
		r = make_tallies(feed, options->patterns);
	if (r < 0)
		return error_oom(err);
	feed->run = *run;
	*run = (struct run){};
	feed->samples = samples;
	*ret = TAKE(feed);
	return 0;
}

void analysis_feed_free(struct analysis_feed *feed)
{
	if (!feed)
		return;
	for (size_t i = 0; i < feed->n_tallies; i++)
		free(feed->tallies[i].longs);
	free(feed->tallies);
	free(feed->tally_of);
	free(feed->own_ns);
	free(feed->spans);
	free(feed->exact_ns);
	free(feed->zones);
	free(feed->extra_ns);
	free(feed->samples);
	name_families_clear(&feed->families);
	cluster_clear(&feed->central);
	run_clear(&feed->run);
	free(feed);
}

static int keep(struct daemon_tally *tally, uint32_t sample, int64_t pt_ns)
{
	struct long_execution *execution = array_add_reused(tally->longs, tally->n_longs, tally->capacity);

	*execution = (struct long_execution){.sample = sample, .pt_ns = pt_ns};
	return 0;
}

static void be_present(
	struct daemon_tally *tally, const struct sample *sample, int64_t median_ns, int64_t pt_ns)
{
	tally->pt_ns += (double)pt_ns;
	if (tally->last == sample->n)
		return;
	tally->last = sample->n;
	tally->n_present++;
	tally->et_ns += (double)(sample->et_ns - median_ns);
}

int analysis_feed_add(struct analysis_feed *feed, const struct execution *e, struct error *err)
{
	int64_t used_ns = feed->other_cpus ? e->pt_ns : execution_disturbing_ns(e);
	int64_t pt_ns = resolution_round(used_ns, feed->resolution_ns);
	enum zone zone;
	struct daemon_tally *tally;
	size_t sample;
	int r = 0;

	if (e->sample > feed->samples[feed->n_samples - 1].n) /* taken after the samples were read */
		return 0;
	sample = analysis_feed_sample(feed, e->sample);
	if (sample == feed->n_samples || e->source < 1 || e->source > feed->daemons->n)
		return error_say(err, -EINVAL,
			"run %" PRId64 " has an execution in sample %" PRIu32 " by process %" PRIu32
			", one of which is not in the book",
			feed->run.id, e->sample, e->source);
	if (pt_ns == 0) /* below the resolution it counts as not run */
		return 0;
	zone = feed->zones[sample];
	tally = &feed->tallies[feed->tally_of[e->source - 1]];
	running_add(&tally->seen[zone], pt_ns);
	tally->returned |= tally->pid != 0 && e->pid != tally->pid;
	tally->pid = e->pid;
	if (pt_ns > tally->longest_ns) {
		tally->longest_ns = pt_ns;
		tally->longest = e->source - 1;
	}
	if (zone != ZONE_ABOVE)
		be_present(tally, &feed->samples[sample], feed->central.median_ns, pt_ns);
	if (zone > ZONE_CORE && pt_ns > tally->seen[ZONE_CORE].max_ns)
		r = keep(tally, e->sample, pt_ns);
	return r < 0 ? error_oom(err) : 0;
}
