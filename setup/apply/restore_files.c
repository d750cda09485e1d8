/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restores the settings that a journal holds: see change.h.
 *
 * The kernel changes some files along with others: a governor changes preferences, the turbo switch of all policies
 * rewrites that of each policy. So what is restored is decided before anything is written. All of it is written in
 * an order that suits the kernel, and what does not hold its value then is written once more. */
#include "setup/apply/change.h"

#include "lib/base/xalloc.h"
#include "lib/host/systemd/service.h"
#include "setup/options.h"

#include <string.h>

enum { ORDERS = 16, ATTEMPTS = 2 };

/* A setting of the journal on its way back. */
struct returning {
	struct entry *entry; /* NULL: it is not restored */
	char *before;        /* its value before the restore; NULL: it could not be read */
	bool theirs;         /* somebody else has changed it since */
	struct kernel_setting_result result;
};

/* The entries from the first to restore on, each with its setting or none. */
struct restoring {
	struct returning *files;
	size_t n;
};

static void restoring_clear(struct restoring *restoring)
{
	for (size_t i = 0; restoring->files && i < restoring->n; i++) {
		free(restoring->files[i].before);
		free(restoring->files[i].result.held);
	}
	free(restoring->files);
}

/* Whether both belong to one policy, or one of them to none. */
static bool is_same_policy(const char *path, const char *other)
{
	const char *policy = strstr(path, "/policy");
	size_t len = policy ? (size_t)(policy - path) + 1 + strcspn(policy + 1, "/") : 0;

	return !policy || !strstr(other, "/policy") || (!strncmp(path, other, len) && other[len] == '/');
}

/* Whether the kernel changes `e` along with the setting `with`. */
static bool is_along(const struct entry *e, const struct entry *with)
{
	const struct check *check = check_rows_find(with->id);

	if (!check || entry_is_kept(with) || !is_same_policy(with->name, e->name))
		return false;
	return entry_is_kept(e) ? !strcmp(e->id, with->id)
				: check->setting.coupled_check && !strcmp(check->setting.coupled_check, e->id);
}

/* Whether the kernel changes this setting along with another one that has its old value again: then a restore was
 * interrupted, and the value is not somebody else's. */
static bool changed_along(const struct restoring *restoring, const struct entry *e)
{
	for (size_t i = 0; i < restoring->n; i++) {
		const struct returning *f = &restoring->files[i];

		if (f->entry && is_along(e, f->entry) && f->before && !strcmp(f->before, f->entry->old) &&
			strcmp(f->entry->want, f->entry->old) != 0)
			return true;
	}
	return false;
}

/* What belongs to a governor is left alone with it. */
static bool follows_others(const struct restoring *restoring, const struct entry *e)
{
	for (size_t i = 0; entry_is_kept(e) && strstr(e->name, "/policy") && i < restoring->n; i++) {
		const struct returning *f = &restoring->files[i];

		if (f->theirs && is_along(e, f->entry))
			return true;
	}
	return false;
}

/* Limits are two files: whether one has its old value and the other what we set, as a restore leaves them that was killed
 * between the two. */
static bool is_half_restored(const struct entry *e, const char *now)
{
	long long old[2], held[2], is[2];

	if (e->file_kind != SETTING_LIMITS || sscanf(now, "%lld %lld", &is[0], &is[1]) != 2 ||
		sscanf(e->old, "%lld %lld", &old[0], &old[1]) != 2 ||
		sscanf(e->held, "%lld %lld", &held[0], &held[1]) != 2)
		return false;
	return (is[0] == old[0] || is[0] == held[0]) && (is[1] == old[1] || is[1] == held[1]);
}

/* Ours if it is the value that we set, or if we were killed before we could record that. */
static bool is_ours(const struct restoring *restoring, const struct returning *f)
{
	const struct entry *e = f->entry;

	return !f->before || !strcmp(f->before, e->old) || !e->held || !strcmp(f->before, e->held) ||
	       !strcmp(f->before, e->want) || is_half_restored(e, f->before) || changed_along(restoring, e);
}

