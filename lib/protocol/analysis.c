/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The analysis of one run: see analysis.h. Executions in the central cluster are summed up; of
 * those in longer samples, only the ones that may be long for their daemon are kept. */
#include "lib/protocol/analysis_internal.h"

/* Smaller shares of a sample are not a disturbance. */
static const double LEAST_SHARE = 0.01;
/* If W is unknown for more of the samples, the run has no W. */
static const double MOST_UNKNOWN = 0.1;
/* If daemons explain half of the samples beyond a bound, the bound holds. */
static const double EXPLAINED = 0.5;
/* If daemons explain half of the extra time of a sample, they rather than noise made it long. */
static const double CAUSE = 0.5;
/* A daemon divides samples if it runs in more than one in ten and is missing in more than one in
 * ten, of at least so many. */
static const double FREQUENT = 0.10;
enum { LEAST_DIVIDED = 10 };

/* By W: what the sample's ET would be if the program itself always took its median time. */
static int64_t even_et_ns(const struct analysis_feed *feed, size_t i)
{
	return feed->analysis.median_rest_ns + feed->ets_ns[i] - feed->rests_ns[i];
}

/* The largest 1, 2 or 5 times a power of ten that is at most most_ns; a millisecond at most. */
static int64_t step_up_to(double most_ns)
{
	int64_t step_ns = 1;

	while (10 * (double)step_ns <= most_ns && step_ns < NS_PER_MS)
		step_ns *= 10;
	if (step_ns >= NS_PER_MS)
		return step_ns;
	if (5 * (double)step_ns <= most_ns)
		return 5 * step_ns;
	if (2 * (double)step_ns <= most_ns)
		return 2 * step_ns;
	return step_ns;
}

/* Fills in ET - W of each sample. If W is not known it is the ET, but not more than the greatest of
 * the others: other processes took what the sample is longer by. */
static void find_rests(struct analysis_feed *feed, const struct sample *samples, size_t n)
{
	int64_t most_ns = 0;

	feed->rests_ns = xcalloc(n, sizeof(*feed->rests_ns));
	for (size_t i = 0; i < n; i++) {
		int64_t rest_ns = samples[i].et_ns - samples[i].wait_ns;

		if (samples[i].wait_ns < 0)
			continue;
		feed->rests_ns[i] = rest_ns;
		most_ns = rest_ns > most_ns ? rest_ns : most_ns;
	}
	for (size_t i = 0; i < n; i++)
		if (samples[i].wait_ns < 0)
			feed->rests_ns[i] = samples[i].et_ns < most_ns ? samples[i].et_ns : most_ns;
}

/* Replaces each ET by W and the median of ET - W, rounded. Two things make no sample long: what the
 * program's own time varies by, and a hundredth of a sample. n > 0. */
static void use_waits(struct analysis_feed *feed, struct sample *samples, size_t n)
{
	struct analysis *a = &feed->analysis;
	_cleanup_(freep) int64_t *sorted = xcalloc(n, sizeof(*sorted));
	int64_t step_ns;

	find_rests(feed, samples, n);
	memcpy(sorted, feed->rests_ns, n * sizeof(*sorted));
	sort_ascending(sorted, n);

	a->median_rest_ns = llround(quantile_of(sorted, n, 0.5));
	feed->least_ns = fmin(shorth_of(sorted, n).sd, LEAST_SHARE * (double)a->median_rest_ns);
	step_ns = step_up_to(feed->least_ns);
	for (size_t i = 0; i < n; i++)
		samples[i].et_ns = resolution_round(even_et_ns(feed, i), step_ns);
}

/* Fills in W of each sample. Returns of how many it is not known; *ret_first is the first of
 * them. */
static size_t find_waits(struct sample *samples, size_t n, size_t *ret_first)
{
	size_t n_unknown = 0;

	for (size_t i = 0; i < n; i++) {
		samples[i].wait_ns = sample_wait_ns(&samples[i]);
		if (samples[i].wait_ns < 0 && n_unknown++ == 0)
			*ret_first = i;
	}
	return n_unknown;
}

static int64_t pt_resolution(const struct analysis_options *options, const struct run *run)
{
	if (options->resolution_ns)
		return options->resolution_ns;
	return run->resolution_ns > 0 ? run->resolution_ns : 1;
}

