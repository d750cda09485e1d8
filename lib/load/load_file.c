/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a load: see load_file.h. Each line is a row of a table for its section: its name, how its
 * value is read, and the member that it fills. */
#include "lib/load/load_file.h"

#include "lib/base/argv.h"
#include "lib/base/ini_file.h"
#include "lib/base/terminal.h"
#include "lib/host/process/subprocess.h"

#include <limits.h>

enum { MOST_WORKERS = 10000 };

/* How the value of a line is read. */
enum load_value {
	VALUE_TEXT,
	VALUE_INT,
	VALUE_INT64,
	VALUE_TIME,
	VALUE_SLICE,
	VALUE_SIZE,
	VALUE_YES, /* or no */
	VALUE_COORDINATION,
	VALUE_CPUS,
	/* steps of a script */
	VALUE_COMMAND,
	VALUE_SHELL,
	VALUE_INPUT,
	VALUE_THINK,
	VALUE_FLUSH,
};

/* A line of a section. */
struct load_key {
	const char *name;
	enum load_value value;
	size_t offset;    /* of the member that it fills */
	int64_t min, max; /* of a number */
};

#define OF_LOAD(member) offsetof(struct load, member)
#define OF_SCRIPT(member) offsetof(struct script, member)

static const struct load_key load_keys[] = {
	{"coordination", VALUE_COORDINATION, OF_LOAD(coordination)},
	{"cpus", VALUE_CPUS, OF_LOAD(cpu_list)},
	{"directory", VALUE_TEXT, OF_LOAD(directory)},
	{"runs", VALUE_INT, OF_LOAD(runs), 1, MOST_WORKERS},
	{"seed", VALUE_INT64, OF_LOAD(seed), 0, INT64_MAX},
	{"setup", VALUE_TEXT, OF_LOAD(setup)},
	{"teardown", VALUE_TEXT, OF_LOAD(teardown)},
	{"timeout", VALUE_TIME, OF_LOAD(timeout_ns)},
	{},
};

static const struct load_key script_keys[] = {
	{"command", VALUE_COMMAND},
	{"flush", VALUE_FLUSH},
	{"ignore-failure", VALUE_YES, OF_SCRIPT(ignore_failure)},
	{"input", VALUE_INPUT},
	{"memory", VALUE_SIZE, OF_SCRIPT(memory)},
	{"nice", VALUE_INT, OF_SCRIPT(nice), -20, 19},
	{"repetitions", VALUE_INT, OF_SCRIPT(repetitions), 1, MOST_WORKERS},
	{"setup", VALUE_TEXT, OF_SCRIPT(setup)},
	{"shell", VALUE_SHELL},
	{"slaves", VALUE_INT, OF_SCRIPT(workers), 1, MOST_WORKERS},
	{"slice", VALUE_SLICE, OF_SCRIPT(slice_ns)},
	{"teardown", VALUE_TEXT, OF_SCRIPT(teardown)},
	{"think", VALUE_THINK},
	{"weight", VALUE_INT64, OF_SCRIPT(weight), 1, 10000},
	{},
};

static int take_cpus(struct load *load, const char *value, struct error *err)
{
	_cleanup_(freep) int *cpus = NULL;
	size_t n;

	if (text_parse_cpu_list(value, &cpus, &n) < 0 || n == 0)
		return error_say(err, -EINVAL,
			"cpus must be a list of CPUs such as 1 or 0-3,8, not '%s'", value);
	CPU_ZERO(&load->cpus);
	for (size_t i = 0; i < n; i++) {
		if (cpus[i] >= CPU_SETSIZE)
			return error_say(err, -EINVAL, "there is no CPU %d", cpus[i]);
		CPU_SET(cpus[i], &load->cpus);
	}
	return 0;
}

/* Fills a number of the load or of a script, at `into`. */
static int take_load_number(
	const struct load_key *key, const struct ini_line *line, void *into, struct error *err)
{
	const char *name = line->name, *value = line->value;
	int64_t number, *ns = into;
	int r;

	switch (key->value) {
	case VALUE_INT:
		r = text_parse_int(value, name, key->min, key->max, &number, err);
		if (r == 0)
			*(int *)into = (int)number;
		return r;
	case VALUE_INT64:
		return text_parse_int(value, name, key->min, key->max, into, err);
	case VALUE_TIME:
		return text_parse_duration(value, name, ns, err);
	case VALUE_SLICE:
		r = text_parse_duration(value, name, ns, err);
		if (r == 0 && (*ns < NS_PER_MS / 10 || *ns > 100 * NS_PER_MS))
			return error_say(
				err, -EINVAL, "slice must be from 0.1ms to 100ms, not '%s'", value);
		return r;
	default: /* VALUE_SIZE */
		return text_parse_size(value, name, into, err);
	}
}

