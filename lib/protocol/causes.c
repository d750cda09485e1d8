/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The causes of long samples: how much of their extra time daemons explain, for each sample, for all together, or
 * because a daemon divides the samples in two. */
#include "lib/protocol/analysis_internal.h"

#include "lib/stats/proportion.h"

#include <math.h>

/* If daemons explain half of the extra time of a sample, they rather than noise made it long. */
static const double CAUSE = 0.5;
/* A daemon divides samples if it runs in more than one in ten and is missing in more than one in ten, and at least in
 * this many. */
static const double FREQUENT = 0.10;
enum { LEAST = 20 };

/* The time of daemons that ran long in each sample beyond the core. A process that runs all the time runs longer in a
 * longer sample without being its cause: its usual time grows with the sample. */
void causes_add_up(struct analysis_feed *feed)
{
	size_t n_core = 0;

	for (size_t i = 0; i < feed->n_samples; i++)
		n_core += feed->zones[i] == ZONE_CORE;
	for (struct daemon_tally *tally = feed->tallies; tally < feed->tallies + feed->n_tallies; tally++) {
		const struct running *core = &tally->seen[ZONE_CORE];
		double a_sample = running_sum(core) / (double)n_core;

		feed->cursor = 0;
		for (size_t i = 0; i < tally->n_longs; i++) {
			size_t sample = analysis_feed_sample(feed, tally->longs[i].sample);
			double usual = a_sample * (double)feed->samples[sample].et_ns /
				       (double)feed->central.median_ns;

			if (running_is_long(core, tally->longs[i].pt_ns))
				feed->extra_ns[sample] += fmax((double)tally->longs[i].pt_ns - usual, 0);
		}
	}
}

bool causes_explain(const struct analysis_feed *feed, size_t sample)
{
	int64_t longer_ns = feed->samples[sample].et_ns - feed->central.median_ns;

	return feed->extra_ns[sample] >= CAUSE * (double)longer_ns;
}

struct group {
	size_t n;
	double et_ns; /* sum */
};

static struct group group_of(const struct analysis_feed *feed, unsigned zones)
{
	struct group g = {};

	for (size_t i = 0; i < feed->n_samples; i++)
		if (zones & IN(feed->zones[i])) {
			g.n++;
			g.et_ns += (double)feed->samples[i].et_ns;
		}
	return g;
}

static double time_of(const struct daemon_tally *tally, unsigned zones)
{
	double sum = 0;

	for (unsigned c = 0; c < N_ZONES; c++)
		if (zones & IN(c))
			sum += running_sum(&tally->seen[c]);
	return sum;
}

/* About the variance of that sum, if executions come at random. */
static double variance_of(const struct daemon_tally *tally, unsigned zones)
{
	double sum = 0;

	for (unsigned c = 0; c < N_ZONES; c++)
		if (zones & IN(c))
			sum += running_sum_of_squares(&tally->seen[c]);
	return sum;
}

/* A process that runs all the time runs longer in a longer sample without being its cause; nor is one a cause that
 * ran more in these samples by chance, that is, by no more than three standard errors. */
static double extra_of(const struct daemon_tally *tally, unsigned fast, unsigned slow, double ratio)
{
	double extra = time_of(tally, slow) - ratio * time_of(tally, fast);

	return extra > 3 * sqrt(variance_of(tally, slow) + ratio * ratio * variance_of(tally, fast)) ? extra
												     : 0;
}

double causes_explained_share(struct analysis_feed *feed, unsigned fast, unsigned slow)
{
	struct group usual = group_of(feed, fast), long_ones = group_of(feed, slow);
	double extra = 0, all;

	if (usual.n == 0 || long_ones.n == 0)
		return 0;
	all = long_ones.et_ns - usual.et_ns / (double)usual.n * (double)long_ones.n;
	for (struct daemon_tally *tally = feed->tallies; tally < feed->tallies + feed->n_tallies; tally++) {
		tally->extra_ns = extra_of(tally, fast, slow, long_ones.et_ns / usual.et_ns);
		extra += tally->extra_ns;
	}
	return all > 0 ? extra / all : 0;
}

/* The samples with the daemon and those without it: the share of the variance of ET that is between the two groups, if
 * the daemon's own time explains the difference. */
static double divided_share(const struct daemon_tally *tally, size_t n, double mean, double variance)
{
	double present = (double)tally->n_present, absent = (double)(n - tally->n_present), apart;

	if (proportion_at_least(tally->n_present, n) <= FREQUENT ||
		proportion_at_least(n - tally->n_present, n) <= FREQUENT)
		return 0;
	apart = (tally->et_ns / present - mean) * (double)n / absent;
	if (tally->pt_ns / present < CAUSE * apart || apart <= 0 || variance <= 0)
		return 0;
	return present / (double)n * absent / (double)n * apart * apart / variance;
}

const struct daemon_tally *causes_dividing(const struct analysis_feed *feed)
{
	const struct daemon_tally *best = NULL;
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
	for (const struct daemon_tally *tally = feed->tallies; tally < feed->tallies + feed->n_tallies;
		tally++) {
		double share = divided_share(tally, n, mean, variance);

		if (share <= best_share)
			continue;
		best_share = share;
		best = tally;
	}
	return best;
}