static enum zone zone_of(const struct cluster *c, int64_t et_ns)
{
	if (et_ns < c->low_ns)
		return ZONE_BELOW;
	if (et_ns <= c->core_high_ns)
		return ZONE_CORE;
	if (et_ns <= c->near_high_ns)
		return ZONE_NEAR;
	return et_ns <= c->high_ns ? ZONE_FAR : ZONE_ABOVE;
}

int analysis_feed_new(struct analysis_feed **ret, struct run *run, struct sample *samples, size_t n,
	const struct sources *sources, const struct analysis_options *options, struct error *err)
{
	_cleanup_(analysis_feed_freep) struct analysis_feed *feed = xcalloc(1, sizeof(*feed));
	struct analysis *a = &feed->analysis;
	size_t n_unknown, first_unknown = 0;
	bool known;
	int r;

	feed->sources = sources;
	feed->options = *options;
	feed->ets_ns = xcalloc(n, sizeof(*feed->ets_ns));
	for (size_t i = 0; i < n; i++)
		feed->ets_ns[i] = samples[i].et_ns;

	n_unknown = find_waits(samples, n, &first_unknown);
	known = (double)n_unknown <= MOST_UNKNOWN * (double)n;
	if (options->by_wait && !known)
		return error_say(err, -ENODATA,
			"the waiting time of sample %" PRIu32 " in run %" PRId64
			" is not known: it needs --accounting bpf and a cgroup, and a program of "
			"several tasks needs --cpu",
			samples[first_unknown].n, run->id);

	a->n_samples = n;
	a->resolution_ns = pt_resolution(options, run);
	a->by_wait = n > 0 && known &&
		     (options->by_wait || (options->by_wait_if_exact && run_wait_is_exact(run)));
	if (a->by_wait) {
		a->n_by_et = n_unknown;
		use_waits(feed, samples, n);
	}
	if (options->central_max_ns > 0 && options->central_max_ns <= a->median_rest_ns)
		return error_say(err, -EINVAL,
			"run %" PRId64
			": the longest central ET must be above the median ET - W, %s",
			run->id, text_duration(a->median_rest_ns));

	r = cluster_find(&a->central, samples, n, run->resolution_ns, options->central_max_ns, err);
	if (r < 0)
		return error_prefix(err, r, "run %" PRId64, run->id);

	feed->zones = xmalloc(n);
	feed->beyond_core = xcalloc(n, sizeof(*feed->beyond_core));
	feed->extra_ns = xcalloc(n, sizeof(*feed->extra_ns));
	for (size_t i = 0; i < n; i++) {
		enum zone zone = zone_of(&a->central, samples[i].et_ns);

		feed->zones[i] = (uint8_t)zone;
		feed->beyond_core[i] = zone > ZONE_CORE;
	}

	a->run = TAKE_STRUCT(*run);
	a->samples = samples;
	*ret = TAKE(feed);
	return 0;
}

void analysis_feed_free(struct analysis_feed *feed)
{
	if (!feed)
		return;
	analysis_clear(&feed->analysis);
	daemons_clear(&feed->daemons);
	free(feed->ets_ns);
	free(feed->rests_ns);
	free(feed->zones);
	free(feed->beyond_core);
	free(feed->extra_ns);
	free(feed);
}

/* Notes that the daemon ran in the current sample, which is not above the central cluster. */
static void add_presence(
	const struct analysis_feed *feed, struct daemon_statistics *daemon, int64_t pt_ns)
{
	const struct sample *s = &feed->analysis.samples[feed->at];

	daemon->pt_ns += (double)pt_ns;
	if (daemon->last == s->n) /* one execution of several */
		return;
	daemon->last = s->n;
	daemon->n_present++;
	daemon->et_ns += (double)(s->et_ns - feed->analysis.central.median_ns);
}

int analysis_feed_add(void *data, const struct execution *e, struct error *err)
{
	struct analysis_feed *feed = data;
	const struct analysis *a = &feed->analysis;
	int64_t used_ns = feed->options.other_cpus ? e->pt_ns : execution_disturbing_ns(e);
	int64_t pt_ns = resolution_round(used_ns, a->resolution_ns);
	enum zone zone;
	struct daemon_statistics *daemon;

	if (e->sample > a->samples[a->n_samples - 1].n) /* taken after the samples were read */
		return 0;
	while (a->samples[feed->at].n < e->sample)
		feed->at++;
	if (a->samples[feed->at].n != e->sample || e->source < 1 || e->source > feed->sources->n)
		return error_say(err, -EINVAL,
			"run %" PRId64 " has an execution in sample %" PRIu32 " by process %" PRIu32
			", one of which is not in the book",
			a->run.id, e->sample, e->source);
	if (pt_ns == 0) /* below the resolution it counts as not run */
		return 0;

	zone = feed->zones[feed->at];
	daemon = daemons_add(&feed->daemons, feed->options.patterns,
		&feed->sources->items[e->source - 1], e, pt_ns);
	running_add(&daemon->seen[zone], pt_ns);
	if (zone != ZONE_ABOVE)
		add_presence(feed, daemon, pt_ns);
	if (zone > ZONE_CORE && pt_ns > daemon->seen[ZONE_CORE].max_ns) {
		struct long_execution *added = array_add_reused(
			daemon->long_executions, daemon->n_long_executions, daemon->capacity);

		*added = (struct long_execution){e->sample, (uint32_t)feed->at, pt_ns};
	}
	return 0;
}

