/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See impossible_pt.h. */
#include "lib/protocol/impossible_pt.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/stats/summary.h"

#include <errno.h>

enum { LEAST_OTHERS = 10 };
/* A machine's speed may change from sample to sample, but not to twice as much; and PTs that spread far, spread further. */
static const double FASTEST = 2, SPREADS = 3;
static const double UNDISTURBED = 0.1; /* steal below that share of PT */

/* -1: not known. */
static int64_t steal_of(const struct sample *s, const struct sample_counters *counters, size_t n, size_t *at)
{
	while (*at < n && counters[*at].sample < s->n)
		++*at;
	return *at < n && counters[*at].sample == s->n && counters_know(&counters[*at].changes, COUNTER_STEAL)
		       ? counters[*at].changes.value[COUNTER_STEAL]
		       : -1;
}

/* Where W is not known, some of the program may have run on other CPUs. */
static bool is_too_long(const struct run *run, const struct sample *s)
{
	return run->cpu >= 0 && run_wait_is_exact(run) && s->wait_ns >= 0 &&
	       s->pt_ns > s->et_ns + NS_PER_MS + s->et_ns / 50;
}

static bool is_too_short(const struct sample *s, int64_t steal_ns, const struct summary *usual)
{
	double least_ns = (double)usual->min_ns, pt_ns = (double)s->pt_ns;

	return usual->n >= LEAST_OTHERS && pt_ns * FASTEST < least_ns &&
	       pt_ns < least_ns - SPREADS * (usual->median_ns - least_ns) && (double)steal_ns >= least_ns - pt_ns &&
	       (double)(s->et_ns - (s->wait_ns > 0 ? s->wait_ns : 0)) >= least_ns;
}

/* Of the PTs of samples from which the hypervisor took little. */
static int summarize_usual(const struct sample *samples, size_t n, const struct sample_counters *counters,
	size_t n_counters, struct summary *ret)
{
	_cleanup_(freep) int64_t *times = xcalloc(n + 1, sizeof(*times));
	size_t kept = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t steal_ns = steal_of(&samples[i], counters, n_counters, &at);

		if (steal_ns >= 0 && (double)steal_ns < UNDISTURBED * (double)samples[i].pt_ns)
			times[kept++] = samples[i].pt_ns;
	}
	*ret = summary_of(times, kept);
	return 0;
}

int impossible_pt_find(const struct run *run, const struct sample *samples, size_t n,
	const struct sample_counters *counters, size_t n_counters, struct impossible_pt **ret, size_t *ret_n)
{
	_cleanup_(freep) struct impossible_pt *found = xcalloc(n + 1, sizeof(*found));
	struct summary usual;
	size_t n_found = 0, at = 0;

	if (!found || summarize_usual(samples, n, counters, n_counters, &usual) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct sample *s = &samples[i];
		bool too_long = is_too_long(run, s);

		if (too_long || is_too_short(s, steal_of(s, counters, n_counters, &at), &usual))
			found[n_found++] = (struct impossible_pt){s->n, s->pt_ns, too_long ? s->et_ns : usual.min_ns};
	}
	*ret = TAKE(found);
	*ret_n = n_found;
	return 0;
}