/* What is only kept comes last: it needs the governor, the limits and the CPUs. */
static int order_of(const struct entry *e)
{
	const struct check *check = check_rows_find(e->id);

	return check && !entry_is_kept(e) ? check->setting.restore_order : ORDERS - 1;
}

static void write_all(struct restoring *restoring, int order)
{
	for (size_t i = restoring->n; i-- > 0;) { /* the last one first */
		struct returning *f = &restoring->files[i];
		struct kernel_setting file;

		if (!f->entry || order_of(f->entry) != order)
			continue;
		file = entry_setting(f->entry);
		free(TAKE(f->result.held));
		f->result = kernel_setting_set(&file, f->entry->old);
		crash_point();
	}
}

static void settle(struct returning *f, struct report *report)
{
	struct entry *e = f->entry;

	if (f->result.outcome == SETTING_OFFLINE) {
		change_keep(e, OUTCOME_LEFT_ALONE, NULL,
			options.forget ? "its CPUs are offline"
				       : "its CPUs are offline; set them online, then restore again",
			report);
		return;
	}
	if (f->result.outcome == SETTING_REFUSED || f->result.outcome == SETTING_CLAMPED) {
		/* What could not be restored is tried again by the next restore. */
		free(f->entry->held);
		f->entry->held = TAKE(f->result.held);
		change_keep(f->entry, OUTCOME_FAILED, f->entry->held ?: f->before,
			f->result.outcome == SETTING_REFUSED ? strerror(-f->result.error)
							     : "the kernel set another value than requested",
			report);
		return;
	}
	if (f->result.outcome == SETTING_ABSENT)
		report_entry(report, e, OUTCOME_ABSENT, NULL, NULL, "it no longer exists");
	else if (f->before && !strcmp(f->before, e->old))
		report_entry(report, e, OUTCOME_ALREADY, e->old, e->old, NULL);
	else {
		action_log(ACTION_RESTORE_ONE, "%s: %s restored from %s to %s", e->id, e->name,
			f->before ?: "?", e->old);
		report_entry(report, e, OUTCOME_RESTORED, f->before, e->old, NULL);
	}
	entry_clear(e);
}

int change_restore_files(struct journal *j, size_t first, struct report *report, struct error *err)
{
	_cleanup_(restoring_clear) struct restoring restoring = {.n = j->n - first};

	restoring.files = xcalloc(restoring.n + 1, sizeof(*restoring.files));
	for (size_t i = 0; i < restoring.n; i++) {
		struct returning *f = &restoring.files[i];
		struct entry *e = &j->entries[first + i];
		struct kernel_setting file = entry_setting(e);

		if (e->kind != ENTRY_FILE)
			continue;
		f->entry = e;
		if (kernel_setting_read(&file, &f->before) < 0)
			f->before = NULL;
	}
	for (size_t i = 0; i < restoring.n; i++) {
		struct returning *f = &restoring.files[i];

		f->theirs = f->entry && !options.force && !is_ours(&restoring, f);
	}
	for (size_t i = 0; i < restoring.n; i++) {
		struct returning *f = &restoring.files[i];

		f->theirs = f->theirs || (f->entry && follows_others(&restoring, f->entry));
	}
	for (size_t i = restoring.n; i-- > 0;) {
		struct returning *f = &restoring.files[i];

		if (!f->theirs)
			continue;
		change_keep(f->entry, OUTCOME_LEFT_ALONE, f->before,
			"changed by somebody else; --force restores it, --forget keeps it", report);
		f->entry = NULL;
	}
	for (int attempt = 0; attempt < ATTEMPTS; attempt++)
		for (int order = 0; order < ORDERS; order++)
			write_all(&restoring, order);
	for (size_t i = restoring.n; i-- > 0;)
		if (restoring.files[i].entry)
			settle(&restoring.files[i], report);
	return 0;
}
