/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The causes of long samples: how much of their extra time daemons explain, for each sample, for all together, or
 * because a daemon divides the samples in two. */
#include "lib/protocol/analysis_internal.h"

#include "lib/stats/summary.h"

#include <math.h>

/* If daemons explain half of the extra time of a sample, they rather than noise made it long. */
static const double CAUSE = 0.5;
/* A daemon divides samples if it runs in more than one in ten and is missing in more than one in ten, and at least in
 * this many. */
static const double FREQUENT = 0.10;
enum { LEAST = 10 };

static size_t count_core(const struct analysis_feed *feed)
{
	size_t n = 0;

	for (size_t i = 0; i < feed->n_samples; i++)
		n += feed->zones[i] == ZONE_CORE;
	return n;
}

/* A daemon's usual time in one of the n_core core samples, for each ns of elapsed time. A process that runs all the time runs
 * longer in a longer sample without being its cause: its usual time grows with the sample. */
static double usual_share(
	const struct analysis_feed *feed, const struct daemon_statistics *daemon, size_t n_core)
{
	return n_core > 0 ? running_sum(&daemon->seen[ZONE_CORE]) / (double)n_core /
				    (double)feed->central.median_ns
			  : 0;
}

static double beyond_usual(const struct sample *sample, int64_t pt_ns, double usual)
{
	return fmax((double)pt_ns - usual * (double)sample->et_ns, 0);
}

void causes_add_up(struct analysis_feed *feed)
{
	size_t n_core = count_core(feed);

	for (size_t d = 0; d < feed->daemons.n; d++) {
		const struct daemon_statistics *daemon = &feed->daemons.items[d];
		double usual = usual_share(feed, daemon, n_core);

		feed->cursor = 0;
		for (size_t i = 0; i < daemon->n_longs; i++) {
			size_t sample = analysis_feed_sample(feed, daemon->longs[i].sample);

			if (daemon_statistics_is_long(daemon, daemon->longs[i].pt_ns))
				feed->extra_ns[sample] += beyond_usual(
					&feed->samples[sample], daemon->longs[i].pt_ns, usual);
		}
	}
}

void causes_attribute(struct analysis_feed *feed)
{
	size_t n_core = count_core(feed);

	for (size_t d = 0; d < feed->daemons.n; d++) {
		struct daemon_statistics *daemon = &feed->daemons.items[d];
		double usual = usual_share(feed, daemon, n_core);

		daemon->extra = 0;
		feed->cursor = 0;
		for (size_t i = 0; i < daemon->n_longs; i++) {
			size_t sample = analysis_feed_sample(feed, daemon->longs[i].sample);
			double extra = beyond_usual(&feed->samples[sample], daemon->longs[i].pt_ns, usual);

			if (causes_explain(feed, sample) && extra > 0)
				daemon->extra += extra / feed->extra_ns[sample];
		}
	}
}

void causes_find_shares(struct analysis_feed *feed)
{
	size_t n_core = count_core(feed);

	for (size_t d = 0; d < feed->daemons.n; d++) {
		struct daemon_statistics *daemon = &feed->daemons.items[d];
		double usual = usual_share(feed, daemon, n_core), explained = 0, all = 0;
		size_t last = feed->n_samples;

		feed->cursor = 0;
		for (size_t i = 0; i < daemon->n_longs; i++) {
			size_t sample = analysis_feed_sample(feed, daemon->longs[i].sample);
			double delay = (double)(feed->samples[sample].et_ns - feed->central.median_ns);
			double extra = beyond_usual(&feed->samples[sample], daemon->longs[i].pt_ns, usual);

			explained += extra * fmin(1, delay / feed->extra_ns[sample]);
			all += sample == last ? 0 : delay;
			last = sample;
		}
		daemon->share = all > 0 ? fmin(explained / all, 1) : NAN;
	}
}

bool causes_explain(const struct analysis_feed *feed, size_t sample)
{
	int64_t longer_ns = feed->samples[sample].et_ns - feed->central.median_ns;

	return feed->extra_ns[sample] >= CAUSE * (double)longer_ns;
}

