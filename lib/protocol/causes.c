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
enum { LEAST = 10 };

/* A daemon's usual time in a core sample, for each ns of elapsed time. A process that runs all the time runs longer in a
 * longer sample without being its cause: its usual time grows with the sample. */
static double usual_share(const struct analysis_feed *feed, const struct daemon_tally *tally)
{
	size_t n_core = 0;

	for (size_t i = 0; i < feed->n_samples; i++)
		n_core += feed->zones[i] == ZONE_CORE;
	return n_core > 0 ? running_sum(&tally->seen[ZONE_CORE]) / (double)n_core /
				    (double)feed->central.median_ns
			  : 0;
}

static double beyond_usual(const struct sample *sample, int64_t pt_ns, double usual)
{
	return fmax((double)pt_ns - usual * (double)sample->et_ns, 0);
}

/* The time of daemons that ran long in each sample beyond the core. */
void causes_add_up(struct analysis_feed *feed)
{
	for (struct daemon_tally *tally = feed->tallies; tally < feed->tallies + feed->n_tallies; tally++) {
		double usual = usual_share(feed, tally);

		feed->cursor = 0;
		for (size_t i = 0; i < tally->n_longs; i++) {
			size_t sample = analysis_feed_sample(feed, tally->longs[i].sample);

			if (running_is_long(&tally->seen[ZONE_CORE], tally->longs[i].pt_ns))
				feed->extra_ns[sample] += beyond_usual(
					&feed->samples[sample], tally->longs[i].pt_ns, usual);
		}
	}
}

void causes_share_out(struct analysis_feed *feed, const struct daemon_statistics *statistics)
{
	for (size_t t = 0; t < feed->n_tallies; t++) {
		struct daemon_tally *tally = &feed->tallies[t];
		double usual = usual_share(feed, tally);

		tally->extra = 0;
		feed->cursor = 0;
		for (size_t i = 0; i < statistics[t].n_longs; i++) {
			size_t sample = analysis_feed_sample(feed, statistics[t].longs[i].sample);

			double extra = beyond_usual(
				&feed->samples[sample], statistics[t].longs[i].pt_ns, usual);

			if (causes_explain(feed, sample) && extra > 0)
				tally->extra += extra / feed->extra_ns[sample];
		}
	}
}

void causes_find_shares(struct analysis_feed *feed, struct daemon_statistics *statistics)
{
	for (size_t t = 0; t < feed->n_tallies; t++) {
		double usual = usual_share(feed, &feed->tallies[t]), explained = 0, all = 0;
		size_t last = feed->n_samples;

		feed->cursor = 0;
		for (size_t i = 0; i < statistics[t].n_longs; i++) {
			size_t sample = analysis_feed_sample(feed, statistics[t].longs[i].sample);
			double delay = (double)(feed->samples[sample].et_ns - feed->central.median_ns);
			double extra = beyond_usual(
				&feed->samples[sample], statistics[t].longs[i].pt_ns, usual);

			explained += extra * fmin(1, delay / feed->extra_ns[sample]);
			all += sample == last ? 0 : delay;
			last = sample;
		}
		statistics[t].share = all > 0 ? fmin(explained / all, 1) : NAN;
	}
}

bool causes_explain(const struct analysis_feed *feed, size_t sample)
{
	int64_t longer_ns = feed->samples[sample].et_ns - feed->central.median_ns;

	return feed->extra_ns[sample] >= CAUSE * (double)longer_ns;
}

struct group {
	unsigned zones;
	size_t n;
	double et_ns; /* sum */
};

static struct group group_of(const struct analysis_feed *feed, unsigned zones)
{
	struct group g = {.zones = zones};

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

/* About the variance of that sum in `n` samples: of a daemon that runs at random at most once in a sample (then their
 * number is binomial), or that runs more often (then it is Poisson's). */
static double variance_of(const struct daemon_tally *tally, unsigned zones, size_t n)
{
	double sum = time_of(tally, zones), squares = 0, runs = 0;

	for (unsigned c = 0; c < N_ZONES; c++)
		if (zones & IN(c)) {
			squares += running_sum_of_squares(&tally->seen[c]);
			runs += (double)tally->seen[c].n;
		}
	return runs > (double)n ? squares : fmax(squares - sum * sum / (double)n, 0);
}

/* A process that runs all the time runs longer in a longer sample without being its cause; nor is one a cause that
 * ran more in these samples by chance, that is, by no more than three standard errors. */
static double extra_of(const struct daemon_tally *tally, struct group fast, struct group slow)
{
	double ratio = slow.et_ns / fast.et_ns;
	double extra = time_of(tally, slow.zones) - ratio * time_of(tally, fast.zones);
	double variance = variance_of(tally, slow.zones, slow.n) +
			  ratio * ratio * variance_of(tally, fast.zones, fast.n);

	return extra > 3 * sqrt(variance) ? extra : 0;
}

double causes_explained_share(struct analysis_feed *feed, unsigned fast, unsigned slow)
{
	struct group usual = group_of(feed, fast), long_ones = group_of(feed, slow);
	double extra = 0, all;

	if (usual.n == 0 || long_ones.n == 0)
		return 0;
	all = long_ones.et_ns - usual.et_ns / (double)usual.n * (double)long_ones.n;
	for (struct daemon_tally *tally = feed->tallies; tally < feed->tallies + feed->n_tallies; tally++) {
		tally->extra = extra_of(tally, usual, long_ones);
		extra += tally->extra;
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