static int take_yes(const struct ini_line *line, bool *into, struct error *err)
{
	*into = !strcmp(line->value, "yes");
	if (*into || !strcmp(line->value, "no"))
		return 0;
	return error_say(err, -EINVAL, "%s must be yes or no, not '%s'", line->name, line->value);
}

/* Fills a member of the load or of a script, at `into`. */
static int take_load_member(struct load *load, const struct load_key *key,
	const struct ini_line *line, void *into, struct error *err)
{
	int r = 0;

	switch (key->value) {
	case VALUE_YES:
		return take_yes(line, into, err);
	case VALUE_COORDINATION:
		return option_choice(line->value, line->name, coordination_names, into, err);
	case VALUE_CPUS:
		r = take_cpus(load, line->value, err);
		break;
	case VALUE_TEXT:
		break;
	default:
		return take_load_number(key, line, into, err);
	}
	free(*(char **)into);
	*(char **)into = xstrdup(line->whole);
	return r;
}

/* TIME; uniform TIME TIME; exponential TIME */
static int take_think(struct think *think, const char *value, struct error *err)
{
	_cleanup_(argv_freep) char **words = NULL;
	size_t n = 0;
	int r = argv_split(value, &words, err);

	if (r < 0)
		return r;
	while (words[n])
		n++;
	think->exponential = n == 2 && !strcmp(words[0], "exponential");
	if (n != 1 && !think->exponential && !(n == 3 && !strcmp(words[0], "uniform")))
		return error_say(err, -EINVAL,
			"think must be a time, 'uniform TIME TIME' or 'exponential TIME'");
	r = text_parse_duration(words[n > 1], "think", &think->low_ns, err);
	if (r == 0)
		r = text_parse_duration(words[n - 1], "think", &think->high_ns, err);
	if (r == 0 && think->high_ns < think->low_ns)
		return error_say(err, -EINVAL, "think: %s is less than %s", words[2], words[1]);
	return r;
}

/* Adds a step, or the input of the last one. */
static int take_script_step(
	struct script *s, enum load_value value, const struct ini_line *line, struct error *err)
{
	struct step *step = s->n_steps ? &s->steps[s->n_steps - 1] : NULL;
	int r;

	if (value == VALUE_INPUT) {
		if (!step || step->kind != STEP_COMMAND || step->input)
			return error_say(err, -EINVAL,
				"input must follow the command or shell line that reads it");
		step->input = xstrdup(line->whole);
		return 0;
	}

	step = array_add(s->steps, s->n_steps);
	*step = (struct step){.kind = STEP_COMMAND, .line = line->n, .text = xstrdup(line->whole)};
	switch (value) {
	case VALUE_COMMAND:
		r = argv_split(line->whole, &step->argv, err);
		if (r == -ENOEXEC)
			return error_say(err, r,
				"'command' runs no shell: use 'shell', or quote what needs one");
		return r < 0 ? r : executable_find(step->argv[0], &step->path, err);
	case VALUE_SHELL:
		step->argv = argv_for_shell(NULL, line->whole);
		step->path = xstrdup("/bin/sh");
		return 0;
	case VALUE_FLUSH:
		step->kind = strcmp(line->value, "drop") ? STEP_FILL : STEP_DROP;
		if (step->kind == STEP_DROP)
			return 0;
		return text_parse_size(line->value, "flush", &step->fill_bytes, err);
	default:
		step->kind = STEP_THINK;
		return take_think(&step->think, line->value, err);
	}
}

/* The script with this name, which may be new. */
static struct script *script_named(struct load *load, const char *name)
{
	struct script *script;

	for (size_t i = 0; i < load->n_scripts; i++)
		if (!strcmp(load->scripts[i].name, name))
			return &load->scripts[i];
	script = array_add(load->scripts, load->n_scripts);
	*script = (struct script){.name = xstrdup(name), .workers = 1, .repetitions = 1};
	return script;
}