static int daemon_by_name(const void *a, const void *b)
{
	return strcmp(((const struct daemon_statistics *)a)->name,
		((const struct daemon_statistics *)b)->name);
}

double analysis_beyond_usual(const struct analysis_feed *feed,
	const struct daemon_statistics *daemon, const struct long_execution *e)
{
	const struct analysis *a = &feed->analysis;
	/* for each ns of elapsed time */
	double usual = daemon->usual_ns / (double)a->central.median_ns;

	return fmax((double)e->pt_ns - usual * (double)a->samples[e->at].et_ns, 0);
}

/* By how much a sample is longer than the median of the central cluster. */
static double longer_ns(const struct analysis_feed *feed, size_t sample)
{
	return (double)(feed->analysis.samples[sample].et_ns - feed->analysis.central.median_ns);
}

bool analysis_explains(const struct analysis_feed *feed, size_t sample)
{
	return feed->extra_ns[sample] >= CAUSE * longer_ns(feed, sample);
}

/* Moves the daemons into the analysis, those of each family as one. */
static void end_daemons(struct analysis_feed *feed)
{
	struct daemons *daemons = &feed->daemons;
	_cleanup_(freep) const char **known = NULL;
	size_t n_families = 0;

	for (size_t k = 0; k < ELEMENTS(feed->options.family_reference); k++) {
		const struct analysis *reference = feed->options.family_reference[k];

		for (size_t i = 0; reference && i < reference->n_statistics; i++)
			if (reference->statistics[i].names > 0)
				*array_add(known, n_families) = reference->statistics[i].name;
	}
	/* In the order of names, in which sums are the same whichever ran first. */
	if (daemons->n > 0)
		qsort(daemons->items, daemons->n, sizeof(*daemons->items), daemon_by_name);
	daemons_join_families(daemons, known, n_families);
	if (daemons->n > 0)
		qsort(daemons->items, daemons->n, sizeof(*daemons->items), daemon_by_name);
	feed->analysis.statistics = TAKE(daemons->items);
	feed->analysis.n_statistics = daemons->n;
	daemons->n = 0;
}

/* By how much samples are longer than the median: of those up to the bound of the central
 * cluster. */
struct spread {
	size_t n;
	double mean, variance;
};

static struct spread spread_of(const struct analysis_feed *feed)
{
	struct spread s = {};

	for (size_t i = 0; i < feed->analysis.n_samples; i++) {
		double longer = longer_ns(feed, i);

		if (feed->zones[i] == ZONE_ABOVE)
			continue;
		s.n++;
		s.mean += longer;
		s.variance += longer * longer;
	}
	s.mean /= (double)s.n;
	s.variance = s.variance / (double)s.n - s.mean * s.mean;
	return s;
}

/* The samples with the daemon and those without it: which share of the variance of ET is between
 * the two groups. 0: one group is too small, or the daemon's own time does not explain the
 * difference. */
static double variance_between(const struct daemon_statistics *daemon, const struct spread *all)
{
	size_t n_absent = all->n - daemon->n_present;
	double n = (double)all->n, present = (double)daemon->n_present, absent = (double)n_absent;
	double apart = (daemon->et_ns / present - all->mean) * n / absent;

	if (proportion_at_least(daemon->n_present, all->n) <= FREQUENT ||
		proportion_at_least(n_absent, all->n) <= FREQUENT)
		return 0;
	if (apart <= 0 || all->variance <= 0 || daemon->pt_ns / present < CAUSE * apart)
		return 0;
	return present / n * absent / n * apart * apart / all->variance;
}

/* The daemon whose presence divides the samples into longer and shorter ones; NULL: there is
 * none. */
