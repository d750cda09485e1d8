/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a profile still holds: see validity.h.
 *
 * Cutoffs are CPU times of daemons. They hold as long as the machine is the same, INC runs as fast
 * and as evenly, and the daemons behave as before. A changed kernel, system or setting is only
 * reported: the run shows its effect on times. */
#include "lib/protocol/validity.h"

#include <gsl/gsl_cdf.h>
#include <stdarg.h>

/* INC's time has changed if the difference is more than this share of it, and more than chance
 * explains with this probability, which is that of three standard errors. */
static const double SHIFT_MATTERS = 0.005;
static const double CHANCE = 0.0027;
/* INC's times are less even if their sd is this many times what it was. */
static const double SPREAD_MATTERS = 2;
/* Parts of a run whose means show how much INC's speed wanders. */
enum { BLOCKS = 10 };

__attribute__((format(printf, 3, 4))) static void add_finding(
	struct judgement *j, enum validity verdict, const char *format, ...)
{
	struct finding *finding = array_add(j->findings, j->n);
	va_list args;

	finding->verdict = verdict;
	va_start(args, format);
	finding->text = text_vformat(format, args);
	va_end(args);
	if (verdict > j->verdict)
		j->verdict = verdict;
}

/* The speed of INC itself, whatever else runs: the PTs of the central samples. */
struct speed {
	struct summary pt;
	/* the means of BLOCKS parts of the run, or of all samples of a shorter one */
	struct summary blocks;
};

static struct speed speed_of(const struct analysis *analysis)
{
	_cleanup_(freep) int64_t *pts = xcalloc(analysis->n_samples, sizeof(*pts));
	int64_t means[BLOCKS];
	size_t n = 0, blocks;

	for (size_t i = 0; i < analysis->n_samples; i++)
		if (cluster_holds(&analysis->central, analysis->samples[i].et_ns))
			pts[n++] = analysis->samples[i].pt_ns;
	blocks = n < BLOCKS ? n : BLOCKS;
	for (size_t i = 0; i < blocks; i++) {
		size_t begin = i * n / blocks, end = (i + 1) * n / blocks;

		means[i] = llround(summary_of(pts + begin, end - begin).mean_ns);
	}
	return (struct speed){summary_of(pts, n), summary_of(means, blocks)};
}

/* The difference between the means of two runs that chance explains. A machine whose speed wanders
 * in a run wanders as much from run to run, so that the samples of a run are not independent for
 * this: the parts of the calibration's run show by how much, or separate runs in the book. */
static double by_chance(const struct evidence *e, const struct speed *then, const struct speed *now)
{
	double of_then = then->pt.sd_ns * then->pt.sd_ns / (double)then->pt.n;
	double of_now = now->pt.sd_ns * now->pt.sd_ns / (double)now->pt.n;
	double limit = gsl_cdf_ugaussian_Qinv(CHANCE / 2) * sqrt(of_then + of_now);

	if (then->blocks.n > 1) {
		double t = gsl_cdf_tdist_Qinv(CHANCE / 2, (double)then->blocks.n - 1);

		limit = fmax(limit, t * M_SQRT2 * then->blocks.sd_ns);
	}
	if (e->variation.df > 0) {
		double t = gsl_cdf_tdist_Qinv(CHANCE / 2, e->variation.df);

		limit = fmax(limit, t * M_SQRT2 * e->variation.sd * then->pt.mean_ns);
	}
	return limit;
}

/* An infrequent daemon of the profile should still be in few samples; as many as in the short run
 * are expected. Chance hardly ever exceeds that by three standard deviations of a Poisson count and
 * two. `before`: the daemon in the short run; NULL: it was not there. */
static void judge_known_daemon(const struct evidence *e, const struct daemon_statistics *before,
	const struct daemon_statistics *h, struct judgement *j)
{
	double expected;

	if (!before || h->n_long_executions == 0)
		return;
	expected = (double)before->n_long_executions / (double)e->then->n_samples *
		   (double)e->now->n_samples;
	if ((double)h->n_long_executions > expected + 3 * sqrt(expected) + 2)
		add_finding(j, VALIDITY_REPEAT_SHORT,
			"%s ran long %zu times in %zu samples, and %zu times in %zu before",
			h->name, h->n_long_executions, e->now->n_samples, before->n_long_executions,
			e->then->n_samples);
}

