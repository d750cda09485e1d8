/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See limits.h. */
#include "setup/apply/limits.h"

#include "lib/host/cpu/cpupower.h"
#include "lib/host/system/kernel_setting.h"

enum side { LOWER, UPPER, SIDES };

/* Of each side: what to write for no limit, and the flag of an entry that nobody has asked for
 * one. */
static const int64_t no_limit[SIDES] = {CPUFREQ_NO_MIN, CPUFREQ_NO_MAX};
static const int unasked[SIDES] = {LIMITS_NO_MIN, LIMITS_NO_MAX};

static bool parse_limits(const char *text, int64_t ret[SIDES])
{
	return sscanf(text, "%" SCNd64 " %" SCNd64, &ret[LOWER], &ret[UPPER]) == 2;
}

static char *limits_text(const int64_t limits[SIDES])
{
	return text_format("%" PRId64 " %" PRId64, limits[LOWER], limits[UPPER]);
}

/* Whether a limit leaves more room than another. */
static bool is_wider(enum side side, int64_t limit, int64_t than)
{
	return side == LOWER ? limit < than : limit > than;
}

void entry_find_limits(struct entry *e, bool wider)
{
	struct cpufreq_lifted l;
	int64_t old[SIDES];
	bool same;

	if (!parse_limits(e->old, old) || cpufreq_lift_limits(e->name, &l) < 0)
		return;
	same = old[LOWER] == l.was[LOWER] && old[UPPER] == l.was[UPPER];
	e->limits = LIMITS_KNOWN;
	for (enum side s = LOWER; s < SIDES; s++) {
		bool open = old[s] == l.open[s] || (wider && is_wider(s, old[s], l.open[s]));

		if (same ? !l.asked[s] : open)
			e->limits |= unasked[s];
	}
}

/* Writes the limits again that somebody has asked for. The other sides remain open, except where
 * the limit is the one that is wanted. */
static void write_asked(const struct entry *e, const struct cpufreq_lifted *l,
	const int64_t is[SIDES], const int64_t want[SIDES])
{
	_cleanup_(freep) char *text = NULL;
	int64_t keep[SIDES];

	for (enum side s = LOWER; s < SIDES; s++)
		keep[s] = l->asked[s] || is[s] == want[s] ? is[s] : no_limit[s];
	/* ours, which gives way to their upper one */
	if (l->asked[LOWER] && is[LOWER] == is[UPPER] && want[LOWER] > is[LOWER])
		keep[LOWER] = want[LOWER];
	text = limits_text(keep);
	cpufreq_write_limits(e->name, text);
}

bool entry_has_others_limit(struct entry *e, const char *back)
{
	int64_t old[SIDES], held[SIDES], want[SIDES] = {-1, -1}, is[SIDES];
	struct cpufreq_lifted l;
	bool theirs[SIDES];
	char **last;

	if (!parse_limits(back, old) || !parse_limits(entry_last(e), held) ||
		!parse_limits(e->now, is))
		return false;
	if (entry_is_reached(e))
		parse_limits(e->want, want);

	for (enum side s = LOWER; s < SIDES; s++)
		theirs[s] = is[s] != old[s] && is[s] != held[s] && is[s] != want[s];
	if ((!theirs[LOWER] && !theirs[UPPER]) || cpufreq_lift_limits(e->name, &l) < 0)
		return false;

	/* what nobody has asked for is what the hardware and the switches allow */
	for (enum side s = LOWER; s < SIDES; s++) {
		if (theirs[s] && !l.asked[s]) {
			theirs[s] = false;
			held[s] = is[s];
		}
	}
	write_asked(e, &l, is, want);
	if (!theirs[LOWER] && !theirs[UPPER])
		return false;

	last = e->held ? &e->held : &e->last;
	free(*last);
	*last = limits_text(held);
	return true;
}

void entry_adopt(struct entry *e, const char *now)
{
	const char *ours = entry_last(e);
	int64_t old[SIDES], held[SIDES], want[SIDES], is[SIDES];

	if (e->file_kind != SETTING_LIMITS || !e->changed_externally || !ours ||
		!parse_limits(e->old, old) || !parse_limits(ours, held) || !parse_limits(now, is)) {
		free(e->old);
		e->old = xstrdup(now);
		e->limits = 0;
		return;
	}

	/* set, but we were killed before we could record it */
	if (!e->held && e->begun && e->want && parse_limits(e->want, want)) {
		if (is[LOWER] == want[LOWER] || is[LOWER] == is[UPPER])
			held[LOWER] = want[LOWER];
		if (is[UPPER] == want[UPPER])
			held[UPPER] = want[UPPER];
	}

	/* a lower limit of ours gives way to an upper one of theirs; a restore has given back what
	 * is as before */
	if (is[LOWER] != held[LOWER] && is[LOWER] != old[LOWER] &&
		(is[LOWER] != is[UPPER] || is[UPPER] > held[LOWER])) {
		old[LOWER] = is[LOWER];
		e->limits &= ~LIMITS_NO_MIN;
	}
	if (is[UPPER] != held[UPPER] && is[UPPER] != old[UPPER]) {
		old[UPPER] = is[UPPER];
		e->limits &= ~LIMITS_NO_MAX;
	}
	free(e->old);
	e->old = limits_text(old);
}