static struct daemon_statistics *find_dividing(const struct analysis_feed *feed)
{
	const struct analysis *a = &feed->analysis;
	const struct spread all = spread_of(feed);
	struct daemon_statistics *best = NULL;
	double best_share = CAUSE;

	if (all.n < LEAST_DIVIDED)
		return NULL;
	for (size_t i = 0; i < a->n_statistics; i++) {
		double share = variance_between(&a->statistics[i], &all);

		if (share > best_share) {
			best_share = share;
			best = &a->statistics[i];
		}
	}
	return best;
}

static void find_central_statistics(struct analysis_feed *feed)
{
	struct analysis *a = &feed->analysis;
	size_t n_core = 0; /* at least one */

	for (size_t i = 0; i < a->n_samples; i++)
		n_core += feed->zones[i] == ZONE_CORE;
	for (size_t i = 0; i < a->n_statistics; i++) {
		struct daemon_statistics *daemon = &a->statistics[i];
		const struct running *central = &daemon->seen[ZONE_CORE];

		daemon->n_central = central->n;
		daemon->central_max_ns = central->max_ns;
		daemon->central_sd_ns = running_sd(central);
		daemon->usual_ns = running_sum(central) / (double)n_core;
	}
}

/* Adds up what daemons that ran long explain of each sample. */
static void add_explained_times(struct analysis_feed *feed)
{
	const struct analysis *a = &feed->analysis;

	for (size_t d = 0; d < a->n_statistics; d++) {
		const struct daemon_statistics *daemon = &a->statistics[d];

		for (size_t i = 0; i < daemon->n_long_executions; i++) {
			const struct long_execution *e = &daemon->long_executions[i];

			if (daemon_statistics_is_long(daemon, e->pt_ns))
				feed->extra_ns[e->at] += analysis_beyond_usual(feed, daemon, e);
		}
	}
}

/* Each zone becomes another one, or stays, in the samples and in what was seen of the daemons. */
static void replace_zones(struct analysis_feed *feed, const enum zone becomes[N_ZONES])
{
	struct analysis *a = &feed->analysis;

	for (size_t i = 0; i < a->n_samples; i++)
		feed->zones[i] = (uint8_t)becomes[feed->zones[i]];
	for (size_t i = 0; i < a->n_statistics; i++)
		for (enum zone zone = ZONE_NEAR; zone <= ZONE_FAR; zone++) {
			struct running *seen = a->statistics[i].seen, *to = &seen[becomes[zone]];

			*to = running_join(to, &seen[zone]);
			seen[zone] = RUNNING_NONE;
		}
}

/* If daemons that ran long explain most of the samples beyond the core, or beyond the gap further
 * out, the central cluster ends there. Dissolves the zones NEAR and FAR. */
static void settle_bound(struct analysis_feed *feed)
{
	struct analysis *a = &feed->analysis;
	struct cluster *c = &a->central;
	size_t n[N_ZONES] = {}, explained[N_ZONES] = {};
	enum zone becomes[N_ZONES] = {ZONE_BELOW, ZONE_CORE, ZONE_CORE, ZONE_CORE, ZONE_ABOVE};
	double beyond_core, beyond_gap; /* shares of samples that daemons explain */

	for (size_t i = 0; i < a->n_samples; i++) {
		n[feed->zones[i]]++;
		explained[feed->zones[i]] += analysis_explains(feed, i);
	}
	beyond_core = (double)(explained[ZONE_NEAR] + explained[ZONE_FAR]) /
		      fmax(1, (double)(n[ZONE_NEAR] + n[ZONE_FAR]));
	beyond_gap = (double)explained[ZONE_FAR] / fmax(1, (double)n[ZONE_FAR]);

	if (beyond_core > EXPLAINED) {
		becomes[ZONE_NEAR] = becomes[ZONE_FAR] = ZONE_ABOVE;
		cluster_tighten(c, a->samples, a->n_samples, c->core_high_ns, beyond_core);
	} else if (beyond_gap > EXPLAINED) {
		becomes[ZONE_FAR] = ZONE_ABOVE;
		cluster_tighten(c, a->samples, a->n_samples, c->near_high_ns, beyond_gap);
	}
	replace_zones(feed, becomes);
}

/* Whether an execution that was kept is one that made its sample long: it is long for the daemon
 * (step 4), and the sample is above the central cluster and explained by daemons. Where W is known,
 * it must not contradict that other processes made the sample long. */