struct sample_group {
	unsigned zones; /* a set of ZONE_BIT() */
	size_t n;
	double et_ns; /* sum */
};

static struct sample_group group_of(const struct analysis_feed *feed, unsigned zones)
{
	struct sample_group g = {.zones = zones};

	for (size_t i = 0; i < feed->n_samples; i++)
		if (zones & ZONE_BIT(feed->zones[i])) {
			g.n++;
			g.et_ns += (double)feed->samples[i].et_ns;
		}
	return g;
}

/* What a daemon used in the zones, and about the variance of that sum in `n` samples: of a daemon that runs at random at most
 * once in a sample (then their number is binomial), or that runs more often (then it is Poisson's). */
static double time_in(const struct daemon_statistics *daemon, unsigned zones, size_t n, double *ret_variance)
{
	double sum = 0, squares = 0, runs = 0;

	for (unsigned zone = 0; zone < N_ZONES; zone++)
		if (zones & ZONE_BIT(zone)) {
			sum += running_sum(&daemon->seen[zone]);
			squares += running_sum_of_squares(&daemon->seen[zone]);
			runs += (double)daemon->seen[zone].n;
		}
	*ret_variance = runs > (double)n ? squares : fmax(squares - sum * sum / (double)n, 0);
	return sum;
}

/* A process that runs all the time runs longer in a longer sample without being its cause; nor is one a cause that
 * ran more in these samples by chance, that is, by no more than three standard errors. */
static double extra_of(
	const struct daemon_statistics *daemon, struct sample_group fast, struct sample_group slow)
{
	double ratio = slow.et_ns / fast.et_ns, of_slow, of_fast;
	double in_slow = time_in(daemon, slow.zones, slow.n, &of_slow);
	double extra = in_slow - ratio * time_in(daemon, fast.zones, fast.n, &of_fast);

	return extra > 3 * sqrt(of_slow + ratio * ratio * of_fast) ? extra : 0;
}

double causes_explained_share(struct analysis_feed *feed, unsigned fast, unsigned slow)
{
	struct sample_group usual = group_of(feed, fast), long_ones = group_of(feed, slow);
	double extra = 0, all;

	if (usual.n == 0 || long_ones.n == 0)
		return 0;
	all = long_ones.et_ns - usual.et_ns / (double)usual.n * (double)long_ones.n;
	for (size_t i = 0; i < feed->daemons.n; i++) {
		feed->daemons.items[i].extra = extra_of(&feed->daemons.items[i], usual, long_ones);
		extra += feed->daemons.items[i].extra;
	}
	return all > 0 ? extra / all : 0;
}

const struct daemon_statistics *causes_dividing(const struct analysis_feed *feed)
{
	const struct daemon_statistics *best = NULL;
	double best_share = CAUSE, mean = 0, variance = 0;
	size_t n = 0;

	for (size_t i = 0; i < feed->n_samples; i++)
		if (feed->zones[i] != ZONE_ABOVE) {
			double et = (double)(feed->samples[i].et_ns - feed->central.median_ns);

			n++;
			mean += et;
			variance += et * et;
		}
	if (n < LEAST)
		return NULL;
	mean /= (double)n;
	variance = variance / (double)n - mean * mean;
	for (size_t i = 0; i < feed->daemons.n; i++) {
		double share;
		const struct daemon_statistics *daemon = &feed->daemons.items[i];
		double present = (double)daemon->n_present, absent = (double)(n - daemon->n_present), apart;

		/* The samples with the daemon and those without it: the share of the variance of ET that
		 * is between the two groups, if the daemon's own time explains the difference. */
		if (proportion_at_least(daemon->n_present, n) <= FREQUENT ||
			proportion_at_least(n - daemon->n_present, n) <= FREQUENT) {
			share = 0;
		} else {
			apart = (daemon->et_ns / present - mean) * (double)n / absent;
			if (daemon->pt_ns / present < CAUSE * apart || apart <= 0 || variance <= 0)
				share = 0;
			else
				share = present / (double)n * absent / (double)n * apart * apart / variance;
		}

		if (share <= best_share)
			continue;
		best_share = share;
		best = &feed->daemons.items[i];
	}
	return best;
}
