/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb restore: restores what a journal holds, and compares the result with the state before
 * the first apply. See apply.h.
 *
 * It compares with the values of now, so it may run twice, and nothing is recorded on the way: a
 * restore that was killed is simply repeated. What somebody else has changed since is left alone.
 *
 * The kernel changes some files along with others: a governor changes preferences, the turbo switch
 * of all policies rewrites that of each policy. So what is restored is decided before anything is
 * written. All of it is written in an order that suits the kernel, and what does not hold its value
 * then is written once more. */
#include "setup/apply/apply.h"

#include "lib/base/tool.h"
#include "lib/host/cpu/cpupower.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"

#include <fnmatch.h>

/* One restore: the entries that are taken, and what becomes of them. An entry that is done with
 * is cleared. */
struct restore {
	struct journal journal;
	struct units *units; /* NULL: systemd does not answer */
	struct report report;
	size_t n_needed; /* entries that a process of apply --for still needs */
	pid_t needed_by; /* one of these */
};

static void restore_clear(struct restore *r)
{
	journal_clear(&r->journal);
	units_free(r->units);
	report_clear(&r->report);
}

/* Takes what this restore is for. What has other owners stays, or goes back to what it was when
 * the first --for began. */
static void choose_entries(
	struct restore *r, enum restore_scope scope, const struct journal *applied)
{
	_cleanup_(freep) char *owner = owner_new();

	for (size_t i = 0; i < r->journal.n; i++) {
		struct entry *e = &r->journal.entries[i];
		bool own = scope == RESTORE_GAINED ? i < applied->n && applied->entries[i].gained
						   : entry_has_owner(e, owner);

		e->back = e->old;
		e->taken = scope == RESTORE_ALL;
		if (e->taken || (!own && !entry_is_abandoned(e)))
			continue;
		entry_remove_owner(e, owner);
		if (entry_needed_by(e) > 0) {
			r->needed_by = entry_needed_by(e);
			r->n_needed++;
			continue;
		}
		e->taken = !entry_is_applied(e) || e->prior;
		if (entry_is_applied(e) && e->prior)
			e->back = e->prior;
	}
}

/* An entry that goes on to be applied, as it was when the first --for began. */
static void keep_applied(struct entry *e, bool restored)
{
	if (restored) {
		if (!entry_is_kept(e)) {
			free(e->want);
			e->want = xstrdup(e->prior);
		}
		free(e->held);
		e->held = xstrdup(e->prior);
	}
	e->back = e->old;
	free(TAKE(e->prior));
}

/* Reports what became of an entry, and clears it. One that failed or is left alone stays for the
 * next restore; with --forget it is cleared, too, and `note` ends before "; --", the ways to treat
 * it. */
static void settle_entry(struct restore *r, struct entry *e, enum outcome outcome,
	const char *before, const char *now, const char *note)
{
	bool stays = outcome == OUTCOME_FAILED || outcome == OUTCOME_LEFT_ALONE;
	const char *way = stays && options.forget ? strstr(note, "; --") : NULL;
	_cleanup_(freep) char *cause = way ? xstrndup(note, (size_t)(way - note)) : NULL;

	if (stays && options.forget)
		outcome = OUTCOME_FORGOTTEN;
	if (stays && !*before) /* of what a damaged journal has lost */
		before = NULL;
	if (e->adopted && !note)
		note = "somebody else had set this value while it was applied";
	report_entry(&r->report, e, outcome, before, now, cause ?: note);
	if (e->back && e->back == e->prior && outcome != OUTCOME_ABSENT)
		keep_applied(e, !stays);
	else if (!stays || options.forget)
		entry_clear(e);
	else { /* what is left alone has no owner; what failed is still applied */
		free(e->owners);
		e->owners = e->changed_externally ? xstrdup("") : NULL;
	}
}

/* Files. */

/* Whether the kernel changes `e` along with the setting `with`: both belong to one policy, or one
 * of them to none. */