/* A daemon that is in neither run of the profile matters if it made samples long. */
static void judge_new_daemon(const struct daemon_statistics *h, struct judgement *j)
{
	_cleanup_(freep) char *name = h->unit ? text_format("%s (%s)", h->name, h->unit)
					      : xstrdup(h->name);
	int64_t longest_ns = h->central_max_ns; /* below 0: none */
	const char *longest;

	for (size_t i = 0; i < h->n_long_executions; i++)
		if (h->long_executions[i].pt_ns > longest_ns)
			longest_ns = h->long_executions[i].pt_ns;
	longest = text_duration(longest_ns);

	if (h->n_long_executions > 0) {
		add_finding(j, VALIDITY_REPEAT_SHORT,
			"%s is new, and made %s long, by up to %s: the profile has no cutoff for "
			"it",
			name, text_count((int64_t)h->n_long_executions, "sample"), longest);
		return;
	}
	if (longest_ns < 0)
		add_finding(j, VALIDITY_HOLDS, "%s is new, and made no sample long", name);
	else
		add_finding(j, VALIDITY_HOLDS, "%s is new, up to %s, and made no sample long", name,
			longest);
	j->findings[j->n - 1].harmless = true;
}

static void judge_daemon(
	const struct evidence *e, const struct daemon_statistics *h, struct judgement *j)
{
	const struct daemon_statistics *before = NULL, *before_long = NULL;

	if (e->then)
		before = analysis_daemon(e->then, h->name);
	if (e->then_long)
		before_long = analysis_daemon(e->then_long, h->name);

	if (profile_cutoff(e->profile, h->name))
		judge_known_daemon(e, before, h, j);
	else if (!before && !before_long)
		judge_new_daemon(h, j);
}

/* Whether INC takes as long as then, and as evenly. `counts`: whether the run says anything. */
static void judge_speed(const struct evidence *e, bool counts, struct judgement *j)
{
	struct speed before = speed_of(e->then), after = speed_of(e->now);
	struct summary then = before.pt, now = after.pt;
	double share = (now.mean_ns - then.mean_ns) / then.mean_ns;
	double limit = fmax(SHIFT_MATTERS, by_chance(e, &before, &after) / then.mean_ns);
	bool changed = counts && fabs(share) > limit;
	const char *remark = "";

	if (changed)
		remark = ": the machine's speed has changed";
	else if (counts)
		remark = text_brief("; more than %s would be noted", text_percent(limit));
	add_finding(j, changed ? VALIDITY_REPEAT_ALL : VALIDITY_HOLDS,
		"%s takes %s of CPU time now and took %s then, %+.2f %% (means of the central "
		"samples)%s",
		e->now->run.program, text_duration((int64_t)now.mean_ns),
		text_duration((int64_t)then.mean_ns), share * 100, remark);

	if (counts && now.sd_ns > SPREAD_MATTERS * then.sd_ns &&
		now.sd_ns > SHIFT_MATTERS * now.mean_ns)
		add_finding(j, VALIDITY_REPEAT_SHORT,
			"its CPU times are less even: their standard deviation is %s, and was %s",
			text_duration((int64_t)now.sd_ns), text_duration((int64_t)then.sd_ns));
}

/* What has changed and cannot be measured. Of the rest, the run shows whether it matters. */
static void judge_differences(const struct differences *differences, struct judgement *j)
{
	for (size_t i = 0; i < differences->n; i++) {
		const struct difference *d = &differences->items[i];
		const struct difference_rule *rule = difference_rule(d);

		if (!rule->measurable)
			add_finding(j, rule->demand, "%s: %s was %s, is %s", rule->why, d->what,
				d->before, d->now);
	}
}

/* The machine was not quiet while INC ran: the run shows neither INC's speed nor the daemons. */
static bool is_unquiet(enum verdict verdict)
{
	return verdict == VERDICT_BUSY || verdict == VERDICT_DRIFT || verdict == VERDICT_STEP;
}

struct judgement validity_judge(const struct evidence *e)
{
	enum verdict verdict = e->now->verdict;
	/* --force makes profiles of runs that give no cutoffs: then such a run is as before. */
	bool as_before = e->then && e->then->verdict == verdict;
	bool misshapen = !verdict_gives_cutoffs(verdict) && !as_before;
	bool counts = !misshapen || !is_unquiet(verdict);
	struct judgement j = {};

	if (e->differences)
		judge_differences(e->differences, &j);

	if (e->then && e->other_inc)
		add_finding(&j, VALIDITY_HOLDS,
			"the profile's runs were made with another INC, so INC's times cannot be "
			"compared");
	else if (e->then)
		judge_speed(e, counts, &j);
	else
		add_finding(&j, VALIDITY_REPEAT_ALL,
			"the profile's runs are not in this book, so INC's times cannot be "
			"compared");

	if (!counts) {
		add_finding(&j, VALIDITY_REPEAT_CHECK,
			"the run shows %s; so it does not show whether the profile holds",
			e->now->why);
		return j;
	}
	if (misshapen)
		add_finding(&j, VALIDITY_REPEAT_ALL, "the run shows %s", e->now->why);
	for (size_t i = 0; i < e->now->n_statistics; i++)
		judge_daemon(e, &e->now->statistics[i], &j);
	return j;
}

void judgement_clear(struct judgement *j)
{
	for (size_t i = 0; i < j->n; i++)
		free(j->findings[i].text);
	free(j->findings);
	*j = (struct judgement){};
}
