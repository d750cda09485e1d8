/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See limits.h. */
#include "setup/apply/limits.h"

#include "lib/host/cpu/cpupower.h"

void entry_find_limits(struct entry *e, bool wider)
{
	struct cpufreq_lifted l;
	int64_t old[2];
	bool same, open[2];

	if (sscanf(e->old, "%" SCNd64 " %" SCNd64, &old[0], &old[1]) != 2 ||
		cpufreq_lift_limits(e->name, &l) < 0)
		return;
	same = old[0] == l.was[0] && old[1] == l.was[1];
	for (int i = 0; i < 2; i++)
		open[i] = same ? !l.asked[i] : old[i] == l.open[i];
	if (!same && wider) {
		open[0] |= old[0] < l.open[0];
		open[1] |= old[1] > l.open[1];
	}
	e->limits = LIMITS_KNOWN | (open[0] ? LIMITS_NO_MIN : 0) | (open[1] ? LIMITS_NO_MAX : 0);
}

bool entry_has_others_limit(struct entry *e, const char *back)
{
	const char *ours = entry_last(e);
	_cleanup_(freep) char *text = NULL;
	int64_t old[2], held[2], want[2] = {-1, -1}, is[2], keep[2];
	struct cpufreq_lifted l;
	bool theirs[2];

	if (sscanf(back, "%" SCNd64 " %" SCNd64, &old[0], &old[1]) != 2 ||
		sscanf(ours, "%" SCNd64 " %" SCNd64, &held[0], &held[1]) != 2 ||
		sscanf(e->now, "%" SCNd64 " %" SCNd64, &is[0], &is[1]) != 2)
		return false;
	if (entry_is_reached(e))
		sscanf(e->want, "%" SCNd64 " %" SCNd64, &want[0], &want[1]);
	for (int i = 0; i < 2; i++)
		theirs[i] = is[i] != old[i] && is[i] != held[i] && is[i] != want[i];
	if ((!theirs[0] && !theirs[1]) || cpufreq_lift_limits(e->name, &l) < 0)
		return false;
	for (int i = 0; i < 2; i++) {
		if (theirs[i] && !l.asked[i]) {
			theirs[i] = false;
			held[i] = is[i];
		}
		keep[i] = l.asked[i] || is[i] == want[i] ? is[i]
			  : i == 0                       ? CPUFREQ_NO_MIN
							 : CPUFREQ_NO_MAX;
	}
	if (l.asked[0] && is[0] == is[1] && want[0] > is[0]) /* ours, which gives way to theirs */
		keep[0] = want[0];
	text = text_format("%" PRId64 " %" PRId64, keep[0], keep[1]);
	cpufreq_write_limits(e->name, text);
	if (theirs[0] || theirs[1]) {
		char **last = e->held ? &e->held : &e->last;

		free(*last);
		*last = text_format("%" PRId64 " %" PRId64, held[0], held[1]);
	}
	return theirs[0] || theirs[1];
}

void entry_adopt(struct entry *e, const char *now)
{
	const char *ours = entry_last(e);
	int64_t old[2], held[2], want[2] = {}, is[2];

	if (e->file_kind != SETTING_LIMITS || !e->changed_externally || !ours ||
		sscanf(e->old, "%" SCNd64 " %" SCNd64, &old[0], &old[1]) != 2 ||
		sscanf(ours, "%" SCNd64 " %" SCNd64, &held[0], &held[1]) != 2 ||
		sscanf(now, "%" SCNd64 " %" SCNd64, &is[0], &is[1]) != 2) {
		free(e->old);
		e->old = xstrdup(now);
		e->limits = 0;
		return;
	}
	/* set, but we were killed before we could record it */
	if (!e->held && e->begun && e->want &&
		sscanf(e->want, "%" SCNd64 " %" SCNd64, &want[0], &want[1]) == 2) {
		held[0] = is[0] == want[0] || is[0] == is[1] ? want[0] : held[0];
		held[1] = is[1] == want[1] ? want[1] : held[1];
	}
	/* a lower limit of ours gives way to an upper one of theirs; a restore has given back what
	 * is as before */
	if (is[0] != held[0] && is[0] != old[0] && (is[0] != is[1] || is[1] > held[0])) {
		old[0] = is[0];
		e->limits &= ~LIMITS_NO_MIN;
	}
	if (is[1] != held[1] && is[1] != old[1]) {
		old[1] = is[1];
		e->limits &= ~LIMITS_NO_MAX;
	}
	free(e->old);
	e->old = text_format("%" PRId64 " %" PRId64, old[0], old[1]);
}

char *entry_limits(const struct entry *e, const char *value)
{
	bool old = !strcmp(value, e->old);
	int64_t min, max;

	if (sscanf(value, "%" SCNd64 " %" SCNd64, &min, &max) != 2)
		return xstrdup(value);
	return text_format("%" PRId64 " %" PRId64,
		old && e->limits & LIMITS_NO_MIN ? CPUFREQ_NO_MIN : min,
		old && e->limits & LIMITS_NO_MAX ? CPUFREQ_NO_MAX : max);
}

bool limits_are_half_restored(const struct entry *e, const char *back)
{
	long long old[2], held[2], is[2];
	int open;

	if (e->file_kind != SETTING_LIMITS || sscanf(e->now, "%lld %lld", &is[0], &is[1]) != 2 ||
		sscanf(back, "%lld %lld", &old[0], &old[1]) != 2 ||
		sscanf(entry_last(e), "%lld %lld", &held[0], &held[1]) != 2)
		return false;
	/* a limit that nobody asks for may have become another one */
	open = strcmp(back, e->old) == 0 ? e->limits : 0;
	return (is[0] == old[0] || is[0] == held[0] || (open & LIMITS_NO_MIN && is[0] < old[0])) &&
	       (is[1] == old[1] || is[1] == held[1] || (open & LIMITS_NO_MAX && is[1] > old[1]));
}

