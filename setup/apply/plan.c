/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply will change: see plan.h. */
#include "setup/apply/plan.h"

#include "lib/base/xalloc.h"
#include "lib/base/number.h"
#include "lib/base/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Whether the kernel changes this check's files with those of a check in the list. */
static bool is_along(const char *list, const char *id)
{
	for (const struct check *c = check_rows; c->id; c++)
		if (c->setting.coupled_check && !strcmp(c->setting.coupled_check, id) && list_has(list, ',', c->id))
			return true;
	return false;
}

bool request_takes(const struct request *request, const struct check *check)
{
	if (!check_can_be_applied(check) || list_has(request->skip, ',', check->id))
		return false;
	if (request->isolate && check->setting.isolates)
		return true;
	if (request->only)
		return list_has(request->only, ',', check->id) || is_along(request->only, check->id);
	return !check->setting.on_request;
}

static int validate_list(const char *list, const char *option, struct error *err)
{
	for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',') {
		_cleanup_(freep) char *id = xstrndup(p, strcspn(p, ","));
		const struct check *c = id ? check_rows_find(id) : NULL;

		if (!c) {
			struct nearest nearest = {.typed = id};

			for (size_t i = 0; i < n_check_rows; i++)
				nearest_try(&nearest, check_rows[i].id);
			return error_say(err, -EINVAL,
				"%s: there is no check '%s'%s; 'emp-setup audit --all' lists them", option,
				id, nearest_hint(&nearest, ""));
		}
		if (!check_can_be_applied(c))
			return error_say(err, -EINVAL, "%s: %s cannot be applied; do it by hand: %s", option,
				c->id, c->how ?: "-");
	}
	return 0;
}

int request_validate(const struct request *request, struct error *err)
{
	int r = validate_list(request->only, "--only", err);

	return r < 0 ? r : validate_list(request->skip, "--skip", err);
}

int plan_add(struct plan *plan, struct entry *entry, struct error *err)
{
	size_t *place = array_add(plan->order, plan->n_order);
	struct entry *there;
	int r;

	if (!place || !entry->id || !entry->name || !entry->old || !entry->want) {
		entry_clear(entry);
		return error_oom(err);
	}
	there = journal_find(&plan->journal, entry->name);
	if (there) {
		*place = (size_t)(there - plan->journal.entries);
		/* The value found first remains the one to restore. */
		free(there->want);
		there->want = TAKE(entry->want);
		free(TAKE(there->held));
		there->persistent = there->persistent || entry->persistent;
		there->loses = entry->loses;
		if (there->block == BLOCK_NONE)
			there->block = entry->block;
		entry_clear(entry);
		return 0;
	}
	*place = plan->journal.n;
	r = journal_add(&plan->journal, entry, err);
	plan->n_order -= r < 0;
	return r;
}

static int plan_file(struct plan *plan, const struct check *check, const struct setting_file *file,
	const struct planning *from, struct error *err)
{
	_cleanup_(freep) char *want = setting_want(&check->setting, from->facts, file->path);
	struct entry entry = {.kind = ENTRY_FILE, .file_kind = check->setting.kind};

	if (!file->value) {
		if (file->error != -ENOENT)
			report_add(from->report, check->id, file->path, OUTCOME_REFUSED, NULL, NULL,
				strerror(-file->error));
		return 0;
	}
	if (!want) {
		report_add(from->report, check->id, file->path, OUTCOME_ABSENT, file->value, NULL,
			check->setting.isolates ? "no other core would handle it"
						: "the kernel does not report the base frequency");
		return 0;
	}
	entry.id = xstrdup(check->id);
	entry.name = xstrdup(file->path);
	entry.old = xstrdup(file->value);
	entry.want = TAKE(want);
	return plan_add(plan, &entry, err);
}

/* Settings of one order stay in the order of the rows. */
static int plan_settings(struct plan *plan, int order, const struct planning *from, struct error *err)
{
	for (size_t i = 0; i < n_check_rows; i++) {
		const struct check *check = &check_rows[i];
		const struct setting_files *files = &from->facts->files[i];

		if (!check->setting.pattern || check->setting.order != order ||
			!request_takes(from->request, check))
			continue;
		if (check->setting.isolates && from->facts->cpus.cpu < 0)
			return error_say(err, -EINVAL, "%s: no CPU is set apart for timing; --cpu names one",
				check->id);
		if (files->n == 0)
			report_add(from->report, check->id, "-", OUTCOME_ABSENT, NULL, NULL, NULL);
		for (size_t k = 0; k < files->n; k++) {
			int r = plan_file(plan, check, &files->items[k], from, err);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int plan_kept_files(
	struct plan *plan, const struct check *check, const char *pattern, struct error *err)
{
	_cleanup_(paths_clear) struct paths paths = kernel_setting_expand(AT_FDCWD, pattern);
	int r = 0;

	for (size_t i = 0; r == 0 && i < paths.n; i++) {
		const struct kernel_setting file = {.root_fd = AT_FDCWD, .path = paths.items[i]};
		_cleanup_(freep) char *value = NULL;
		struct entry entry;
		struct stat st;

		if (stat(paths.items[i], &st) < 0 || !(st.st_mode & S_IWUSR) ||
			kernel_setting_read(&file, &value) < 0 || value[0] == '<') /* "<unsupported>" */ {
			r = 0;
		} else {
			entry = (struct entry){.id = xstrdup(check->id),
				.name = xstrdup(paths.items[i]),
				.old = TAKE(value),
				.want = xstrdup("")};
			r = plan_add(plan, &entry, err);
		}
	}
	return r;
}

int plan_make(struct plan *ret, struct journal *open, const struct planning *from, struct error *err)
{
	enum { ORDERS = 16 };
	_cleanup_(plan_clear) struct plan plan = {.journal = *open};
	int r;

	*open = (struct journal){};
	if (!plan.journal.since_ns)
		plan.journal.since_ns = clock_ns(CLOCK_REALTIME);
	if (!plan.journal.boot_id)
		plan.journal.boot_id = journal_boot_id();
	r = plan_units(&plan, from, err);
	if (r == 0)
		r = plan_isolation(&plan, from, err);
	for (int order = 0; r == 0 && order < ORDERS; order++)
		r = plan_settings(&plan, order, from, err);
	if (r == 0) {
		/* Behind all settings: their values are read again when these are set. */
		for (size_t i = 0; i < n_check_rows; i++) {
			const struct check *check = &check_rows[i];

			if (!check->setting.keeps || !request_takes(from->request, check) ||
				from->facts->files[i].n == 0)
				continue;
			for (const char *const *pattern = check->setting.keeps; r == 0 && *pattern; pattern++)
				r = plan_kept_files(&plan, check, *pattern, err);
		}
	}
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(plan);
	return 0;
}

void plan_clear(struct plan *plan)
{
	journal_clear(&plan->journal);
	free(plan->order);
	*plan = (struct plan){};
}
