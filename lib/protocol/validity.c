/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a profile still holds: see validity.h.
 *
 * Cutoffs are CPU times of daemons. They hold as long as the machine is the same, INC runs as fast and as evenly,
 * and the daemons behave as before. A changed kernel, system or setting is only reported: the run shows its effect
 * on times. */
#include "lib/protocol/validity.h"

#include "lib/base/array.h"
#include "lib/base/text.h"
#include "lib/protocol/cutoffs.h"
#include "lib/stats/summary.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* INC's time has changed if both are exceeded: the relevant difference, and the one that chance explains. */
static const double SHIFT_MATTERS = 0.005;
static const double SHIFT_ERRORS = 3; /* standard errors of the difference */
static const double SPREAD_MATTERS = 2;

__attribute__((format(printf, 3, 4))) static int find(
	struct judgement *j, enum validity verdict, const char *format, ...)
{
	struct finding *finding = array_add(j->findings, j->n);
	va_list args;
	int n;

	if (!finding)
		return -ENOMEM;
	finding->verdict = verdict;
	va_start(args, format);
	n = vasprintf(&finding->text, format, args);
	va_end(args);
	if (n < 0) {
		finding->text = NULL;
		return -ENOMEM;
	}
	if (verdict > j->verdict)
		j->verdict = verdict;
	return 0;
}

/* If a run of INC shows whether a difference matters, the run decides. */
static int judge_machine(const struct evidence *e, struct judgement *j)
{
	int r = 0;

	for (size_t i = 0; r == 0 && e->differences && i < e->differences->n; i++) {
		const struct difference *d = &e->differences->items[i];
		const struct difference_rule *rule = difference_rule(d);

		if (!rule->measurable)
			r = find(j, rule->demand, "%s: %s was %s, is %s", rule->why, d->what, d->before,
				d->now);
	}
	return r;
}

/* The PTs of the central samples: the speed of INC itself, whatever else runs. */
static struct summary central_summary(const struct analysis *analysis)
{
	_cleanup_(freep) int64_t *pts = reallocarray(NULL, analysis->n_samples + 1, sizeof(*pts));
	size_t n = 0;

	for (size_t i = 0; pts && i < analysis->n_samples; i++)
		if (cluster_holds(&analysis->central, analysis->samples[i].et_ns))
			pts[n++] = analysis->samples[i].pt_ns;
	return summary_of(pts, n);
}

static int judge_speed(const struct evidence *e, struct judgement *j)
{
	struct summary then = central_summary(e->then), now = central_summary(e->now);
	double shift = now.mean_ns - then.mean_ns, share = shift / then.mean_ns,
	       error = sqrt(then.sd_ns * then.sd_ns / (double)then.n + now.sd_ns * now.sd_ns / (double)now.n);
	char a[TEXT_TIME_SIZE], b[TEXT_TIME_SIZE];
	bool changed = fabs(share) > SHIFT_MATTERS && fabs(shift) > SHIFT_ERRORS * error;
	int r;

	r = find(j, changed ? VALIDITY_REPEAT_ALL : VALIDITY_HOLDS,
		"%s takes %s of CPU time now and took %s then, %+.2f %% (means of the central samples)%s",
		e->now->run.program, text_duration(a, (int64_t)now.mean_ns),
		text_duration(b, (int64_t)then.mean_ns), share * 100,
		changed ? ": the machine's speed has changed" : "");
	if (r == 0 && now.sd_ns > SPREAD_MATTERS * then.sd_ns && now.sd_ns > SHIFT_MATTERS * now.mean_ns)
		r = find(j, VALIDITY_REPEAT_SHORT,
			"its CPU times are less even: their standard deviation is %s, and was %s",
			text_duration(a, (int64_t)now.sd_ns), text_duration(b, (int64_t)then.sd_ns));
	return r;
}

static int judge_shape(const struct evidence *e, struct judgement *j)
{
	if (e->now->verdict == VERDICT_L || e->now->verdict == VERDICT_CLEAN)
		return 0;
	if (e->then && e->then->verdict == e->now->verdict)
		return 0; /* the profile was made of such runs, with --force */
	return find(j, VALIDITY_REPEAT_ALL, "the run shows %s", e->now->why);
}

static bool is_known(const struct evidence *e, const char *daemon)
{
	return profile_cutoff(e->profile, daemon) || (e->then && analysis_daemon(e->then, daemon)) ||
	       (e->then_long && analysis_daemon(e->then_long, daemon));
}

static int64_t longest_ns(const struct daemon_statistics *h)
{
	int64_t longest = h->central_max_ns;

	for (size_t i = 0; i < h->n_longs; i++)
		if (h->longs[i].pt_ns > longest)
			longest = h->longs[i].pt_ns;
	return longest;
}

/* A daemon that is in neither run of the profile matters if it made samples long. */
static int judge_unprofiled(const struct daemon_statistics *h, struct judgement *j)
{
	char longest[TEXT_TIME_SIZE];
	const char *open = h->unit ? " (" : "", *unit = h->unit ?: "", *close = h->unit ? ")" : "";

	if (h->n_longs > 0)
		return find(j, VALIDITY_REPEAT_SHORT,
			"%s%s%s%s is new, and made %zu sample%s long, by up to %s: the profile has no cutoff for it",
			h->name, open, unit, close, h->n_longs, h->n_longs == 1 ? "" : "s",
			text_duration(longest, longest_ns(h)));
	return find(j, VALIDITY_HOLDS, "%s%s%s%s is new, up to %s, and made no sample long", h->name, open,
		unit, close, text_duration(longest, longest_ns(h)));
}

/* An infrequent daemon should still be in few samples; as many as in the short run are expected. Chance hardly ever
 * exceeds that by three standard deviations of a Poisson count and two. */
static int judge_known(const struct evidence *e, const struct daemon_statistics *h, struct judgement *j)
{
	const struct daemon_statistics *before = e->then ? analysis_daemon(e->then, h->name) : NULL;
	double expected;

	if (!before || h->n_longs == 0)
		return 0;
	expected = (double)before->n_longs / (double)e->then->n_samples * (double)e->now->n_samples;
	if ((double)h->n_longs <= expected + 3 * sqrt(expected) + 2)
		return 0;
	return find(j, VALIDITY_REPEAT_SHORT,
		"%s ran long %zu times in %zu samples, and %zu times in %zu before", h->name, h->n_longs,
		e->now->n_samples, before->n_longs, e->then->n_samples);
}

static int judge_daemons(const struct evidence *e, struct judgement *j)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < e->now->n_statistics; i++) {
		const struct daemon_statistics *h = &e->now->statistics[i];

		if (!is_known(e, h->name))
			r = judge_unprofiled(h, j);
		else if (profile_cutoff(e->profile, h->name))
			r = judge_known(e, h, j);
	}
	return r;
}

int judge(const struct evidence *e, struct judgement *ret, struct error *err)
{
	struct judgement j = {};
	int r;

	r = judge_machine(e, &j);
	if (r == 0 && e->then)
		r = judge_speed(e, &j);
	if (r == 0 && !e->then)
		r = find(&j, VALIDITY_REPEAT_ALL,
			"the profile's runs are not in this book, so INC's times cannot be compared");
	if (r == 0)
		r = judge_shape(e, &j);
	if (r == 0)
		r = judge_daemons(e, &j);
	if (r < 0) {
		judgement_clear(&j);
		return error_oom(err);
	}
	*ret = j;
	return 0;
}

void judgement_clear(struct judgement *j)
{
	for (size_t i = 0; i < j->n; i++)
		free(j->findings[i].text);
	free(j->findings);
	*j = (struct judgement){};
}
