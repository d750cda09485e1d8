/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a load: see load_file.h. Each line is a row of a table for its section: a name and a function that takes the
 * value. */
#include "lib/load/load_file.h"

#include "lib/base/argv.h"
#include "lib/base/ini_file.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/process/subprocess.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum { MOST_SLAVES = 10000 };

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

struct load_parser {
	struct load *load;
	struct script *script; /* NULL: the section [load] */
	const struct load_key *key;
};

typedef int take_value(struct load_parser *p, const struct ini_line *line, void *into, struct error *err);

/* A line of a section. */
struct load_key {
	const char *name;
	take_value *take;
	size_t offset;    /* of the member that take() fills */
	int64_t min, max; /* of a number */
};

static int take_line_text(struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
{
	char **text = into;

	free(*text);
	*text = xstrdup(line->whole);
	return 0;
}

static int take_int64(struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
{
	return text_parse_int(line->value, line->name, p->key->min, p->key->max, into, err);
}

static int take_int(struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
{
	int64_t value;
	int r = take_int64(p, line, &value, err);

	if (r == 0)
		*(int *)into = (int)value;
	return r;
}

static int take_time(struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
{
	return text_parse_duration(line->value, line->name, into, err);
}

static int take_slice(struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
{
	int64_t *slice_ns = into;
	int r = text_parse_duration(line->value, line->name, slice_ns, err);

	if (r == 0 && (*slice_ns < NS_PER_MS / 10 || *slice_ns > 100 * NS_PER_MS))
		return error_say(err, -EINVAL, "slice must be from 0.1ms to 100ms, not '%s'", line->value);
	return r;
}

static int take_size(struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
{
	return text_parse_size(line->value, line->name, into, err);
}

static int take_yes(struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
{
	bool yes = !strcmp(line->value, "yes");

	if (!yes && strcmp(line->value, "no"))
		return error_say(err, -EINVAL, "%s must be yes or no, not '%s'", line->name, line->value);
	*(bool *)into = yes;
	return 0;
}

static int take_coordination(
	struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
{
	return coordination_parse(line->value, line->name, into, err);
}

static int take_cpus(struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
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
	return take_line_text(p, line, into, err);
}

static struct step *add_step(struct load_parser *p, enum step_kind kind, const struct ini_line *line)
{
	struct step *step = array_add(p->script->steps, p->script->n_steps);

	*step = (struct step){.kind = kind, .line = line->n, .text = xstrdup(line->whole)};
	return step;
}

static int take_command(struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
{
	struct step *step = add_step(p, STEP_COMMAND, line);
	int r = argv_split(line->whole, &step->argv, err);

	return r < 0 ? r : executable_find(step->argv[0], &step->path, err);
}

static int take_shell(struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
{
	struct step *step = add_step(p, STEP_COMMAND, line);

	step->argv = argv_for_shell(NULL, line->whole);
	step->path = xstrdup("/bin/sh");
	return 0;
}

static int take_input(struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
{
	struct script *s = p->script;
	struct step *last = s->n_steps ? &s->steps[s->n_steps - 1] : NULL;

	if (!last || last->kind != STEP_COMMAND || last->input)
		return error_say(err, -EINVAL, "input must follow the command or shell line that reads it");
	return take_line_text(p, line, &last->input, err);
}

/* TIME; uniform TIME TIME; exponential TIME */
static int take_think(struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
{
	_cleanup_(argv_freep) char **words = NULL;
	struct think *think = &add_step(p, STEP_THINK, line)->think;
	size_t n = 0;
	int r = argv_split(line->value, &words, err);

	if (r < 0)
		return r;
	while (words[n])
		n++;
	think->exponential = n == 2 && !strcmp(words[0], "exponential");
	if (n != 1 && !think->exponential && !(n == 3 && !strcmp(words[0], "uniform")))
		return error_say(
			err, -EINVAL, "think must be a time, 'uniform TIME TIME' or 'exponential TIME'");
	r = text_parse_duration(words[n > 1], "think", &think->low_ns, err);
	if (r == 0)
		r = text_parse_duration(words[n - 1], "think", &think->high_ns, err);
	if (r == 0 && think->high_ns < think->low_ns)
		return error_say(err, -EINVAL, "think: %s is less than %s", words[2], words[1]);
	return r;
}

static int take_flush(struct load_parser *p, const struct ini_line *line, void *into, struct error *err)
{
	bool drop = !strcmp(line->value, "drop");
	struct step *step = add_step(p, drop ? STEP_DROP : STEP_FILL, line);

	return drop ? 0 : text_parse_size(line->value, "flush", &step->fill_bytes, err);
}

#define OF_LOAD(member) offsetof(struct load, member)
#define OF_SCRIPT(member) offsetof(struct script, member)

static const struct load_key load_keys[] = {
	{"coordination", take_coordination, OF_LOAD(coordination)},
	{"cpus", take_cpus, OF_LOAD(cpu_list)},
	{"directory", take_line_text, OF_LOAD(directory)},
	{"runs", take_int, OF_LOAD(runs), 1, MOST_SLAVES},
	{"seed", take_int64, OF_LOAD(seed), 0, INT64_MAX},
	{"setup", take_line_text, OF_LOAD(setup)},
	{"teardown", take_line_text, OF_LOAD(teardown)},
	{"timeout", take_time, OF_LOAD(timeout_ns)},
	{},
};

static const struct load_key script_keys[] = {
	{"command", take_command},
	{"flush", take_flush},
	{"ignore-failure", take_yes, OF_SCRIPT(ignore_failure)},
	{"input", take_input},
	{"memory", take_size, OF_SCRIPT(memory)},
	{"nice", take_int, OF_SCRIPT(nice), -20, 19},
	{"repetitions", take_int, OF_SCRIPT(repetitions), 1, MOST_SLAVES},
	{"setup", take_line_text, OF_SCRIPT(setup)},
	{"shell", take_shell},
	{"slaves", take_int, OF_SCRIPT(slaves), 1, MOST_SLAVES},
	{"slice", take_slice, OF_SCRIPT(slice_ns)},
	{"teardown", take_line_text, OF_SCRIPT(teardown)},
	{"think", take_think},
	{"weight", take_int64, OF_SCRIPT(weight), 1, 10000},
	{},
};

static int take_load_line(const struct ini_line *line, void *data, struct error *err)
{
	struct load_parser *p = data;
	struct load *load = p->load;
	bool is_load = !strcmp(line->section, "load");
	char *members = (char *)load;

	if (!*line->section)
		return error_say(err, -EINVAL, "before the first [section]");
	p->script = NULL;
	if (!is_load) {
		for (size_t i = 0; !p->script && i < load->n_scripts; i++)
			if (!strcmp(load->scripts[i].name, line->section))
				p->script = &load->scripts[i];
		if (!p->script) {
			p->script = array_add(load->scripts, load->n_scripts);
			*p->script = (struct script){
				.name = xstrdup(line->section), .slaves = 1, .repetitions = 1};
		}
		members = (char *)p->script;
	}
	for (p->key = is_load ? load_keys : script_keys; p->key->name; p->key++)
		if (!strcmp(p->key->name, line->name))
			return p->key->take(p, line, members + p->key->offset, err);
	return error_say(err, -EINVAL, "there is no '%s' in the section %s, see emp-load(1)", line->name,
		is_load ? "[load]" : "of a script");
}

int load_parse(struct load *ret, const char *text, const char *path, struct error *err)
{
	_cleanup_(load_clear) struct load load = {.runs = 5, .seed = 1, .timeout_ns = 3600 * NS_PER_S};
	_cleanup_(freep) char *whole = realpath(path, NULL);
	const char *tmp = getenv("TMPDIR"), *name = strrchr(path, '/');
	char *slash = whole ? strrchr(whole, '/') : NULL;
	struct load_parser parser = {.load = &load};
	int r;

	load.name = xstrdup(name ? name + 1 : path);
	load.directory = xstrdup(tmp && *tmp == '/' ? tmp : "/tmp");
	load.file_directory = slash ? xstrndup(whole, (size_t)(slash - whole) + (slash == whole))
				    : xstrdup("/");
	r = ini_each_line(text, path, take_load_line, &parser, err);
	if (r < 0)
		return r;
	if (load.n_scripts == 0)
		return error_say(
			err, -EINVAL, "%s has no script: 'emp-load example' prints an example file", path);
	for (size_t i = 0; i < load.n_scripts; i++)
		if (load.scripts[i].n_steps == 0)
			return error_say(
				err, -EINVAL, "%s: the script [%s] does nothing", path, load.scripts[i].name);
	if (load_slaves(&load) > MOST_SLAVES)
		return error_say(err, -EINVAL, "%s: %zu slaves, but at most %d are possible", path,
			load_slaves(&load), MOST_SLAVES);
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
			argv_free(step->argv);
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
	fprintf(file, "%s: %d run%s, %s, %zu slave%s on %s%s\n", terminal_text(load->name), load->runs,
		load->runs == 1 ? "" : "s", coordination_names[load->coordination], load_slaves(load),
		load_slaves(load) == 1 ? "" : "s", load->cpu_list ? "CPUs " : "all CPUs",
		load->cpu_list ? terminal_text(load->cpu_list) : "");
	for (size_t i = 0; i < load->n_scripts; i++) {
		static const char *const kinds[] = {"", "think ", "flush ", "flush "};

		fprintf(file, "  %s ×%d, %d repetition%s\n", terminal_text(load->scripts[i].name),
			load->scripts[i].slaves, load->scripts[i].repetitions,
			load->scripts[i].repetitions == 1 ? "" : "s");
		for (size_t k = 0; k < load->scripts[i].n_steps; k++) {
			const struct step *step = &load->scripts[i].steps[k];

			fprintf(file, "    %s%s\n", kinds[step->kind], terminal_text(step->text));
			if (step->input)
				fprintf(file, "      < %s\n", terminal_text(step->input));
		}
	}
}

size_t load_slaves(const struct load *load)
{
	size_t n = 0;

	for (size_t i = 0; i < load->n_scripts; i++)
		n += (size_t)load->scripts[i].slaves;
	return n;
}

/* *worker: of the load; then, of the script. */
static const struct script *find_script(const struct load *load, size_t *worker)
{
	const struct script *script = load->scripts;

	for (; *worker >= (size_t)script->slaves; script++)
		*worker -= (size_t)script->slaves;
	return script;
}

const struct script *load_script_of(const struct load *load, size_t worker)
{
	return find_script(load, &worker);
}

char *load_slave_name(const struct load *load, size_t worker)
{
	const struct script *script = find_script(load, &worker);

	return script->slaves == 1 ? xstrdup(script->name) : text_format("%s %zu", script->name, worker + 1);
}