static int take_load_line(const struct ini_line *line, void *data, struct error *err)
{
	struct load *load = data;
	bool is_load = !strcmp(line->section, "load");
	const struct load_key *key = is_load ? load_keys : script_keys;
	struct script *script = NULL;
	char *of = data; /* whose member it is */

	if (!*line->section)
		return error_say(err, -EINVAL, "before the first [section]");
	if (!is_load) {
		script = script_named(load, line->section);
		of = (char *)script;
	}

	while (key->name && strcmp(key->name, line->name) != 0)
		key++;
	if (!key->name)
		return error_say(err, -EINVAL,
			"there is no '%s' in the section %s, see emp-load(1)", line->name,
			is_load ? "[load]" : "of a script");
	if (key->value >= VALUE_COMMAND)
		return take_script_step(script, key->value, line, err);
	return take_load_member(load, key, line, of + key->offset, err);
}

int load_parse(struct load *ret, const char *text, const char *path, struct error *err)
{
	_cleanup_(load_clear) struct load load = {
		.runs = 5, .seed = 1, .timeout_ns = 3600 * NS_PER_S};
	_cleanup_(freep) char *whole = realpath(path, NULL);
	const char *tmp = getenv("TMPDIR"), *name = strrchr(path, '/');
	char *slash = whole ? strrchr(whole, '/') : NULL;
	int r;

	load.name = xstrdup(name ? name + 1 : path);
	load.directory = xstrdup(tmp && *tmp == '/' ? tmp : "/tmp");
	if (slash)
		load.file_directory = xstrndup(whole, (size_t)(slash - whole) + (slash == whole));
	else
		load.file_directory = xstrdup("/");

	r = ini_each_line(text, path, take_load_line, &load, err);
	if (r < 0)
		return r;
	if (load.n_scripts == 0)
		return error_say(err, -EINVAL,
			"%s has no script: 'emp-load example' prints an example file", path);
	for (size_t i = 0; i < load.n_scripts; i++)
		if (load.scripts[i].n_steps == 0)
			return error_say(err, -EINVAL, "%s: the script [%s] does nothing", path,
				load.scripts[i].name);
	if (load_n_workers(&load) > MOST_WORKERS)
		return error_say(err, -EINVAL, "%s: %zu slaves, but at most %d are possible", path,
			load_n_workers(&load), MOST_WORKERS);
	*ret = TAKE_STRUCT(load);
	return 0;
}

void load_clear(struct load *load)
{
	for (size_t i = 0; i < load->n_scripts; i++) {
		for (size_t k = 0; k < load->scripts[i].n_steps; k++) {
			struct step *step = &load->scripts[i].steps[k];

			free(step->text);
			free(step->path);
			free(step->input);
			argv_freep(&step->argv);
		}
		free(load->scripts[i].steps);
		free(load->scripts[i].name);
		free(load->scripts[i].setup);
		free(load->scripts[i].teardown);
	}
	free(load->scripts);
	free(load->name);
	free(load->file_directory);
	free(load->directory);
	free(load->setup);
	free(load->teardown);
	free(load->cpu_list);
	*load = (struct load){};
}

void load_print(FILE *file, const struct load *load)
{
	fprintf(file, "%s: %s, %s, %s on %s%s\n", terminal_text(load->name),
		text_count(load->runs, "run"), coordination_names[load->coordination],
		text_count(load_n_workers(load), "slave"), load->cpu_list ? "CPUs " : "all CPUs",
		load->cpu_list ? terminal_text(load->cpu_list) : "");
	for (size_t i = 0; i < load->n_scripts; i++) {
		static const char *const kinds[] = {"", "think ", "flush ", "flush "};

		fprintf(file, "  %s ×%d, %s\n", terminal_text(load->scripts[i].name),
			load->scripts[i].workers,
			text_count(load->scripts[i].repetitions, "repetition"));
		for (size_t k = 0; k < load->scripts[i].n_steps; k++) {
			const struct step *step = &load->scripts[i].steps[k];

			fprintf(file, "    %s%s\n", kinds[step->kind], terminal_text(step->text));
			if (step->input)
				fprintf(file, "      < %s\n", terminal_text(step->input));
		}
	}
}

size_t load_n_workers(const struct load *load)
{
	size_t n = 0;

	for (size_t i = 0; i < load->n_scripts; i++)
		n += (size_t)load->scripts[i].workers;
	return n;
}

const struct script *load_script_of(const struct load *load, size_t worker)
{
	const struct script *script = load->scripts;

	for (; worker >= (size_t)script->workers; script++)
		worker -= (size_t)script->workers;
	return script;
}

char *load_worker_name(const struct load *load, size_t worker)
{
	const struct script *script = load_script_of(load, worker);

	if (script->workers == 1)
		return xstrdup(script->name);
	for (const struct script *before = load->scripts; before < script; before++)
		worker -= (size_t)before->workers;
	return text_format("%s %zu", script->name, worker + 1);
}
