/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state before the first change: see apply.h. A JSON object with an object for each kind of thing, from its name
 * to its state. */
#include "setup/apply/apply.h"

#include "lib/base/json.h"
#include "lib/base/paths.h"

#include <fnmatch.h>
#include <sys/stat.h>

#define CPU "/sys/devices/system/cpu/"

/* Of these, the files that can be written and read. */
static const char *const FILES[] = {CPU "cpufreq/*", CPU "cpufreq/[a-z]*/*",
	CPU "cpufreq/policy[0-9]*/[a-z]*/*", CPU "intel_pstate/*", CPU "amd_pstate/*", CPU "smt/control",
	CPU "cpu[0-9]*/online", CPU "cpu[0-9]*/power/energy_perf_bias"};

static const char *const UNIT_FILES[] = {"/etc/systemd/system/*", "/run/systemd/system/*"};

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

/* Masks, and drop-ins of ours. */
static json_t *take_masks(void)
{
	json_t *masks = json_object();

	for (size_t i = 0; i < ELEMENTS(UNIT_FILES); i++) {
		_cleanup_(paths_clear) struct paths paths = paths_expand(AT_FDCWD, UNIT_FILES[i]);

		for (size_t k = 0; k < paths.n; k++) {
			_cleanup_(freep) char *drop_in = text_format("%s/" CHANGE_DROP_IN, paths.items[k]);

			if (change_is_mask(paths.items[k]) || access(drop_in, F_OK) == 0)
				json_object_set_new(masks, paths.items[k], json_string("there"));
		}
	}
	return masks;
}

static json_t *snapshot_take(const struct unit_list *list)
{
	_cleanup_(freep) char *boot_id = journal_boot_id();
	json_t *units = json_object(), *unit_files = json_object();

	for (size_t i = 0; list && i < list->n; i++) {
		const struct unit *unit = &list->items[i];

		json_object_set_new(unit_files, unit->name, json_string(unit->file_state));
		if (unit_is_up(unit))
			json_object_set_new(units, unit->name, json_string("active"));
	}
	return json_pack("{s:s, s:i, s:s?, s:o, s:o, s:o, s:o}", "format", "emp-snapshot", "version", 1,
		"boot_id", boot_id, "files", take_files(), "masks", take_masks(), "units", units,
		"unit_files", unit_files);
}

int snapshot_save(const struct unit_list *list, struct error *err)
{
	_cleanup_(json_decrefp) json_t *snapshot = snapshot_take(list);
	_cleanup_(freep) char *text = json_dumps(snapshot, JSON_COMPACT);

	return journal_save_beside(text, err);
}

/* Started on demand, or done after a while: whether it is up now says nothing. */
static bool comes_and_goes(struct units *units, const char *name)
{
	_cleanup_(argv_freep) char **triggers = NULL;
	_cleanup_(freep) char *type = NULL, *state = NULL;
	struct error err2;

	if (units_get(units, name, "Unit.UnitFileState", 's', &state, &err2) < 0 ||
		!strcmp(state, "transient") || fnmatch("user*@*.service", name, 0) == 0 ||
		fnmatch("emp-*", name, 0) == 0)
		return true;
	if (!unit_is_kind(name, ".service"))
		return false;
	if (units_names(units, name, "TriggeredBy", &triggers, &err2) < 0 || (triggers && *triggers) ||
		units_get(units, name, "Service.Type", 's', &type, &err2) < 0)
		return true;
	return !strcmp(type, "oneshot") || (!strcmp(type, "dbus") && strncmp(state, "enabled", 7) != 0);
}

/* A kind of thing that is compared. */
struct kind {
	const char *member;
	const char *id;     /* of the rows of the report */
	const char *absent; /* the state of what one of them does not have; NULL: no difference */
	bool of_systemd;
};

static const struct kind KINDS[] = {{"files", "frequency"}, {"masks", "masks", "not there", true},
	{"unit_files", "unit files", NULL, true}, {"units", "units", "inactive", true}};

/* Whether a row of this name says that it was left alone or failed, or has a note. */
static bool is_explained(const struct report *report, const char *name)
{
	for (size_t i = 0; i < report->n; i++) {
		const struct report_row *row = &report->rows[i];

		if (!strcmp(row->name, name) &&
			(row->note || row->outcome == OUTCOME_LEFT_ALONE || row->outcome == OUTCOME_FAILED))
			return true;
	}
	return false;
}

static void compare_kind(const struct kind *kind, const json_t *before, const json_t *now,
	struct units *units, struct report *report)
{
	json_t *was = json_object_get(before, kind->member), *is = json_object_get(now, kind->member), *value;
	_cleanup_(json_decrefp) json_t *all = json_object();
	const char *name;

	json_object_update(all, was);
	json_object_update_missing(all, is);
	json_object_foreach (all, name, value) {
		const char *then = json_string_value(json_object_get(was, name)) ?: kind->absent,
			   *today = json_string_value(json_object_get(is, name)) ?: kind->absent;

		if (then && today && strcmp(then, today) != 0 && !is_explained(report, name) &&
			(strcmp(kind->member, "units") != 0 || !comes_and_goes(units, name)))
			report_add(report, kind->id, name, OUTCOME_DIFFERENT, then, today, NULL);
	}
}

int snapshot_compare(struct units *units, struct report *report, struct error *err)
{
	_cleanup_(freep) char *text = journal_load_beside(), *boot_id = journal_boot_id();
	_cleanup_(json_decrefp) json_t *before = text ? json_loads(text, 0, NULL) : NULL, *now = NULL;
	_cleanup_(unit_list_clear) struct unit_list list = {};
	const char *boot = json_string_value(json_object_get(before, "boot_id"));
	bool has_units = units &&
			 json_object_size(json_object_get(before, "unit_files")) != 0; /* then, too */
	int r = 0;

	if (!boot || !boot_id || strcmp(boot, boot_id) != 0)
		return 0;
	if (units)
		r = units_list(units, &list, err);
	if (r < 0)
		return r;
	now = snapshot_take(units ? &list : NULL);
	for (size_t i = 0; i < ELEMENTS(KINDS); i++)
		if (has_units || !KINDS[i].of_systemd)
			compare_kind(&KINDS[i], before, now, units, report);
	return 0;
}
