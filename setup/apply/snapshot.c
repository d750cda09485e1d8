/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The snapshot is a JSON object with an object for each kind of thing, from its name to its state:
 * see snapshot.h. */
#include "setup/apply/snapshot.h"

#include "lib/host/cpu/cpus.h"
#include "setup/apply/block.h"
#include "lib/base/json.h"

#include <fnmatch.h>

/* The files of cpufreq and of CPUs that can be written and read. */
static json_t *take_files(void)
{
	static const char *const patterns[] = {SYS_CPU "cpufreq/*", SYS_CPU "cpufreq/[a-z]*/*",
		SYS_CPU "cpufreq/policy[0-9]*/[a-z]*/*", SYS_CPU "intel_pstate/*",
		SYS_CPU "amd_pstate/*", SYS_CPU "smt/control", SYS_CPU "cpu[0-9]*/online",
		SYS_CPU "cpu[0-9]*/power/energy_perf_bias"};
	json_t *files = json_object();

	for (size_t i = 0; i < ELEMENTS(patterns); i++) {
		_cleanup_(paths_clear) struct paths paths = paths_expand(AT_FDCWD, patterns[i]);

		for (size_t k = 0; k < paths.n; k++) {
			const char *path = paths.items[k];
			_cleanup_(freep) char *value = NULL;
			struct stat st;

			if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !(st.st_mode & S_IWUSR))
				continue;
			if (path_read_text(AT_FDCWD, NULL, &value, "%s", path) == 0 &&
				value[0] != '<') /* "<unsupported>" */
				json_object_set_new(files, path, json_string(value));
		}
	}
	return files;
}

/* Masks, and drop-ins of ours. */
static json_t *take_masks(void)
{
	static const char *const patterns[] = {"/etc/systemd/system/*", "/run/systemd/system/*"};
	json_t *masks = json_object();

	for (size_t i = 0; i < ELEMENTS(patterns); i++) {
		_cleanup_(paths_clear) struct paths paths = paths_expand(AT_FDCWD, patterns[i]);

		for (size_t k = 0; k < paths.n; k++) {
			const char *path = paths.items[k];
			_cleanup_(freep) char *drop_in = text_format("%s/" DROP_IN_NAME, path);

			if (path_is_mask(path) || access(drop_in, F_OK) == 0)
				json_object_set_new(masks, path, json_string("there"));
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

		if (*unit->file_state && strcmp(unit->file_state, "bad") != 0) /* it has a file */
			json_object_set_new(unit_files, unit->name, json_string(unit->file_state));
		if (unit_is_up(unit))
			json_object_set_new(units, unit->name, json_string("active"));
	}
	return JSON_OBJECT({"format", json_text("emp-snapshot")}, {"version", json_integer(1)},
		{"boot_id", json_text(boot_id)}, {"files", take_files()}, {"masks", take_masks()},
		{"units", units}, {"unit_files", unit_files});
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

/* What the snapshot has of each kind of thing. */
static const struct snapshot_kind {
	const char *member;
	const char *id; /* of the rows of the report */
	/* the state of what one of the snapshots does not have; NULL: no difference */
	const char *absent;
	bool of_systemd;
	bool may_come_and_go;
} kinds[] = {
	{"files", "frequency"},
	{"masks", "masks", "not there", .of_systemd = true},
	{"unit_files", "unit files", .of_systemd = true},
	{"units", "units", "inactive", .of_systemd = true, .may_come_and_go = true},
};

/* Reports the things of one kind whose states differ. */
static void compare_kind(struct report *report, const struct snapshot_kind *kind, json_t *before,
	json_t *now, struct units *units)
{
	json_t *was = json_object_get(before, kind->member),
	       *is = json_object_get(now, kind->member), *value;
	_cleanup_(json_decrefp) json_t *all = json_object();
	const char *name;

	json_object_update(all, was);
	json_object_update_missing(all, is);
	json_object_foreach (all, name, value) {
		const char *then = json_string_value(json_object_get(was, name)) ?: kind->absent;
		const char *today = json_string_value(json_object_get(is, name)) ?: kind->absent;

		if (!then || !today || !strcmp(then, today) || is_explained(report, name))
			continue;
		if (!kind->may_come_and_go || !comes_and_goes(units, name))
			report_add(report, kind->id, name, OUTCOME_DIFFERENT, then, today, NULL);
	}
}

/* The snapshot that was taken in this boot; NULL: there is none. */
static json_t *snapshot_read(void)
{
	_cleanup_(freep) char *text = path_text(AT_FDCWD, "%s/" JOURNAL_BEFORE, journal_directory),
			      *boot_id = journal_boot_id();
	_cleanup_(json_decrefp) json_t *before = text ? json_loads(text, 0, NULL) : NULL;
	const char *boot = json_string_value(json_object_get(before, "boot_id"));

	return boot && boot_id && !strcmp(boot, boot_id) ? TAKE(before) : NULL;
}

int snapshot_compare(struct units *units, struct report *report, struct error *err)
{
	_cleanup_(json_decrefp) json_t *before = snapshot_read(), *now = NULL;
	_cleanup_(unit_list_clear) struct unit_list list = {};
	bool has_units; /* then and now */

	if (!before)
		return 0;
	if (units) {
		int r = units_list(units, &list, err);

		if (r < 0)
			return r;
	}
	has_units = units && json_object_size(json_object_get(before, "unit_files")) != 0;
	now = snapshot_take(units ? &list : NULL);
	for (size_t i = 0; i < ELEMENTS(kinds); i++)
		if (has_units || !kinds[i].of_systemd)
			compare_kind(report, &kinds[i], before, now, units);
	return 0;
}