static bool made_sample_long(const struct analysis_feed *feed,
	const struct daemon_statistics *daemon, const struct long_execution *e)
{
	const struct sample *s = &feed->analysis.samples[e->at];
	int64_t longer_ns = s->et_ns - feed->analysis.central.median_ns;

	if (feed->zones[e->at] != ZONE_ABOVE || !analysis_explains(feed, e->at))
		return false;
	if (s->wait_ns >= 0 && s->wait_ns < longer_ns / 2)
		return false;
	return daemon_statistics_is_long(daemon, e->pt_ns);
}

/* In time; of imported runs first in sample numbers, as in the papers, so that their tables come
 * out. spans: when the samples were; NULL: not known. */
static struct period daemon_period(const struct analysis *a, const uint32_t *numbers,
	const uint32_t *indexes, size_t n, const struct sample_span *spans)
{
	struct period period = {};

	if (a->run.kind == RUN_IMPORT || !spans)
		period = period_find(numbers, n, NULL, a->samples[a->n_samples - 1].n);
	if (spans && !period_is_known(&period))
		period = period_find(indexes, n, spans, a->n_samples);
	return period;
}

/* Of the executions kept, keeps those that made samples long, and flags these samples. From them
 * follow the daemon's share of the delay, its cutoff and its period. Where several daemons together
 * ran for longer than the delay, each gets a part of it. */
static void conclude_daemon(const struct analysis_feed *feed, struct daemon_statistics *daemon,
	const struct sample_span *spans, bool *explained_samples)
{
	const struct analysis *a = &feed->analysis;
	_cleanup_(freep) uint32_t *numbers = xcalloc(daemon->n_long_executions, sizeof(*numbers));
	_cleanup_(freep) uint32_t *indexes = xcalloc(daemon->n_long_executions, sizeof(*indexes));
	double explained = 0, all = 0;
	size_t kept = 0, n = 0;

	daemon->long_min_ns = daemon->cutoff_ns = -1;
	for (size_t i = 0; i < daemon->n_long_executions; i++) {
		const struct long_execution e = daemon->long_executions[i];
		double delay = longer_ns(feed, e.at);

		if (!made_sample_long(feed, daemon, &e))
			continue;
		explained_samples[e.at] = true;
		if (kept == 0 || e.pt_ns < daemon->long_min_ns)
			daemon->long_min_ns = e.pt_ns;
		if (n == 0 || indexes[n - 1] != e.at) {
			numbers[n] = e.sample;
			indexes[n++] = e.at;
			all += delay;
		}
		explained += analysis_beyond_usual(feed, daemon, &e) *
			     fmin(1, delay / feed->extra_ns[e.at]);
		daemon->long_executions[kept++] = e;
	}

	daemon->n_long_executions = kept;
	daemon->share = all > 0 ? fmin(explained / all, 1) : NAN;
	if (kept == 0)
		return;
	daemon->cutoff_ns = resolution_midpoint(daemon->n_central > 0 ? daemon->central_max_ns : 0,
		daemon->long_min_ns, a->resolution_ns);
	daemon->period = daemon_period(a, numbers, indexes, n, spans);
}

/* Concludes on each daemon, and lists the samples above the central cluster. */
static void conclude_daemons(struct analysis_feed *feed)
{
	struct analysis *a = &feed->analysis;
	_cleanup_(freep) bool *explained = xcalloc(a->n_samples, sizeof(*explained));
	_cleanup_(freep) struct sample_span *spans = xcalloc(a->n_samples, sizeof(*spans));
	bool in_order = true; /* not in a run without start times, or if the clock was set */

	for (size_t i = 0; i < a->n_samples; i++) {
		int64_t start_ns = a->samples[i].start_ns;

		spans[i] = (struct sample_span){start_ns, start_ns + feed->ets_ns[i]};
		if (i > 0 && (start_ns <= spans[i - 1].from_ns || start_ns < spans[i - 1].to_ns))
			in_order = false;
	}
	for (size_t i = 0; i < a->n_statistics; i++)
		conclude_daemon(feed, &a->statistics[i], in_order ? spans : NULL, explained);

	a->l_samples = xcalloc(a->central.n_above, sizeof(uint32_t));
	a->unexplained = xcalloc(a->central.n_above, sizeof(uint32_t));
	for (size_t i = 0; i < a->n_samples; i++)
		if (feed->zones[i] == ZONE_ABOVE && explained[i])
			a->l_samples[a->n_l_samples++] = a->samples[i].n;
		else if (feed->zones[i] == ZONE_ABOVE)
			a->unexplained[a->n_unexplained++] = a->samples[i].n;
}

