/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a load: see load.h. Each line is a row of a table for its section: a name and a function that takes the
 * value. */
#include "lib/load/load_file.h"

#include "lib/base/xalloc.h"
#include "lib/base/argv.h"
#include "lib/base/array.h"
#include "lib/base/ini_file.h"
#include "lib/base/text.h"
#include "lib/host/process/subprocess.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

int coordination_parse(const char *value, const char *name, void *into, struct error *err)
{
	for (int i = 0; i < N_COORDINATIONS; i++)
		if (!strcmp(value, coordination_names[i])) {
			*(int *)into = i;
			return 0;
		}
	return error_say(
		err, -EINVAL, "%s must be constant-load, no-teardown or before, not '%s'", name, value);
}

enum { MOST_SLAVES = 10000 };

struct parser {
	struct load *load;
	struct script *script; /* NULL: the section [load] */
};

typedef int take_value(struct parser *p, const struct ini_line *line, void *into, struct error *err);

static int take_text(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	char **text = into;

	free(*text);
	*text = xstrdup(line->whole);
	return 0;
}

static int take_number(const struct ini_line *line, int64_t min, int64_t max, int *ret, struct error *err)
{
	int64_t value;
	int r = text_parse_int(line->value, line->name, min, max, &value, err);

	if (r == 0)
		*ret = (int)value;
	return r;
}

static int take_count(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	return take_number(line, 1, MOST_SLAVES, into, err);
}

static int take_nice(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	return take_number(line, -20, 19, into, err);
}

static int take_weight(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	return text_parse_int(line->value, line->name, 1, 10000, into, err);
}

static int take_seed(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	return text_parse_int(line->value, line->name, 0, INT64_MAX, into, err);
}

static int take_time(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	return text_parse_duration(line->value, line->name, into, err);
}

static int take_slice(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	int64_t *slice_ns = into;
	int r = text_parse_duration(line->value, line->name, slice_ns, err);

	if (r == 0 && (*slice_ns < NS_PER_MS / 10 || *slice_ns > 100 * NS_PER_MS))
		return error_say(err, -EINVAL, "slice must be from 0.1ms to 100ms, not '%s'", line->value);
	return r;
}

static int take_size(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	return text_parse_size(line->value, line->name, into, err);
}

static int take_yes(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	bool yes = !strcmp(line->value, "yes");

	if (!yes && strcmp(line->value, "no"))
		return error_say(err, -EINVAL, "%s must be yes or no, not '%s'", line->name, line->value);
	*(bool *)into = yes;
	return 0;
}

static int take_coordination(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	return coordination_parse(line->value, line->name, into, err);
}

static int take_cpus(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	_cleanup_(freep) int *cpus = NULL;
	cpu_set_t *set = &p->load->cpus;
	size_t n;

	if (text_parse_cpu_list(line->value, &cpus, &n) < 0 || n == 0)
		return error_say(err, -EINVAL, "cpus must be a list of CPUs such as 1 or 0-3,8, not '%s'",
			line->value);
	CPU_ZERO(set);
	for (size_t i = 0; i < n; i++) {
		if (cpus[i] >= CPU_SETSIZE)
			return error_say(err, -EINVAL, "there is no CPU %d", cpus[i]);
		CPU_SET(cpus[i], set);
	}
	return take_text(p, line, into, err);
}

static struct step *add_step(
	struct parser *p, enum step_kind kind, const struct ini_line *line, struct error *err)
{
	struct step *step = array_add(p->script->steps, p->script->n_steps);

	if (step)
		*step = (struct step){.kind = kind, .line = line->n, .text = xstrdup(line->whole)};
	if (!step || !step->text) {
		error_oom(err);
		return NULL;
	}
	return step;
}

static int take_command(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	struct step *step = add_step(p, STEP_COMMAND, line, err);
	int r = step ? argv_split(line->whole, &step->argv, err) : -ENOMEM;

	return r < 0 ? r : executable_find(step->argv[0], &step->path, err);
}

static int take_shell(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	struct step *step = add_step(p, STEP_COMMAND, line, err);

	if (!step)
		return -ENOMEM;
	step->argv = argv_for_shell(NULL, line->whole);
	step->path = xstrdup("/bin/sh");
	return step->argv && step->path ? 0 : error_oom(err);
}