/* The limits of an entry that nobody has asked for, where `value` is the old one. */
static int unasked_of(const struct entry *e, const char *value)
{
	return strcmp(value, e->old) == 0 ? e->limits : 0;
}

char *entry_limits(const struct entry *e, const char *value)
{
	const int flags = unasked_of(e, value);
	int64_t limits[SIDES];

	if (!parse_limits(value, limits))
		return xstrdup(value);
	for (enum side s = LOWER; s < SIDES; s++)
		if (flags & unasked[s])
			limits[s] = no_limit[s];
	return limits_text(limits);
}

bool limits_are_half_restored(const struct entry *e, const char *back)
{
	const int flags = unasked_of(e, back);
	int64_t old[SIDES], held[SIDES], is[SIDES];

	if (e->file_kind != SETTING_LIMITS || !parse_limits(e->now, is) ||
		!parse_limits(back, old) || !parse_limits(entry_last(e), held))
		return false;
	for (enum side s = LOWER; s < SIDES; s++) {
		/* a limit that nobody asks for may have become another one */
		bool widened = flags & unasked[s] && is_wider(s, is[s], old[s]);

		if (is[s] != old[s] && is[s] != held[s] && !widened)
			return false;
	}
	return true;
}

/* Sets the limits again that a restore recorded before it was killed, and may have lost. Where a
 * limit is set now, that one stays. */
static void set_others_limits(struct entry *e)
{
	_cleanup_(freep) char *theirs = TAKE(e->theirs), *text = NULL;
	int64_t limits[SIDES];
	struct cpufreq_lifted l;

	if (!theirs || !parse_limits(theirs, limits) || cpufreq_lift_limits(e->name, &l) < 0)
		return;
	for (enum side s = LOWER; s < SIDES; s++)
		if (l.asked[s])
			limits[s] = l.was[s];
	text = limits_text(limits);
	cpufreq_write_limits(e->name, text);
	cpufreq_settle_limits(e->name);
}

void journal_set_others_limits(struct journal *j)
{
	for (size_t i = 0; i < j->n; i++)
		set_others_limits(&j->entries[i]);
}

/* Whether `text` has the limits to go back to. Where nobody has asked for one, it may be wider; or,
 * with `any`, whatever it is. */
static bool limits_hold(const struct entry *e, const char *text, bool any)
{
	const int flags = unasked_of(e, e->back);
	int64_t back[SIDES], is[SIDES];

	if (!parse_limits(e->back, back) || !parse_limits(text, is))
		return false;
	for (enum side s = LOWER; s < SIDES; s++) {
		bool may_differ = flags & unasked[s] && (any || is_wider(s, is[s], back[s]));

		if (is[s] != back[s] && !may_differ)
			return false;
	}
	return true;
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
	const bool known = e->limits & LIMITS_KNOWN;
	int64_t ours[SIDES], held[SIDES], is[SIDES], ask[SIDES];
	struct cpufreq_lifted l = {};

	if (!e->now || !parse_limits(e->now, is) ||
		!parse_limits(reached ? e->want : e->old, ours) ||
		!parse_limits(entry_last(e) ?: e->now, held))
		return NULL;
	if (!reached && cpufreq_lift_limits(e->name, &l) < 0)
		return NULL;

	for (enum side s = LOWER; s < SIDES; s++) {
		bool of_others = reached ? e->changed_externally && is[s] != held[s] : l.asked[s];
		bool of_ours = reached || (known && !(e->limits & unasked[s]));

		if (of_others)
			ask[s] = is[s];
		else
			ask[s] = of_ours ? ours[s] : no_limit[s];
	}
	/* a lower limit of ours gives way to the upper one, and is asked for all the same */
	if (is[LOWER] == is[UPPER] && ask[LOWER] == is[LOWER] && ours[LOWER] > is[LOWER] &&
		(reached || known))
		ask[LOWER] = ours[LOWER];
	return limits_text(ask);
}
