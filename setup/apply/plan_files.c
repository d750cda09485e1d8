/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See plan_files.h. */
#include "setup/apply/plan_files.h"

#include "lib/host/process/pinning.h"
#include "lib/host/system/kernel_setting.h"
#include "setup/apply/journal.h"
#include "setup/apply/limits.h"
#include "setup/apply/owners.h"
#include "setup/apply/report.h"
#include "setup/apply/request.h"
#include "setup/audit/checks.h"
#include "setup/audit/facts.h"
#include "setup/options.h"

/* Adds the isolated partition, if it is requested. */
static void plan_isolation(struct plan *plan)
{
	const struct facts *f = &plan->facts;
	_cleanup_(freep) char *directory = partition_directory(AT_FDCWD), *top = NULL,
			      *controllers = NULL, *rest = NULL, *subtree = NULL, *list = NULL;
	const char *obstacle = NULL;

	if (options.isolate < 0)
		return;
	top = directory ? xstrndup(directory, (size_t)(strrchr(directory, '/') - directory)) : NULL;
	controllers = top ? path_text(AT_FDCWD, "%s/cgroup.controllers", top) : NULL;
	rest = f->online ? cpu_list_without(f->online, f->threads, f->n_threads) : NULL;
	if (!directory)
		obstacle = "no cgroup v2 is mounted";
	else if (!text_has_word(controllers, "cpuset"))
		obstacle = "cgroup v1 has the cpuset controller: boot with cgroup_no_v1=cpuset";
	else if (!rest || !*rest)
		obstacle = "no other core would remain for all other programs";
	if (obstacle) {
		report_add(&plan->report, CHECK_ID_ISOLATED, directory ?: "-", OUTCOME_REFUSED,
			NULL, NULL, obstacle);
		return;
	}
	subtree = text_format("%s/cgroup.subtree_control", top);
	list = cpu_list_text(f->threads, f->n_threads);

	struct entry files[] = {
		{.name = TAKE(subtree), .file_kind = SETTING_CPUSET, .want = xstrdup("+cpuset")},
		{.name = TAKE(directory), .file_kind = SETTING_PARTITION, .want = TAKE(list)}};

	for (size_t i = 0; i < ELEMENTS(files); i++) {
		files[i].kind = ENTRY_FILE;
		files[i].id = xstrdup(CHECK_ID_ISOLATED);
		files[i].old = entry_read(&files[i], NULL);
		plan_add(plan, &files[i]);
	}
}

/* Adds a file of a setting, or reports why it will not be set. */
static void plan_setting(
	struct plan *plan, const struct check *check, const struct setting_file *file)
{
	if (setting_is_of_host(&plan->facts, file))
		report_add(&plan->report, check->id, file->path, OUTCOME_ABSENT, file->value,
			file->value, "the host decides");
	else if (!file->value && file->error != -ENOENT)
		report_add(&plan->report, check->id, file->path, OUTCOME_REFUSED, NULL, NULL,
			strerror(-file->error));
	else if (file->value && !file->want)
		report_add(&plan->report, check->id, file->path, OUTCOME_ABSENT, file->value, NULL,
			check->setting.no_want);
	else if (file->value)
		plan_add(plan, &(struct entry){
				       .kind = ENTRY_FILE,
				       .file_kind = check->setting.kind,
				       .id = xstrdup(check->id),
				       .name = xstrdup(file->path),
				       .old = xstrdup(file->value),
				       .want = xstrdup(file->want),
				       .loses = check->setting.costs,
			       });
}

/* Adds the settings of one order, as the rows of the checks stand. */
static int plan_settings(struct plan *plan, enum setting_order order, struct error *err)
{
	for (const struct check *check = check_rows; check->id; check++) {
		const struct setting_files *files = check_files(check, &plan->facts);

		if (!check->setting.pattern || check->setting.order != order ||
			!request_takes(check))
			continue;
		if (check->setting.isolates && plan->facts.cpu < 0)
			return error_say(err, -EINVAL,
				"%s: no CPU is set apart for timing; --cpu names one", check->id);
		if (files->n == 0)
			report_add(&plan->report, check->id, "-", OUTCOME_ABSENT, NULL, NULL, NULL);
		for (size_t k = 0; k < files->n; k++)
			plan_setting(plan, check, &files->items[k]);
	}
	return 0;
}

/* Whether a file can be written: by its mode, and because it is not the host's. */
static bool may_be_written(const struct plan *plan, char *path, const struct stat *st)
{
	struct setting_file file = {.path = path, .value = (char *)""};

	return st->st_mode & S_IWUSR && !setting_is_of_host(&plan->facts, &file);
}

/* Adds a file that loses its value while a setting is applied. */
static void plan_kept_file(struct plan *plan, const struct check *check, char *path)
{
	struct kernel_setting file = {.root_fd = AT_FDCWD, .path = path};
	struct entry *there = journal_find(&plan->journal, path);
	_cleanup_(freep) char *value = NULL;
	struct stat st;

	if (stat(path, &st) < 0 || !may_be_written(plan, path, &st))
		return;
	if (S_ISDIR(st.st_mode))
		file.kind = SETTING_LIMITS;
	if (kernel_setting_read(&file, &value) < 0)
		return;
	if (value[0] != '<') /* "<unsupported>" */
		plan_add(plan, &(struct entry){
				       .kind = ENTRY_FILE,
				       .file_kind = file.kind,
				       .id = xstrdup(check->id),
				       .name = xstrdup(path),
				       .old = TAKE(value),
				       .want = xstrdup(""),
			       });
	else if (there && entry_is_kept(there) && there->changed_externally)
		entry_adopt(there, value); /* it went with the governor */
}

/* Files that lose their values while a setting is applied, and those that have lost them to an
 * earlier apply. */
static void plan_kept_files(struct plan *plan, const struct check *check)
{
	for (const char *const *pattern = check->setting.keeps; *pattern; pattern++) {
		_cleanup_(paths_clear) struct paths paths = paths_expand(AT_FDCWD, *pattern);

		for (size_t i = 0; i < paths.n; i++)
			plan_kept_file(plan, check, paths.items[i]);
	}

	/* Files of an earlier apply that cannot be read now: this apply becomes an owner of them,
	 * too. */
	for (size_t i = 0; i < plan->n_open; i++) {
		struct entry *e = &plan->journal.entries[i];

		if (!entry_is_kept(e) || strcmp(e->id, check->id) != 0 || plan_has(plan, e->name) ||
			e->changed_externally)
			continue;
		if (!options.run_for || (entry_needed_by(e) == 0 && entry_is_applied(e)))
			free(TAKE(e->prior)); /* as plan_join does with its governor's */
		e->gained = !entry_has_owner(e, plan_owner(plan));
		entry_add_owner(e, plan_owner(plan));
	}
}

int plan_files(struct plan *plan, struct error *err)
{
	int r = 0;

	plan_isolation(plan);
	for (enum setting_order order = ORDER_FIRST; r == 0 && order < N_ORDERS; order++)
		r = plan_settings(plan, order, err);
	if (r < 0)
		return r;
	/* Behind all settings: their values are read again when these are set. */
	for (const struct check *check = check_rows; check->id; check++)
		if (check->setting.keeps && request_takes(check) &&
			check_files(check, &plan->facts)->n > 0)
			plan_kept_files(plan, check);
	return 0;
}