static int take_input(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	struct script *s = p->script;
	struct step *last = s->n_steps ? &s->steps[s->n_steps - 1] : NULL;

	if (!last || last->kind != STEP_COMMAND || last->input)
		return error_say(err, -EINVAL, "input must follow the command or shell line that reads it");
	return take_text(p, line, &last->input, err);
}

/* TIME; uniform TIME TIME; exponential TIME */
static int parse_think(char *const *words, size_t n, struct think *ret, struct error *err)
{
	bool uniform = n == 3 && !strcmp(words[0], "uniform");
	int r;

	ret->exponential = n == 2 && !strcmp(words[0], "exponential");
	if (n != 1 && !uniform && !ret->exponential)
		return error_say(
			err, -EINVAL, "think must be a time, 'uniform TIME TIME' or 'exponential TIME'");
	r = text_parse_duration(words[n > 1], "think", &ret->low_ns, err);
	if (r == 0)
		r = text_parse_duration(words[n - 1], "think", &ret->high_ns, err);
	if (r == 0 && ret->high_ns < ret->low_ns)
		return error_say(err, -EINVAL, "think: %s is less than %s", words[2], words[1]);
	return r;
}

static int take_think(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	_cleanup_(argv_freep) char **words = NULL;
	struct step *step = add_step(p, STEP_THINK, line, err);
	size_t n = 0;
	int r = step ? argv_split(line->value, &words, err) : -ENOMEM;

	if (r < 0)
		return r;
	while (words[n])
		n++;
	return parse_think(words, n, &step->think, err);
}

static int take_flush(struct parser *p, const struct ini_line *line, void *into, struct error *err)
{
	bool drop = !strcmp(line->value, "drop");
	struct step *step = add_step(p, drop ? STEP_DROP : STEP_FILL, line, err);

	if (!step)
		return -ENOMEM;
	return drop ? 0 : text_parse_size(line->value, "flush", &step->fill_bytes, err);
}

struct key {
	const char *name;
	take_value *take;
	size_t offset;
};

#define OF_LOAD(member) offsetof(struct load, member)
#define OF_SCRIPT(member) offsetof(struct script, member)

static const struct key load_keys[] = {
	{"coordination", take_coordination, OF_LOAD(coordination)},
	{"cpus", take_cpus, OF_LOAD(cpu_list)},
	{"directory", take_text, OF_LOAD(directory)},
	{"runs", take_count, OF_LOAD(runs)},
	{"seed", take_seed, OF_LOAD(seed)},
	{"setup", take_text, OF_LOAD(setup)},
	{"teardown", take_text, OF_LOAD(teardown)},
	{"timeout", take_time, OF_LOAD(timeout_ns)},
	{},
};

static const struct key script_keys[] = {
	{"command", take_command, 0},
	{"flush", take_flush, 0},
	{"ignore-failure", take_yes, OF_SCRIPT(ignore_failure)},
	{"input", take_input, 0},
	{"memory", take_size, OF_SCRIPT(memory)},
	{"nice", take_nice, OF_SCRIPT(nice)},
	{"repetitions", take_count, OF_SCRIPT(repetitions)},
	{"setup", take_text, OF_SCRIPT(setup)},
	{"shell", take_shell, 0},
	{"slaves", take_count, OF_SCRIPT(slaves)},
	{"slice", take_slice, OF_SCRIPT(slice_ns)},
	{"teardown", take_text, OF_SCRIPT(teardown)},
	{"think", take_think, 0},
	{"weight", take_weight, OF_SCRIPT(weight)},
	{},
};

static struct script *find_script(const struct load *load, const char *name)
{
	for (size_t i = 0; i < load->n_scripts; i++)
		if (!strcmp(load->scripts[i].name, name))
			return &load->scripts[i];
	return NULL;
}

/* The script of the line's section, made if it is new; NULL for [load]. */
static int enter(struct parser *p, const char *section, struct error *err)
{
	p->script = NULL;
	if (!strcmp(section, "load"))
		return 0;
	if (!*section)
		return error_say(err, -EINVAL, "before the first [section]");
	p->script = find_script(p->load, section);
	if (p->script)
		return 0;
	p->script = array_add(p->load->scripts, p->load->n_scripts);
	*p->script = (struct script){.name = xstrdup(section), .slaves = 1, .repetitions = 1};
	return p->script->name ? 0 : error_oom(err);
}

