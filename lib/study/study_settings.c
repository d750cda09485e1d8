/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of settings of a study: see study_settings.h. */
#include "lib/study/study_settings.h"

#include "lib/base/argv.h"
#include "lib/base/json.h"
#include "lib/base/terminal.h"
#include "lib/base/tool.h"
#include "lib/host/process/process.h"
#include "lib/host/process/subprocess.h"

/* The lists of all steps of a combination. */
static void collect_lists(
	const struct study_file *file, size_t combination, char **ret_apply, char **ret_stop)
{
	for (size_t k = 0; k < file->n_steps; k++) {
		const struct study_step *step = &file->steps[k];

		if (!study_combination_has(file, combination, k))
			continue;
		if (step->apply)
			text_append(ret_apply, ",", "%s", step->apply);
		if (step->stop)
			text_append(ret_stop, ",", "%s", step->stop);
	}
}

static void add_words(char ***argv, size_t *n, const char *const *words)
{
	for (; *words; words++)
		*array_add(*argv, *n) = xstrdup(*words);
}

#define ADD_WORDS(argv, n, ...) add_words(argv, n, (const char *const[]){__VA_ARGS__, NULL})

/* The options of apply for these lists: units that are only named are stopped without those of the
 * policy. */
static void add_apply_options(char ***argv, size_t *n, const struct study_file *file,
	const char *apply, const char *stop, int cpu)
{
	const bool units = text_has_word(apply, "svc.units") || text_has_word(apply, "svc.timers");
	_cleanup_(freep) char *only = text_copy(apply);
	_cleanup_(freep) char *cpu_text = text_format("%d", cpu);

	if (stop && !units)
		text_append(&only, ",", "svc.units,svc.timers");
	ADD_WORDS(argv, n, "--only", only);
	if (stop)
		ADD_WORDS(argv, n, "--stop", stop);
	if (stop && !units)
		ADD_WORDS(argv, n, "--policy", "only-named");
	else if (file->policy)
		ADD_WORDS(argv, n, "--policy", file->policy);
	if (cpu >= 0)
		ADD_WORDS(argv, n, "--cpu", cpu_text);
}

char **study_settings_argv(
	const struct study_file *file, size_t combination, int cpu, char *const *command)
{
	_cleanup_(freep) char *apply = NULL, *stop = NULL;
	char **argv = NULL;
	size_t n = 0;

	collect_lists(file, combination, &apply, &stop);
	ADD_WORDS(&argv, &n, "emp-setup", "apply");
	add_apply_options(&argv, &n, file, apply, stop, cpu);
	ADD_WORDS(&argv, &n, "--for", "--");
	add_words(&argv, &n, (const char *const *)command);
	*array_add(argv, n) = NULL;
	return argv;
}

/* Runs emp-setup, whose standard output is *ret_text; NULL: it is dropped. */
static int run_setup(char *const *argv, char **ret_text, int *ret_status, struct error *err)
{
	_cleanup_(freep) char *path = NULL;
	struct subprocess setup = {
		.argv = argv, .stdout_fd = -1, .output_max = 16 << 20, .ends_on_signals = true};
	int r = suite_file_find("emp-setup", &path, err);

	setup.path = path;
	if (r == 0)
		r = subprocess_run(&setup, ret_text, ret_status, err);
	if (r == 0)
		*ret_status = process_exit_status(*ret_status);
	return r;
}

/* Whether the plan changes something; otherwise, what it says of each part, by outcome. */
static bool plan_changes(const json_t *changes, char **why)
{
	size_t absent = 0, set = 0, n = json_array_size(changes);
	const char *note = NULL;

	for (size_t i = 0; i < n; i++) {
		const json_t *change = json_array_get(changes, i);
		const char *outcome = json_string_value(json_object_get(change, "outcome")) ?: "";

		if (!strcmp(outcome, "will change"))
			return true;
		if (!strcmp(outcome, "absent"))
			absent++;
		else if (!strcmp(outcome, "stays") || !strcmp(outcome, "already"))
			set++;
		note = note ?: json_string_value(json_object_get(change, "note"));
	}
	if (absent == n)
		*why = text_format("this machine has no such setting");
	else if (set + absent == n)
		*why = text_format("it is so already");
	else
		*why = text_format("emp-setup does not do it here");
	if (note)
		text_append(why, "", " (%s)", note);
	return false;
}

static int check_step(const struct study_file *file, struct study_step *step, int cpu,
	char **ret_why, struct error *err)
{
	_cleanup_(argv_freep) char **argv = NULL;
	_cleanup_(freep) char *text = NULL;
	_cleanup_(json_decrefp) json_t *plan = NULL;
	size_t n = 0;
	int status, r;

	ADD_WORDS(&argv, &n, "emp-setup", "apply", "--dry-run", "--json");
	add_apply_options(&argv, &n, file, step->apply, step->stop, cpu);
	*array_add(argv, n) = NULL;
	r = run_setup(argv, &text, &status, err);
	if (r < 0)
		return r;
	plan = json_loads(text, 0, NULL);
	if (!plan)
		return error_say(err, -EINVAL,
			"[step %s], line %d: emp-setup refuses it (see its message above)",
			step->name, step->line);
	step->empty = !plan_changes(json_object_get(plan, "changes"), ret_why);
	return 0;
}

int study_settings_check(struct study_file *file, int cpu, char **ret_notes, struct error *err)
{
	_cleanup_(freep) char *notes = NULL;

	for (size_t k = 0; k < file->n_steps; k++) {
		_cleanup_(freep) char *why = NULL;
		int r = check_step(file, &file->steps[k], cpu, &why, err);

		if (r < 0)
			return r;
		if (file->steps[k].empty)
			text_append(&notes, "\n", "step '%s' changes nothing on this machine: %s",
				file->steps[k].name, why);
	}
	*ret_notes = TAKE(notes);
	return 0;
}

int study_settings_restore(struct error *err)
{
	static char *const argv[] = {
		(char *)"emp-setup", (char *)"restore", (char *)"--abandoned", NULL};
	int status, r = run_setup(argv, NULL, &status, err);

	if (r == 0 && status == STATUS_ERROR)
		r = error_say(err, -EIO,
			"emp-setup could not restore what the killed study had applied (see its "
			"message above)");
	return r;
}