/* What a restore that was killed has recorded, and may have lost: not where a limit is set now. */
static void set_others_limits(struct entry *e)
{
	_cleanup_(freep) char *theirs = TAKE(e->theirs), *text = NULL;
	int64_t limits[2];
	struct cpufreq_lifted l;

	if (!theirs || sscanf(theirs, "%" SCNd64 " %" SCNd64, &limits[0], &limits[1]) != 2 ||
		cpufreq_lift_limits(e->name, &l) < 0)
		return;
	for (int i = 0; i < 2; i++)
		limits[i] = l.asked[i] ? l.was[i] : limits[i];
	text = text_format("%" PRId64 " %" PRId64, limits[0], limits[1]);
	cpufreq_write_limits(e->name, text);
	cpufreq_settle_limits(e->name);
}

void journal_set_others_limits(struct journal *j)
{
	for (size_t i = 0; i < j->n; i++)
		set_others_limits(&j->entries[i]);
}

/* Whether `text` has the limits that were asked for; with LIMITS_NO_…, others may be wider. */
static bool limits_hold(const struct entry *e, const char *text, bool wider)
{
	const int open = strcmp(e->back, e->old) == 0 ? e->limits : 0;
	int64_t back[2], is[2];

	if (sscanf(e->back, "%" SCNd64 " %" SCNd64, &back[0], &back[1]) != 2 ||
		sscanf(text, "%" SCNd64 " %" SCNd64, &is[0], &is[1]) != 2)
		return false;
	return (is[0] == back[0] || (open & LIMITS_NO_MIN && (wider || is[0] < back[0]))) &&
	       (is[1] == back[1] || (open & LIMITS_NO_MAX && (wider || is[1] > back[1])));
}

struct kernel_setting_result limits_write(struct entry *e, bool known)
{
	enum { TRIES = 20 };
	static const struct timespec pause = {.tv_nsec = 5000000};
	struct kernel_setting file = entry_setting(e);
	struct kernel_setting_result result = {.outcome = SETTING_CHANGED};
	_cleanup_(freep) char *before = NULL, *text = NULL;
	int r = kernel_setting_read(&file, &before);

	if (r < 0 || (!(e->limits & LIMITS_KNOWN) && !known))
		return kernel_setting_set(&file, before ?: e->back);
	/* apply was killed before it could record it, or is of an older version */
	if (!(e->limits & LIMITS_KNOWN))
		entry_find_limits(e, true);
	text = entry_limits(e, e->back);
	if (!strcmp(text, e->back))
		return kernel_setting_set(&file, e->back);
	result.error = cpufreq_write_limits(e->name, text);
	for (int i = 0; i < TRIES; i++) { /* the kernel applies them in the background */
		free(TAKE(result.held));
		if (kernel_setting_read(&file, &result.held) < 0 ||
			limits_hold(e, result.held, false))
			break;
		nanosleep(&pause, NULL);
	}
	if (result.error < 0)
		result.outcome = SETTING_REFUSED;
	else if (!result.held || !limits_hold(e, result.held, true))
		result.outcome = SETTING_CLAMPED;
	return result;
}

char *limits_of_others(const struct entry *e)
{
	struct entry theirs = {.file_kind = e->file_kind,
		.limits = e->limits,
		.old = xstrdup(e->old),
		.want = xstrdup(e->want),
		.held = text_copy(e->held),
		.last = text_copy(e->last),
		.changed_externally = true};
	char *text;

	entry_adopt(&theirs, e->now);
	text = entry_limits(&theirs, theirs.old);
	entry_clear(&theirs);
	return text;
}

char *limits_asked(const struct entry *e)
{
	const bool reached = entry_is_reached(e) && !entry_is_kept(e);
	int64_t ours[2], held[2], is[2], ask[2];
	struct cpufreq_lifted l = {};

	if (!e->now || sscanf(e->now, "%" SCNd64 " %" SCNd64, &is[0], &is[1]) != 2 ||
		sscanf(reached ? e->want : e->old, "%" SCNd64 " %" SCNd64, &ours[0], &ours[1]) !=
			2 ||
		sscanf(entry_last(e) ?: e->now, "%" SCNd64 " %" SCNd64, &held[0], &held[1]) != 2 ||
		(!reached && cpufreq_lift_limits(e->name, &l) < 0))
		return NULL;
	for (int i = 0; i < 2; i++) {
		const bool none = !(e->limits & LIMITS_KNOWN) ||
				  e->limits & (i == 0 ? LIMITS_NO_MIN : LIMITS_NO_MAX);

		if (reached ? e->changed_externally && is[i] != held[i] : l.asked[i])
			ask[i] = is[i];
		else if (reached || !none)
			ask[i] = ours[i];
		else
			ask[i] = i == 0 ? CPUFREQ_NO_MIN : CPUFREQ_NO_MAX;
	}
	if (is[0] == is[1] && ask[0] == is[0] && ours[0] > is[0] &&
		(reached || e->limits & LIMITS_KNOWN))
		ask[0] = ours[0]; /* it gives way to the upper one */
	return text_format("%" PRId64 " %" PRId64, ask[0], ask[1]);
}