/* Replaces two bounds, which are rounded times, by the least and the greatest exact time of the
 * samples within them. */
static void make_exact(const struct analysis_feed *feed, int64_t *low_ns, int64_t *high_ns)
{
	int64_t least_ns = INT64_MAX, greatest_ns = INT64_MIN;

	for (size_t i = 0; i < feed->analysis.n_samples; i++) {
		int64_t rounded_ns = feed->analysis.samples[i].et_ns,
			exact_ns = even_et_ns(feed, i);

		if (rounded_ns < *low_ns || rounded_ns > *high_ns)
			continue;
		least_ns = exact_ns < least_ns ? exact_ns : least_ns;
		greatest_ns = exact_ns > greatest_ns ? exact_ns : greatest_ns;
	}
	*low_ns = least_ns;
	*high_ns = greatest_ns;
}

/* By W, the central cluster was found in rounded times, and is shown in exact ones. Rounding keeps
 * the order, so that the same samples are within the bounds. */
static void restore_exact_times(struct analysis_feed *feed)
{
	struct analysis *a = &feed->analysis;
	struct cluster *c = &a->central;
	_cleanup_(freep) int64_t *within = xcalloc(a->n_samples, sizeof(*within));
	size_t n = 0;

	for (size_t i = 0; i < c->n_zooms; i++)
		make_exact(feed, &c->zooms[i].low_ns, &c->zooms[i].high_ns);
	make_exact(feed, &c->low_ns, &c->high_ns);
	for (size_t i = 0; i < a->n_samples; i++) {
		a->samples[i].et_ns = even_et_ns(feed, i);
		if (cluster_holds(c, a->samples[i].et_ns))
			within[n++] = a->samples[i].et_ns;
	}
	c->median_ns = llround(median_of(within, n));
}

/* From the start of a sample to that of the next one: the mean ET and the median pause. The mean
 * distance of starts would be wrong for a run that was resumed after days: its daemons must not
 * have a longer period for that. */
static double spacing_of(const struct analysis *a)
{
	_cleanup_(freep) int64_t *pauses = xcalloc(a->n_samples, sizeof(*pauses));
	const struct sample *s = a->samples;
	double spacing_ns = 0;

	for (size_t i = 0; i < a->n_samples; i++) {
		spacing_ns += (double)s[i].et_ns;
		if (i > 0)
			pauses[i - 1] = s[i].start_ns - s[i - 1].start_ns - s[i - 1].et_ns;
	}
	spacing_ns /= (double)a->n_samples;
	if (a->n_samples > 1)
		spacing_ns += fmax(median_of(pauses, a->n_samples - 1), 0);
	return spacing_ns;
}

struct analysis analysis_feed_finish(struct analysis_feed *feed)
{
	struct analysis *a = &feed->analysis;

	end_daemons(feed);
	feed->divides = find_dividing(feed); /* while there are zones NEAR and FAR */
	find_central_statistics(feed);
	add_explained_times(feed);
	settle_bound(feed);
	find_central_statistics(feed);
	conclude_daemons(feed);
	if (a->by_wait)
		restore_exact_times(feed);
	verdict_find(feed);
	a->spacing_ns = spacing_of(a);
	return TAKE_STRUCT(*a);
}

void analysis_clear(struct analysis *analysis)
{
	daemons_clear(
		&(struct daemons){.items = analysis->statistics, .n = analysis->n_statistics});
	free(analysis->l_samples);
	free(analysis->unexplained);
	free(analysis->why);
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

double analysis_period_ns(const struct analysis *analysis, const struct daemon_statistics *daemon)
{
	double ns = daemon->period.ns > 0 ? daemon->period.ns
					  : daemon->period.samples * analysis->spacing_ns;

	return fmin(ns, (double)JSON_SPAN_MAX);
}

const char *analysis_period_text(
	const struct analysis *analysis, const struct daemon_statistics *daemon)
{
	const struct period *p = &daemon->period;

	return text_brief("every %s%s, %s (%zu times; by chance in %s)",
		p->samples > 0 ? text_brief("%g samples = ", p->samples) : "",
		text_duration((int64_t)analysis_period_ns(analysis, daemon)),
		p->firm ? "firm" : "tentative", p->occurrences,
		p->chance >= 0.001 ? text_brief("%.2g %%", 100 * p->chance) : "under 0.1 %");
}