static int take_line(const struct ini_line *line, void *data, struct error *err)
{
	struct parser *p = data;
	int r = enter(p, line->section, err);

	for (const struct key *key = p->script ? script_keys : load_keys; r == 0 && key->name; key++)
		if (!strcmp(key->name, line->name))
			return key->take(p, line, (char *)(p->script ?: (void *)p->load) + key->offset, err);
	return r < 0 ? r
		     : error_say(err, -EINVAL, "there is no '%s' in the section %s, see emp-load(1)",
			       line->name, p->script ? "of a script" : "[load]");
}

static int check(const struct load *load, const char *path, struct error *err)
{
	size_t slaves = load_slaves(load);

	if (load->n_scripts == 0)
		return error_say(
			err, -EINVAL, "%s has no script: 'emp-load example' prints an example file", path);
	for (size_t i = 0; i < load->n_scripts; i++)
		if (load->scripts[i].n_steps == 0)
			return error_say(err, -EINVAL, "%s: the script [%s] does nothing", path,
				load->scripts[i].name);
	if (slaves > MOST_SLAVES)
		return error_say(err, -EINVAL, "%s: %zu slaves, but at most %d are possible", path, slaves,
			MOST_SLAVES);
	return 0;
}

static int begin(struct load *load, const char *path, struct error *err)
{
	_cleanup_(freep) char *whole = realpath(path, NULL);
	const char *tmp = getenv("TMPDIR"), *name = strrchr(path, '/');
	char *slash = whole ? strrchr(whole, '/') : NULL;

	*load = (struct load){.runs = 5, .seed = 1, .timeout_ns = 3600 * NS_PER_S};
	load->name = xstrdup(name ? name + 1 : path);
	load->directory = xstrdup(tmp && *tmp == '/' ? tmp : "/tmp");
	load->file_directory = slash ? xstrndup(whole, (size_t)(slash - whole) + (slash == whole))
				     : xstrdup("/");
	return load->name && load->directory && load->file_directory ? 0 : error_oom(err);
}

int load_parse(struct load *ret, const char *text, const char *path, struct error *err)
{
	_cleanup_(load_clear) struct load load = {};
	struct parser parser = {.load = &load};
	int r = begin(&load, path, err);

	if (r == 0)
		r = ini_each_line(text, path, take_line, &parser, err);
	if (r == 0)
		r = check(&load, path, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(load);
	return 0;
}

static void clear_script(struct script *script)
{
	for (size_t i = 0; i < script->n_steps; i++) {
		struct step *step = &script->steps[i];

		free(step->text);
		free(step->path);
		free(step->input);
		argv_free(step->argv);
	}
	free(script->steps);
	free(script->name);
	free(script->setup);
	free(script->teardown);
}

void load_clear(struct load *load)
{
	for (size_t i = 0; i < load->n_scripts; i++)
		clear_script(&load->scripts[i]);
	free(load->scripts);
	free(load->name);
	free(load->file_directory);
	free(load->directory);
	free(load->setup);
	free(load->teardown);
	free(load->cpu_list);
	*load = (struct load){};
}

size_t load_slaves(const struct load *load)
{
	size_t n = 0;

	for (size_t i = 0; i < load->n_scripts; i++)
		n += (size_t)load->scripts[i].slaves;
	return n;
}

/* *slave: of the load; then, of the script. */
static const struct script *script_of(const struct load *load, size_t *slave)
{
	const struct script *script = load->scripts;

	for (; *slave >= (size_t)script->slaves; script++)
		*slave -= (size_t)script->slaves;
	return script;
}

const struct script *load_script_of(const struct load *load, size_t slave)
{
	return script_of(load, &slave);
}

char *load_slave_name(const struct load *load, size_t slave)
{
	const struct script *script = script_of(load, &slave);

	return script->slaves == 1 ? xstrdup(script->name) : text_format("%s %zu", script->name, slave + 1);
}
