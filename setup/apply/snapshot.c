/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state before the first change: see apply.h. A JSON object with an object for each kind of thing, from its name
 * to its state. */
#include "setup/apply/apply.h"

#include "lib/base/json.h"
#include "lib/base/paths.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#define CPU "/sys/devices/system/cpu/"

/* Of these, the files that can be written and read. */
static const char *const FILES[] = {CPU "cpufreq/*", CPU "cpufreq/[a-z]*/*",
	CPU "cpufreq/policy[0-9]*/[a-z]*/*", CPU "intel_pstate/*", CPU "amd_pstate/*", CPU "smt/control",
	CPU "cpu[0-9]*/online", CPU "cpu[0-9]*/power/energy_perf_bias"};

static const char *const UNIT_DIRECTORIES[] = {"/etc/systemd/system", "/run/systemd/system"};

static json_t *take_files(void)
{
	json_t *files = json_object();

	for (size_t i = 0; i < ELEMENTS(FILES); i++) {
		_cleanup_(paths_clear) struct paths paths = paths_expand(AT_FDCWD, FILES[i]);

		for (size_t k = 0; k < paths.n; k++) {
			_cleanup_(freep) char *value = NULL;
			struct stat st;

			if (stat(paths.items[k], &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & S_IWUSR &&
				text_read_file(AT_FDCWD, paths.items[k], &value) == 0)
				json_object_set_new(files, paths.items[k], json_string(value));
		}
	}
	return files;
}

/* A mask, or a drop-in of ours. */
static bool keeps_from_starting(const char *path)
{
	_cleanup_(freep) char *drop_in = text_format("%s/90-emp-setup.conf", path);
	char target[16] = "";

	return (readlink(path, target, sizeof(target) - 1) > 0 && !strcmp(target, "/dev/null")) ||
	       (drop_in && access(drop_in, F_OK) == 0);
}

static json_t *snapshot_take(const struct unit_list *list)
{
	_cleanup_(freep) char *boot_id = journal_boot_id();
	json_t *files = json_object();

	for (size_t i = 0; list && i < list->n; i++)
		json_object_set_new(files, list->items[i].name, json_string(list->items[i].file_state));

	json_t *units = json_object();

	for (size_t i = 0; list && i < list->n; i++)
		if (unit_is_up(&list->items[i]))
			json_object_set_new(units, list->items[i].name, json_string("active"));

	json_t *masks = json_object();

	for (size_t i = 0; i < ELEMENTS(UNIT_DIRECTORIES); i++) {
		_cleanup_(closedirp) DIR *directory = opendir(UNIT_DIRECTORIES[i]);
		struct dirent *entry;

		while (directory && (entry = readdir(directory))) {
			_cleanup_(freep) char *path = text_format(
				"%s/%s", UNIT_DIRECTORIES[i], entry->d_name);

			if (path && keeps_from_starting(path))
				json_object_set_new(masks, path, json_string("there"));
		}
	}
	return json_pack("{s:s, s:i, s:s?, s:o, s:o, s:o, s:o}", "format", "emp-snapshot", "version", 1,
		"boot_id", boot_id, "files", take_files(), "masks", masks, "units", units, "unit_files",
		files);
}

int snapshot_save(const struct unit_list *list, struct error *err)
{
	_cleanup_(json_decrefp) json_t *snapshot = snapshot_take(list);
	_cleanup_(freep) char *text = snapshot ? json_dumps(snapshot, JSON_COMPACT) : NULL;

	return text ? journal_save_beside(text, err) : error_oom(err);
}

/* Started on demand, or done after a while: whether it is up now says nothing. */
static bool comes_and_goes(struct units *units, const char *name)
{
	_cleanup_(strings_freep) char **triggers = NULL;
	_cleanup_(freep) char *type = NULL, *state = NULL;
	struct error ignored;

	if (units_text(units, name, "UnitFileState", &state, &ignored) < 0 || !strcmp(state, "transient") ||
		fnmatch("user*@*.service", name, 0) == 0 || fnmatch("emp-*", name, 0) == 0)
		return true;
	if (!unit_is_kind(name, ".service"))
		return false;
	if (units_names(units, name, "TriggeredBy", &triggers, &ignored) < 0 || (triggers && *triggers) ||
		units_service_type(units, name, &type, &ignored) < 0)
		return true;
	return !strcmp(type, "oneshot") || (!strcmp(type, "dbus") && strncmp(state, "enabled", 7) != 0);
}

/* A comparison of one kind of thing. */
struct comparing {
	const char *id;      /* of the rows of the report */
	const char *absent;  /* the state of what one of them does not have; NULL: no difference */
	struct units *units; /* of units that come and go; else NULL */
	struct report *report;
};

static void compare_one(const struct comparing *c, const char *name, const json_t *before, const json_t *now)
{
	const char *was = json_string_value(before) ?: c->absent, *is = json_string_value(now) ?: c->absent;

	if (!was || !is || !strcmp(was, is) || report_explains(c->report, name) ||
		(c->units && comes_and_goes(c->units, name)))
		return;
	report_add(c->report, c->id, name, OUTCOME_DIFFERENT, was, is, NULL);
}

static void compare(const struct comparing *c, const char *kind, const json_t *before, const json_t *now)
{
	json_t *was = json_object_get(before, kind), *is = json_object_get(now, kind), *value;
	const char *name;

	json_object_foreach (was, name, value)
		compare_one(c, name, value, json_object_get(is, name));
	json_object_foreach (is, name, value)
		if (!json_object_get(was, name))
			compare_one(c, name, NULL, value);
}

int snapshot_compare(struct units *units, struct report *report, struct error *err)
{
	_cleanup_(freep) char *text = journal_load_beside();
	_cleanup_(json_decrefp) json_t *before = text ? json_loads(text, 0, NULL) : NULL, *now = NULL;
	_cleanup_(unit_list_clear) struct unit_list list = {};
	_cleanup_(freep) char *boot_id = journal_boot_id();
	const char *boot = json_string_value(json_object_get(before, "boot_id"));
	int r = 0;

	if (!boot || !boot_id || strcmp(boot, boot_id) != 0)
		return 0;
	if (units)
		r = units_list(units, &list, err);
	if (r < 0)
		return r;
	now = snapshot_take(units ? &list : NULL);
	if (!now)
		return error_oom(err);
	compare(&(struct comparing){"frequency", NULL, NULL, report}, "files", before, now);
	if (units && json_object_size(json_object_get(before, "unit_files")) != 0) {
		/* systemd did not answer, now or then */
		compare(&(struct comparing){"masks", "not there", NULL, report}, "masks", before, now);
		compare(&(struct comparing){"unit files", NULL, NULL, report}, "unit_files", before, now);
		compare(&(struct comparing){"units", "inactive", units, report}, "units", before, now);
	}
	return 0;
}