static bool is_coupled(const struct entry *e, const struct entry *with)
{
	const struct check *check = check_rows_find(with->id);
	const char *policy = strstr(with->name, "/policy");
	size_t len = policy ? (size_t)(policy - with->name) + 1 + strcspn(policy + 1, "/") : 0;

	if (!check || entry_is_kept(with) ||
		(policy && strstr(e->name, "/policy") &&
			(strncmp(with->name, e->name, len) != 0 || e->name[len] != '/')))
		return false;
	return entry_is_kept(e) ? !strcmp(e->id, with->id)
				: check->setting.coupled_check &&
					  !strcmp(check->setting.coupled_check, e->id);
}

/* Limits are two files: whether one has its old value and the other what we set, as a restore
 * leaves them that was killed between the two. */
static bool is_half_restored(const struct entry *e, const char *back)
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

/* Without --force, what apply has not touched stays. A journal that has lost its end looks
 * alike. */
static bool is_left(const struct entry *e)
{
	return entry_is_untouched(e) && !options.force;
}

/* Whether a file has neither its old value nor the one that we set or found. It is not somebody
 * else's if the kernel changes it along with another one that has its old value again, as a restore
 * that was interrupted leaves it, or, where we were killed before we set it, that we have set. */
static bool is_changed_externally(const struct journal *j, struct entry *e)
{
	const char *back = e->back ?: e->old, *last = entry_last(e);

	if (is_left(e) || !e->now || !strcmp(e->now, back) || !last || !strcmp(e->now, last) ||
		(entry_is_reached(e) && !strcmp(e->now, e->want)) || is_half_restored(e, back))
		return false;
	if (e->file_kind == SETTING_LIMITS && !options.dry_run)
		return entry_has_others_limit(e, back);
	for (size_t i = 0; i < j->n; i++) {
		const struct entry *other = &j->entries[i];

		if (other->kind == ENTRY_FILE && is_coupled(e, other) && other->now &&
			strcmp(other->want, other->old) != 0 &&
			(!strcmp(other->now, other->back ?: other->old) ||
				(!e->held && entry_is_reached(other) &&
					!strcmp(other->now, other->want))))
			return false;
	}
	return true;
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

void journal_find_changed(struct journal *j)
{
	for (size_t i = 0; i < j->n; i++) {
		free(j->entries[i].now);
		j->entries[i].now = entry_read(&j->entries[i], NULL); /* NULL for units */
	}
	for (size_t i = 0; i < j->n; i++)
		j->entries[i].changed_externally = is_changed_externally(j, &j->entries[i]);
	for (size_t i = 0; i < j->n; i++) /* what belongs to a governor is left alone with it */
		for (size_t k = 0; k < j->n; k++)
			if (entry_is_kept(&j->entries[i]) &&
				j->entries[i].file_kind != SETTING_LIMITS &&
				strstr(j->entries[i].name, "/policy") &&
				j->entries[k].changed_externally &&
				is_coupled(&j->entries[i], &j->entries[k]))
				j->entries[i].changed_externally = true;
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

/* Limits that nobody has asked for are lifted rather than set to what was read. `known`: what
 * else narrows them is restored. */
static struct kernel_setting_result write_limits(struct entry *e, bool known)
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

/* What to write so that of limits that somebody else has changed, only what they have changed is
 * left alone: the other one would stay as we have set it. The caller frees it. */
static char *others_limits(const struct entry *e)
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

/* What is asked for of limits that this restore does not take: by another owner, by somebody else,
 * or by both. The caller frees it; NULL: the kernel does not tell. */
static char *asked_limits(const struct entry *e)
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

/* Whether this restore writes something with which the kernel changes limits. */
static bool moves_limits(const struct journal *j)
{
	for (size_t i = 0; i < j->n; i++) {
		const struct entry *e = &j->entries[i];
		const struct check *check = e->taken && e->name ? check_rows_find(e->id) : NULL;

		if (check && check->setting.keeps && e->now && strcmp(e->now, e->back) != 0)
			return true;
	}
	return false;
}

/* Some drivers set the upper limit to the highest frequency when turbo is switched, as a restore
 * does: should it be killed, the next one has to know what somebody else had set, or another
 * owner. */
static void record_others_limits(struct journal *j)
{
	const bool moves = moves_limits(j);

	for (size_t i = 0; i < j->n; i++) {
		struct entry *e = &j->entries[i];

		if (!e->name || e->file_kind != SETTING_LIMITS ||
			!(e->taken ? e->changed_externally || (moves && is_left(e)) : moves))
			continue;
		free(e->theirs);
		e->theirs = e->taken && e->changed_externally ? others_limits(e) : asked_limits(e);
		if (!e->theirs)
			continue;
		journal_mark_theirs(j, i, NULL); /* on a full disk, only a kill loses it */
		if (!e->changed_externally)      /* what was lifted is asked for again at once */
			cpufreq_write_limits(e->name, e->theirs);
	}
}

static void keep_others_limits(struct entry *e)
{
	if (!e->theirs)
		return;
	cpufreq_write_limits(e->name, e->theirs);
	cpufreq_settle_limits(e->name);
	free(TAKE(e->theirs));
	free(e->now);
	e->now = entry_read(e, NULL);
}

/* Writes the files of one order, the last one first. What is only kept comes last of all: it needs
 * the governor, the limits and the CPUs. */
static void write_files(struct restore *r, enum setting_order order, bool known)
{
	for (size_t i = r->journal.n; i-- > 0;) {
		struct entry *e = &r->journal.entries[i];
		const struct check *check;
		struct kernel_setting file;

		if (!e->taken || !e->name || e->kind != ENTRY_FILE || e->changed_externally ||
			is_left(e))
			continue;
		check = check_rows_find(e->id);
		if ((check && !entry_is_kept(e) ? check->setting.restore_order : ORDER_KEPT) !=
			order)
			continue;
		file = entry_setting(e);
		free(e->result.held);
		e->result = e->file_kind == SETTING_LIMITS ? write_limits(e, known)
							   : kernel_setting_set(&file, e->back);
		crash_point();
	}
}

static void leave_changed(struct restore *r, struct entry *e)
{
	settle_entry(r, e, OUTCOME_LEFT_ALONE, e->back, e->now,
		"changed by somebody else; --force restores it, --forget keeps it");
}

static void settle_file(struct restore *r, struct entry *e)
{
	const struct kernel_setting_result *result = &e->result;

	if (is_left(e) && e->now && strcmp(e->now, e->back) != 0)
		leave_changed(r, e);
	else if (is_left(e))
		settle_entry(r, e, OUTCOME_ALREADY, e->now, e->now, NULL);
	else if (result->outcome == SETTING_OFFLINE) {
		/* a killed apply may have set it with another file, which is restored */
		e->begun = true;
		settle_entry(r, e, OUTCOME_LEFT_ALONE, e->back, NULL,
			options.forget
				? "its CPUs are offline"
				: "its CPUs are offline; set them online, then restore again");
	} else if (result->outcome == SETTING_CLAMPED && e->file_kind == SETTING_LIMITS)
		settle_entry(r, e, OUTCOME_DIFFERENT, e->back, result->held,
			"set again, but hidden while turbo is off or another limit is narrower");
	else if (result->outcome == SETTING_REFUSED || result->outcome == SETTING_CLAMPED) {
		/* What could not be restored is tried again by the next restore. */
		free(e->held);
		e->held = TAKE(e->result.held);
		settle_entry(r, e, OUTCOME_FAILED, e->back, e->held ?: e->now,
			result->outcome == SETTING_REFUSED
				? strerror(-result->error)
				: "the kernel set another value than requested");
	} else if (result->outcome == SETTING_ABSENT)
		settle_entry(r, e, OUTCOME_ABSENT, NULL, NULL, "it no longer exists");
	else if (e->now && !strcmp(e->now, e->back))
		settle_entry(r, e, OUTCOME_ALREADY, e->back, e->back, NULL);
	else {
		const char *now = result->held ?: e->back; /* limits may be wider than they were */

		action_log(ACTION_RESTORE_ONE, "%s: %s restored from %s to %s", e->id, e->name,
			e->now ?: "?", now);
		settle_entry(r, e, OUTCOME_RESTORED, e->now, now, NULL);
	}
}

/* What cannot be written because another owner still keeps its governor away goes with that one. */
static void pass_to_owners(struct restore *r, struct entry *e)
{
	bool stays = false;

	if (!entry_is_kept(e) || e->back != e->old ||
		(e->result.outcome != SETTING_REFUSED && e->result.outcome != SETTING_ABSENT))
		return;
	for (size_t i = 0; i < r->journal.n; i++) {
		const struct entry *with = &r->journal.entries[i];

		if (!with->name || !is_coupled(e, with) || (with->taken && with->back == with->old))
			continue;
		entry_add_owners(e, with);
		stays |= entry_is_applied(e) || entry_needed_by(e) > 0;
	}
	if (!stays)
		return;
	e->taken = false;
	if (entry_needed_by(e) > 0) {
		r->needed_by = entry_needed_by(e);
		r->n_needed++;
	}
}

static void restore_files(struct restore *r)
{
	enum { ATTEMPTS = 2 };
	struct entry *entries = r->journal.entries;
	size_t n = r->journal.n;

	journal_set_others_limits(&r->journal);
	journal_find_changed(&r->journal);
	for (size_t i = 0; options.force && i < n; i++)
		entries[i].changed_externally = false;
	record_others_limits(&r->journal);
	for (int i = 0; i < ATTEMPTS * N_ORDERS; i++)
		write_files(r, (enum setting_order)(i % N_ORDERS), i >= N_ORDERS);
	for (size_t i = n; i-- > 0;) {
		struct entry *e = &entries[i];

		if (e->file_kind == SETTING_LIMITS)
			keep_others_limits(e);
		if (!e->taken || !e->changed_externally)
			continue;
		if (e->file_kind == SETTING_LIMITS && entry_is_kept(e))
			/* we have not set it: the comparison with before lists it */
			entry_clear(e);
		else
			leave_changed(r, e);
	}
	for (size_t i = 0; i < n; i++)
		if (entries[i].taken && entries[i].name && !entries[i].changed_externally)
			pass_to_owners(r, &entries[i]);
	for (size_t i = n; i-- > 0;)
		if (entries[i].taken && entries[i].name && entries[i].kind == ENTRY_FILE &&
			!entries[i].changed_externally)
			settle_file(r, &entries[i]);
}

/* Units. */

static void switch_unit(struct restore *r, struct entry *e, bool start)
{
	_cleanup_(argv_freep) char **names = NULL;
	struct error why = {};
	int result;

	/* A socket cannot be opened while its service runs: apply was killed between the two. The
	 * service is restored later. */
	if (start && unit_is_kind(e->name, ".socket"))
		units_get(r->units, e->name, "Unit.Triggers", 'a', &names, &why);
	for (char **name = names; name && *name; name++) {
		struct entry *service = journal_find(&r->journal, *name);

		if (!service || strcmp(service->back, "active") != 0 ||
			!units_is_up(r->units, *name))
			continue;
		service->begun = true; /* this restore may be killed, too */
		journal_mark(&r->journal, (size_t)(service - r->journal.entries), NULL);
		units_set(r->units, *name, false, &why);
		crash_point();
		free(service->want); /* --for may have started it again */
		service->want = xstrdup("inactive");
	}
	result = units_set(r->units, e->name, start, &why);
	crash_point();
	if (result < 0) {
		settle_entry(r, e, OUTCOME_FAILED, e->back, e->want, why.text);
		return;
	}
	action_log(ACTION_RESTORE_ONE, "%s: %s %s again", e->id, e->name,
		start ? "started" : "stopped");
	settle_entry(r, e, OUTCOME_RESTORED, e->want, e->back,
		units_is_up(r->units, e->name) == start
			? NULL
			: "it was started, and has ended by itself");
}

/* Why a unit is not started: what its last start began still runs, and another start would begin it
 * once more. Cron's own mark shows that a start of it begins no job again (@reboot). The caller
 * frees it; NULL: it may be started. */
static char *start_would_repeat(const struct restore *r, const char *name)
{
	bool cron = text_has_word("cron.service crond.service cronie.service", name) &&
		    (access("/run/crond.reboot", F_OK) == 0 ||
			    access("/run/cron.reboot", F_OK) == 0);
	_cleanup_(freep) char *left = NULL;
	int waited = -1;

	if (cron || options.force || !unit_is_kind(name, ".service"))
		return NULL;
	left = units_left_of_start(r->units, name);
	if (left && options.wait) {
		waiting_begin(r->units, "leaves it alone");
		waited = units_wait_left(r->units, name);
		waiting_begin(r->units, NULL);
	}
	if (!left || waited >= 0)
		return NULL;
	return text_format(
		"%s of its last start still runs; --wait waits for its end, --force starts it now",
		left);
}

static void restore_unit(struct restore *r, struct entry *e)
{
	_cleanup_(freep) char *load = NULL, *repeats = NULL;
	bool start = !strcmp(e->back, "active"),
	     stays = e->back != e->old && !start && !e->unblocked;
	int state = r->units ? units_state(r->units, e->name) : -ENOTCONN;

	if (state < 0)
		settle_entry(r, e, OUTCOME_FAILED, e->back, e->want, "systemd does not answer");
	else if (e->changed_externally) {
		e->now = entry_read(e, r->units);
		leave_changed(r, e);
	} else if (!stays &&
		   entry_is_blocked(e)) /* that it could not be unblocked is reported already */
		settle_entry(r, e, OUTCOME_FAILED, e->back, e->want,
			"it is still kept from being started");
	else if (!strcmp(e->back, e->want) || state == start)
		settle_entry(r, e, OUTCOME_ALREADY, e->back, e->back, NULL);
	else if (!start || units_get(r->units, e->name, "Unit.LoadState", 's', &load, NULL) < 0)
		switch_unit(r, e, start);
	else if (!strcmp(load, "not-found")) /* such as a package that was removed */
		settle_entry(r, e, OUTCOME_DIFFERENT, e->back, "inactive", "it no longer exists");
	else if (!strcmp(load, "masked"))
		settle_entry(r, e, OUTCOME_LEFT_ALONE, e->back, e->want,
			"masked by somebody else; --forget leaves it so");
	else if ((repeats = start_would_repeat(r, e->name)))
		settle_entry(r, e, OUTCOME_LEFT_ALONE, e->back, e->want, repeats);
	else
		switch_unit(r, e, start);
}

/* What starts others comes first, and timers last: a socket cannot be opened once its service runs,
 * and an overdue timer starts its service at once. What systemd stops when nothing needs it comes
 * after what may need it. */
enum rank { RANK_TRIGGER, RANK_SERVICE, RANK_NEEDED, RANK_TIMER, RANKS };

static enum rank rank_of(const struct entry *e, struct units *units)
{
	if (unit_is_kind(e->name, ".timer"))
		return RANK_TIMER;
	if (units && units_flag(units, e->name, "Unit.StopWhenUnneeded", false))
		return RANK_NEEDED;
	return unit_is_kind(e->name, ".service") ? RANK_SERVICE : RANK_TRIGGER;
}

static void restore_units(struct restore *r)
{
	_cleanup_(freep) struct entry **blocked = NULL;
	size_t n = r->journal.n, n_blocked = 0;

	if (r->units && !options.force)
		journal_find_unreached(&r->journal, r->units);
	for (size_t i = 0; r->units && i < n; i++) {
		struct entry *e = &r->journal.entries[i];

		/* one that goes on to be applied is blocked as long as it does not run */
		if (e->taken && e->name && e->kind == ENTRY_UNIT && e->block != BLOCK_NONE &&
			(e->back == e->old || !strcmp(e->back, "active") || e->unblocked))
			*array_add(blocked, n_blocked) = e;
	}
	entries_block(r->units, blocked, n_blocked, false, &r->report);
	if (r->units)
		waiting_begin(r->units, NULL);
	for (int rank = 0; rank < RANKS; rank++)
		for (size_t i = 0; i < n; i++) { /* the last one first, but for RANK_NEEDED */
			struct entry *e = &r->journal.entries[rank == RANK_NEEDED ? i : n - 1 - i];

			if (e->taken && e->name && e->kind == ENTRY_UNIT &&
				(int)rank_of(e, r->units) == rank)
				restore_unit(r, e);
		}
	waiting_end();
}

/* The state before the first change: a JSON object with an object for each kind of thing, from its
 * name to its state. */

static json_t *snapshot_take(const struct unit_list *list)
{
	static const char *const kernel[] = {SYS_CPU "cpufreq/*", SYS_CPU "cpufreq/[a-z]*/*",
		SYS_CPU "cpufreq/policy[0-9]*/[a-z]*/*", SYS_CPU "intel_pstate/*",
		SYS_CPU "amd_pstate/*", SYS_CPU "smt/control", SYS_CPU "cpu[0-9]*/online",
		SYS_CPU "cpu[0-9]*/power/energy_perf_bias"};
	static const char *const systemd[] = {"/etc/systemd/system/*", "/run/systemd/system/*"};
	_cleanup_(freep) char *boot_id = journal_boot_id();
	json_t *files = json_object(), *masks = json_object(), *units = json_object(),
	       *unit_files = json_object();

	for (size_t i = 0; i < ELEMENTS(kernel); i++) { /* those that can be written and read */
		_cleanup_(paths_clear) struct paths paths = paths_expand(AT_FDCWD, kernel[i]);

		for (size_t k = 0; k < paths.n; k++) {
			_cleanup_(freep) char *value = NULL;
			struct stat st;

			if (stat(paths.items[k], &st) == 0 && S_ISREG(st.st_mode) &&
				st.st_mode & S_IWUSR &&
				path_read_text(AT_FDCWD, NULL, &value, "%s", paths.items[k]) == 0 &&
				value[0] != '<') /* "<unsupported>" */
				json_object_set_new(files, paths.items[k], json_string(value));
		}
	}
	for (size_t i = 0; i < ELEMENTS(systemd); i++) { /* masks, and drop-ins of ours */
		_cleanup_(paths_clear) struct paths paths = paths_expand(AT_FDCWD, systemd[i]);

		for (size_t k = 0; k < paths.n; k++) {
			_cleanup_(freep) char *drop_in = text_format(
				"%s/" DROP_IN_NAME, paths.items[k]);

			if (path_is_mask(paths.items[k]) || access(drop_in, F_OK) == 0)
				json_object_set_new(masks, paths.items[k], json_string("there"));
		}
	}
	for (size_t i = 0; list && i < list->n; i++) {
		const struct unit *unit = &list->items[i];

		if (*unit->file_state && strcmp(unit->file_state, "bad") != 0) /* it has a file */
			json_object_set_new(unit_files, unit->name, json_string(unit->file_state));
		if (unit_is_up(unit))
			json_object_set_new(units, unit->name, json_string("active"));
	}
	return json_pack("{s:s, s:i, s:s?, s:o, s:o, s:o, s:o}", "format", "emp-snapshot",
		"version", 1, "boot_id", boot_id, "files", files, "masks", masks, "units", units,
		"unit_files", unit_files);
}

int snapshot_save(const struct unit_list *list, struct error *err)
{
	_cleanup_(json_decrefp) json_t *snapshot = snapshot_take(list);
	_cleanup_(freep) char *text = json_dumps(snapshot, JSON_COMPACT);

	return journal_save_file(JOURNAL_BEFORE, text, err);
}

/* Started on demand, or done after a while: whether it is up now says nothing. */
static bool comes_and_goes(struct units *units, const char *name)
{
	_cleanup_(argv_freep) char **triggers = NULL;
	_cleanup_(freep) char *type = NULL, *state = NULL;

	if (units_get(units, name, "Unit.UnitFileState", 's', &state, NULL) < 0 ||
		!strcmp(state, "transient") || fnmatch("user*@*.service", name, 0) == 0 ||
		fnmatch("emp-*", name, 0) == 0)
		return true;
	if (!unit_is_kind(name, ".service"))
		return false;
	if (units_get(units, name, "Unit.TriggeredBy", 'a', &triggers, NULL) < 0 ||
		(triggers && *triggers) ||
		units_get(units, name, "Service.Type", 's', &type, NULL) < 0)
		return true;
	return !strcmp(type, "oneshot") || units_is_of_bus(units, name);
}

/* Whether a row of this name, or of the directory that it is in, says that it was left alone or
 * failed, or has a note. */
static bool is_explained(const struct report *report, const char *name)
{
	for (size_t i = 0; i < report->n; i++) {
		const struct report_row *row = &report->rows[i];
		size_t len = strlen(row->name);

		if (!strncmp(row->name, name, len) && (!name[len] || name[len] == '/') &&
			(row->note || row->outcome == OUTCOME_LEFT_ALONE ||
				row->outcome == OUTCOME_FAILED))
			return true;
	}
	return false;
}

/* Reports everything that is not as it was, with OUTCOME_DIFFERENT; nothing if there is no snapshot
 * of this boot. What the report has explained is left out, and so are units that come and go by
 * themselves. */
static int snapshot_compare(struct units *units, struct report *report, struct error *err)
{
	static const struct {
		const char *member;
		const char *id; /* of the rows of the report */
		/* the state of what one of them does not have; NULL: no difference */
		const char *absent;
		bool of_systemd;
	} kinds[] = {{"files", "frequency"}, {"masks", "masks", "not there", true},
		{"unit_files", "unit files", NULL, true}, {"units", "units", "inactive", true}};
	_cleanup_(freep) char *text = path_text(AT_FDCWD, "%s/" JOURNAL_BEFORE, journal_directory),
			      *boot_id = journal_boot_id();
	_cleanup_(json_decrefp) json_t *before = text ? json_loads(text, 0, NULL) : NULL,
				       *now = NULL;
	_cleanup_(unit_list_clear) struct unit_list list = {};
	const char *boot = json_string_value(json_object_get(before, "boot_id")), *name;
	bool has_units = units &&
			 /* then, too */
			 json_object_size(json_object_get(before, "unit_files")) != 0;
	json_t *value;

	if (!boot || !boot_id || strcmp(boot, boot_id) != 0)
		return 0;
	if (units) {
		int r = units_list(units, &list, err);

		if (r < 0)
			return r;
	}
	now = snapshot_take(units ? &list : NULL);
	for (size_t i = 0; i < ELEMENTS(kinds); i++) {
		const char *member = kinds[i].member;
		json_t *was = json_object_get(before, member), *is = json_object_get(now, member);
		_cleanup_(json_decrefp) json_t *all = json_object();

		if (kinds[i].of_systemd && !has_units)
			continue;
		json_object_update(all, was);
		json_object_update_missing(all, is);
		json_object_foreach (all, name, value) {
			const char *then = json_string_value(json_object_get(was, name))
						   ?: kinds[i].absent,
				   *today = json_string_value(json_object_get(is, name))
						    ?: kinds[i].absent;

			if (then && today && strcmp(then, today) != 0 &&
				!is_explained(report, name) &&
				(strcmp(member, "units") != 0 || !comes_and_goes(units, name)))
				report_add(report, kinds[i].id, name, OUTCOME_DIFFERENT, then,
					today, NULL);
		}
	}
	return 0;
}

/* The verb. */

static int restore_show(const struct restore *r, size_t n_undone, struct error *err)
{
	const struct report *report = &r->report;
	size_t n_failed = report->count[OUTCOME_FAILED],
	       n_differ = report->count[OUTCOME_DIFFERENT];
	FILE *file = report_file();

	if (options.json)
		return json_print(report_document(report, json_pack("{s:I}", "undone_by_reboot",
								  (json_int_t)n_undone)),
			file, err);
	report_print(report, file, options.verbose);
	if (n_undone)
		fprintf(file, "A reboot had already undone %s.\n", text_count(n_undone, "change"));
	fprintf(file, "%zu restored, %zu already as before, ", report->count[OUTCOME_RESTORED],
		report->count[OUTCOME_ALREADY]);
	if (options.forget)
		fprintf(file, "%zu forgotten.\n", report->count[OUTCOME_FORGOTTEN]);
	else
		fprintf(file, "%zu left alone, %zu failed.\n", report->count[OUTCOME_LEFT_ALONE],
			n_failed);
	if (r->n_needed)
		fprintf(file, "%s applied: process %d (emp-setup apply --for) needs %s.\n",
			r->n_needed == 1 ? "One setting stays"
					 : text_brief("%zu settings stay", r->n_needed),
			r->needed_by, r->n_needed == 1 ? "it" : "them");
	if (n_failed)
		fprintf(file,
			"What failed is tried again by 'emp-setup restore'; --forget drops it.\n");
	if (n_differ)
		fprintf(file, "Not as before the first apply: %zu (differs).\n", n_differ);
	return 0;
}

int restore_locked(enum restore_scope scope, const struct journal *applied, struct error *err)
{
	_cleanup_(restore_clear) struct restore restore = {};
	struct journal *j = &restore.journal;
	const struct report *report = &restore.report;
	struct error why = {};
	size_t n_undone;
	int r = journal_load(j, err);

	if (r < 0)
		return r;
	if (r == 0) {
		r = journal_remove(err); /* of an interrupted save */
		if (r == 0 && options.json)
			return restore_show(&restore, 0, err);
		if (r == 0)
			fprintf(report_file(), "Nothing is applied.\n");
		return r;
	}
	if (j->damaged && !j->incomplete)
		fprintf(stderr,
			"emp-setup: the journal is damaged, but all of its changes can be read\n");
	n_undone = journal_drop_stale(j);
	choose_entries(&restore, scope, applied);
	if (units_open_direct(&restore.units, &why) < 0)
		restore.units = NULL;
	/* what could not be restored or was left alone stays in the journal */
	if (!options.at_boot) {
		restore_files(&restore);
		restore_units(&restore);
		/* what a damaged journal has lost can only be listed */
		for (size_t i = 0; i < j->n; i++) {
			struct entry *e = &j->entries[i];

			if (e->taken && e->name && e->kind == ENTRY_LOST)
				settle_entry(&restore, e, OUTCOME_FAILED, e->old, NULL, e->want);
		}
		journal_compact(j);
		r = scope == RESTORE_ALL || j->n == 0
			    ? snapshot_compare(restore.units, &restore.report, err)
			    : 0;
		if (r < 0)
			return r;
	}
	action_log(ACTION_RESTORE,
		"emp-setup restore: %zu restored, %zu undone by a reboot, %zu left",
		report->count[OUTCOME_RESTORED], n_undone, j->n);
	if (j->n == 0)
		crash_point();
	r = j->n > 0 ? journal_save(j, err) : journal_remove(err);
	if (r < 0)
		return r;
	r = restore_show(&restore, n_undone, err);
	/* the exit status is the command's, whoever reads our table */
	if (r < 0 && !options.run_for)
		return r;
	if (report->count[OUTCOME_FAILED])
		return STATUS_ERROR;
	if (options.forget) /* what differs has been listed, as the user wants it to stay */
		return STATUS_DONE;
	return report->count[OUTCOME_LEFT_ALONE] || report->count[OUTCOME_DIFFERENT]
		       ? STATUS_NOT_FIT
		       : STATUS_DONE;
}

int restore_verb(int argc, char **argv, struct error *err)
{
	const struct option_rule rules[] = {
		{options.at_boot && (options.force || options.forget),
			"--at-boot restores nothing: omit --force and --forget"},
		{options.force && options.forget,
			"--force and --forget exclude each other: what is left alone is restored, or kept"},
	};
	_cleanup_(closep) int lock_fd = -1;
	int r = option_check_rules(rules, ELEMENTS(rules), err);

	if (r == 0)
		r = privilege_keep_for_settings(err);
	if (r < 0)
		return r;
	interrupt_init(); /* only KILL ends this process before all is done */
	interrupt_block_others();
	r = lock_take(&lock_fd, SETUP_LOCK, err);
	return r < 0 ? r : restore_locked(RESTORE_ALL, NULL, err);
}
