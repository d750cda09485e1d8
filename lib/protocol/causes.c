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

/* By how much an execution is longer than usual. A process that runs all the time runs longer in a longer sample without being its
 * cause: its usual time grows with the sample. */
static double beyond_usual(const struct analysis_feed *feed, const struct daemon_statistics *daemon,
	const struct long_execution *e)
{
	const struct analysis *a = &feed->analysis;
	double usual = daemon->usual_ns / (double)a->central.median_ns; /* for each ns of elapsed time */

	return fmax((double)e->pt_ns - usual * (double)a->samples[e->at].et_ns, 0);
}

static double longer_ns(const struct analysis_feed *feed, size_t sample)
{
	return (double)(feed->analysis.samples[sample].et_ns - feed->analysis.central.median_ns);
}

void causes_add_up(struct analysis_feed *feed)
{
	for (size_t d = 0; d < feed->analysis.n_statistics; d++) {
		const struct daemon_statistics *daemon = &feed->analysis.statistics[d];

		for (size_t i = 0; i < daemon->n_long_executions; i++) {
			const struct long_execution *e = &daemon->long_executions[i];

			if (daemon_statistics_is_long(daemon, e->pt_ns))
				feed->extra_ns[e->at] += beyond_usual(feed, daemon, e);
		}
	}
}

bool causes_explain(const struct analysis_feed *feed, size_t sample)
{
	return feed->extra_ns[sample] >= CAUSE * longer_ns(feed, sample);
}

double causes_share(const struct analysis_feed *feed, const struct daemon_statistics *daemon)
{
	double explained = 0, all = 0;

	for (size_t i = 0; i < daemon->n_long_executions; i++) {
		const struct long_execution *e = &daemon->long_executions[i];
		double delay = longer_ns(feed, e->at);

		explained += beyond_usual(feed, daemon, e) * fmin(1, delay / feed->extra_ns[e->at]);
		all += i > 0 && e->at == daemon->long_executions[i - 1].at ? 0 : delay;
	}
	return all > 0 ? fmin(explained / all, 1) : NAN;
}

void causes_attribute(struct analysis_feed *feed)
{
	for (size_t d = 0; d < feed->analysis.n_statistics; d++) {
		struct daemon_statistics *daemon = &feed->analysis.statistics[d];

		daemon->extra = 0;
		for (size_t i = 0; i < daemon->n_long_executions; i++) {
			const struct long_execution *e = &daemon->long_executions[i];

			double extra = beyond_usual(feed, daemon, e);

			if (causes_explain(feed, e->at) && extra > 0)
				daemon->extra += extra / feed->extra_ns[e->at];
		}
	}
}

/* About the variance of what a daemon used in `n` samples: of one that runs at random at most once in a sample (then the number of
 * its executions is binomial), or that runs more often (then it is Poisson's). */
static double variance_of_sum(const struct running *seen, size_t n)
{
	double sum = running_sum(seen), squares = running_sum_of_squares(seen);

	return seen->n > n ? squares : fmax(squares - sum * sum / (double)n, 0);
}

double causes_of_usual_length(struct analysis_feed *feed)
{
	struct analysis *a = &feed->analysis;
	size_t n_fast = a->central.n_below, n_slow = a->n_samples - n_fast;
	double fast_ns = 0, slow_ns = 0, ratio, extra = 0, all;

	for (size_t i = 0; i < a->n_samples; i++)
		*(feed->zones[i] == ZONE_BELOW ? &fast_ns : &slow_ns) += (double)a->samples[i].et_ns;
	ratio = slow_ns / fast_ns;
	all = slow_ns - fast_ns / (double)n_fast * (double)n_slow;
	/* A process that runs all the time runs longer in a longer sample without being its cause; nor is one a cause
	 * that ran more in these samples by chance, that is, by no more than three standard errors. */
	for (size_t i = 0; i < a->n_statistics; i++) {
		struct daemon_statistics *daemon = &a->statistics[i];
		const struct running *fast = &daemon->seen[ZONE_BELOW];
		struct running slow = running_join(&daemon->seen[ZONE_CORE], &daemon->seen[ZONE_ABOVE]);
		double chance = sqrt(
			variance_of_sum(&slow, n_slow) + ratio * ratio * variance_of_sum(fast, n_fast));

		daemon->extra = running_sum(&slow) - ratio * running_sum(fast);
		if (!(daemon->extra > 3 * chance))
			daemon->extra = 0;
		extra += daemon->extra;
	}
	return all > 0 ? extra / all : 0;
}

struct daemon_statistics *causes_dividing(const struct analysis_feed *feed)
{
	const struct analysis *a = &feed->analysis;
	struct daemon_statistics *best = NULL;
	double best_share = CAUSE, mean = 0, variance = 0;
	size_t n = 0;

	for (size_t i = 0; i < a->n_samples; i++)
		if (feed->zones[i] != ZONE_ABOVE) {
			double longer = longer_ns(feed, i);

			n++;
			mean += longer;
			variance += longer * longer;
		}
	if (n < LEAST)
		return NULL;
	mean /= (double)n;
	variance = variance / (double)n - mean * mean;
	/* The samples with the daemon and those without it: the share of the variance of ET that is between
	 * the two groups, if the daemon's own time explains the difference. */
	for (size_t i = 0; i < a->n_statistics; i++) {
		struct daemon_statistics *daemon = &a->statistics[i];
		double present = (double)daemon->n_present, absent = (double)(n - daemon->n_present);
		double apart = (daemon->et_ns / present - mean) * (double)n / absent, share;

		if (proportion_at_least(daemon->n_present, n) <= FREQUENT ||
			proportion_at_least(n - daemon->n_present, n) <= FREQUENT ||
			daemon->pt_ns / present < CAUSE * apart || apart <= 0 || variance <= 0)
			continue;
		share = present / (double)n * absent / (double)n * apart * apart / variance;
		if (share > best_share) {
			best_share = share;
			best = daemon;
		}
	}
	return best;
}
