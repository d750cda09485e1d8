/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure's options: see options.h. */
#include "measure/options.h"

#include "lib/base/cleanup.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/argv.h"
#include "lib/host/cpu/pinning.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct measure_options measure_options = {
	.cpu = -1,
	.warm_ups = 1,
	.linger_ns = 10 * NS_PER_S,
	.fail_if_slower = -1,
};

/* The place of `value` in `words`, NULL-terminated. */
static int one_of(const char *value, const char *name, const char *const *words, int *ret, struct error *err)
{
	char all[128] = "";

	for (int i = 0; words[i]; i++) {
		if (!strcmp(value, words[i])) {
			*ret = i;
			return 0;
		}
		strcat(all, i ? ", " : "");
		strcat(all, words[i]);
	}
	return error_say(err, -EINVAL, "%s must be one of %s, not '%s'", name, all, value);
}

static int parse_order(const char *value, const char *name, void *into, struct error *err)
{
	static const char *const words[] = {"interleave", "shuffle", "sequence", NULL};
	int order, r = one_of(value, name, words, &order, err);

	if (r == 0)
		*(enum order *)into = (enum order)order;
	return r;
}

static int parse_style(const char *value, const char *name, void *into, struct error *err)
{
	static const char *const words[] = {"auto", "basic", "full", "nocolor", "color", "none", NULL};
	static const struct {
		enum terminal_choice colour, interactive;
	} styles[] = {
		{TERMINAL_AUTO, TERMINAL_AUTO},
		{TERMINAL_OFF, TERMINAL_OFF},
		{TERMINAL_ON, TERMINAL_ON},
		{TERMINAL_OFF, TERMINAL_AUTO},
		{TERMINAL_ON, TERMINAL_OFF},
		{TERMINAL_OFF, TERMINAL_OFF},
	};
	int style, r = one_of(value, name, words, &style, err);

	if (r < 0)
		return r;
	terminal_choose(styles[style].colour, styles[style].interactive);
	measure_options.silent = words[style + 1] == NULL;
	return 0;
}

static int parse_unit(const char *value, const char *name, void *into, struct error *err)
{
	static const char *const words[] = {"second", "millisecond", "microsecond", "s", "ms", "us", NULL};
	static const char *const units[] = {"s", "ms", "us"};
	int unit, r = one_of(value, name, words, &unit, err);

	if (r == 0)
		*(const char **)into = units[unit % 3];
	return r;
}

static int parse_affinity(const char *value, const char *name, void *into, struct error *err)
{
	_cleanup_(freep) int *cpus = NULL;
	size_t n;

	if (text_parse_cpu_list(value, &cpus, &n) < 0 || n == 0)
		return error_say(
			err, -EINVAL, "%s must be a list of CPUs such as 1 or 0-3,8, not '%s'", name, value);
	CPU_ZERO(&measure_options.affinity);
	for (size_t i = 0; i < n; i++) {
		if (cpus[i] >= CPU_SETSIZE)
			return error_say(err, -EINVAL, "%s: there is no CPU %d", name, cpus[i]);
		CPU_SET(cpus[i], &measure_options.affinity);
	}
	measure_options.affine = true;
	return 0;
}

static int add_parameter(struct parameters *p, const char *name, char **values, struct error *err)
{
	struct parameter *items;
	char *copy;

	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->items[i].name, name))
			return error_say(err, -EINVAL, "the parameter '%s' has its values twice", name);
	items = reallocarray(p->items, p->n + 1, sizeof(*items));
	copy = strdup(name);
	if (!items || !copy)
		return error_os(err, -ENOMEM, "cannot keep the parameter '%s'", name);
	p->items = items;
	p->items[p->n++] = (struct parameter){copy, values};
	return 0;
}

static int parse_list(char *const *values, const char *name, void *into, struct error *err)
{
	_cleanup_(freep) char *text = strdup(values[1]);
	char **items = calloc(strlen(values[1]) + 2, sizeof(*items)), *rest = text;
	size_t n = 0;

	for (char *item; text && items && (item = strsep(&rest, ","));)
		items[n++] = strdup(item);
	if (!text || !items)
		return error_os(err, -ENOMEM, "cannot keep the parameter '%s'", values[0]);
	return add_parameter(into, values[0], items, err);
}

static int parse_scan(char *const *values, const char *name, void *into, struct error *err)
{
	int r = 0;

	for (int i = 0; r == 0 && i < 3; i++)
		r = option_append(values[i], name, into, err);
	return r;
}

/* A number as it is written in a command: 10, -1, 0.25. Digits behind the point are kept in what is made of
 * it, which "1e-3" and "0x10" do not show. */
static bool is_plain(const char *number)
{
	return *number && !number[strspn(number, "+-.0123456789")];
}

/* Digits behind the point of a number as it was written. */
static int decimals(const char *number)
{
	const char *point = strchr(number, '.');

	return point ? (int)strlen(point + 1) : 0;
}

static int scan(struct parameters *p, const char *const *scan, const char *step_text, struct error *err)
{
	char *end[3];
	double min = strtod(scan[1], &end[0]), max = strtod(scan[2], &end[1]);
	double step = strtod(step_text, &end[2]);
	int digits = decimals(scan[1]) > decimals(step_text) ? decimals(scan[1]) : decimals(step_text);
	char **values;
	size_t n = 0;

	if (!is_plain(scan[1]) || *end[0] || !is_plain(scan[2]) || *end[1] || !(max >= min))
		return error_say(err, -EINVAL,
			"--parameter-scan '%s' must go from a number up to a number (such as 0.5), not from '%s' to '%s'",
			scan[0], scan[1], scan[2]);
	if (!is_plain(step_text) || *end[2] || !(step > 0) || (max - min) / step > 100000)
		return error_say(err, -EINVAL,
			"--parameter-step-size must be a number above 0 (such as 0.5) that gives at most 100000 steps, not '%s'",
			step_text);
	values = calloc((size_t)((max - min) / step) + 3, sizeof(*values));
	if (!values)
		return error_os(err, -ENOMEM, "cannot keep the parameter '%s'", scan[0]);
	while (min + (double)n * step <= max + step * 1e-9) {
		values[n] = text_format("%.*f", digits, min + (double)n * step);
		n++;
	}
	return add_parameter(p, scan[0], values, err);
}

/* hyperfine's words, too: "default" is /bin/sh, "none" no shell. */
static int split_shell(struct measure_options *o, struct error *err)
{
	const char *shell = o->shell && !strcmp(o->shell, "default") ? "/bin/sh" : o->shell;
	struct error said;
	int r;

	if (!shell || !strcmp(shell, "none"))
		return 0;
	r = argv_split(shell, &o->shell_words, &said);
	return r < 0 ? error_say(err, r, "--shell '%s': %s", shell, said.text) : 0;
}

int measure_options_finish(struct measure_options *o, struct error *err)
{
	int r;

	if (o->no_shell && o->shell)
		return error_say(err, -EINVAL, "-N (no shell) and -S (a shell) exclude each other");
	r = split_shell(o, err);
	if (r < 0)
		return r;
	if (o->cpu >= 0 && o->affine)
		return error_say(err, -EINVAL, "--cpu and --affinity exclude each other");
	if (o->min_runs && o->max_runs && o->min_runs > o->max_runs)
		return error_say(
			err, -EINVAL, "--min-runs %d is more than --max-runs %d", o->min_runs, o->max_runs);
	if (!o->runs)
		o->runs = o->retain ?: 10;
	if (o->min_runs > o->runs)
		o->runs = o->min_runs;
	if (o->max_runs && o->max_runs < o->runs)
		o->runs = o->max_runs;
	if (!o->max_runs) {
		int least = o->retain > o->runs ? o->retain : o->runs;

		o->max_runs = least > INT32_MAX / 5 ? INT32_MAX : 5 * least;
	}
	for (size_t i = 0; i < o->scans.n; i += 3) {
		r = scan(&o->parameters, &o->scans.items[i], o->step ?: "1", err);
		if (r < 0)
			return r;
	}
	return 0;
}

#define O measure_options

const struct option_row measure_option_rows[] = {
	{'r', "runs", "N", "samples to take (default 10)", option_count, &O.runs},
	{'w', "warmup", "N", "runs before them that do not count (default 1)", option_count0, &O.warm_ups},
	{'m', "min-runs", "N", "at least so many samples", option_count, &O.min_runs},
	{'M', "max-runs", "N", "at most so many samples", option_count, &O.max_runs},
	{0, "retain", "N", "go on until N samples are clean (up to --max-runs, default five times as many)",
		option_count, &O.retain},
	{0, "profile", "NAME", "discard by this profile's cutoffs (emp-calibrate makes it)", NULL,
		&O.profile},
	{0, "discard-unprofiled", "SHARE",
		"discard samples in which an unprofiled daemon took more of the ET than this (2%)",
		option_percent, &O.unprofiled_percent},
	{0, "cpu", "N", "run the programs on this CPU", pinning_option, &O.cpu},
	{0, "affinity", "LIST", "run the programs on these CPUs (0-3,8)", parse_affinity, &O},
	{0, "order", "HOW", "of several programs: interleave (default), shuffle, sequence", parse_order,
		&O.order},
	{0, "fail-if-slower", "PERCENT",
		"exit status 2 if a program is slower than the first by more than this", option_percent,
		&O.fail_if_slower},
	{0, "aa", NULL, "measure the first program a second time, against itself", NULL, &O.aa},
	{'n', "command-name", "NAME", "call the command so (once for each)", option_append, &O.names},
	{'L', "parameter-list", "VAR VALUES", "run with {VAR} replaced by each value (a,b,c)", NULL,
		&O.parameters, false, 2, parse_list},
	{'P', "parameter-scan", "VAR MIN MAX", "run with {VAR} replaced by each number from MIN to MAX", NULL,
		&O.scans, false, 3, parse_scan},
	{'D', "parameter-step-size", "DELTA", "of --parameter-scan (default 1)", NULL, &O.step},
	{'s', "setup", "CMD", "run this in a shell once before each command's samples", NULL, &O.setup},
	{'p', "prepare", "CMD", "run this in a shell before each sample (once for all commands, or one each)",
		option_append, &O.prepare},
	{'C', "conclude", "CMD", "run this in a shell after each sample (likewise)", option_append,
		&O.conclude},
	{'c', "cleanup", "CMD", "run this in a shell once after each command's samples", NULL, &O.cleanup},
	{'S', "shell", "SHELL", "run the commands by SHELL -c (default: no shell)", NULL, &O.shell},
	{'N', "no-shell", NULL, "run the commands without a shell (the default)", NULL, &O.no_shell},
	{'i', "ignore-failure", NULL, "measure a program that fails all the same", NULL, &O.ignore_failure},
	{0, "timeout", "TIME", "end a sample, with all it started, after this long", option_duration,
		&O.timeout_ns},
	{0, "linger", "TIME",
		"let processes that the program leaves behind go on for this long (default 10s)",
		option_duration, &O.linger_ns},
	{0, "session", NULL, "give the program a session of its own", NULL, &O.new_session},
	{0, "input", "FILE", "the program's standard input (default: null)", NULL, &O.input},
	{0, "output", "WHERE", "its standard output: null (default), pipe, inherit or a file", NULL,
		&O.output},
	{0, "show-output", NULL, "let the program print", NULL, &O.show_output},
	{0, "style", "STYLE", "auto, full, color, basic, nocolor or none", parse_style, &O},
	{'u', "time-unit", "UNIT", "second, millisecond or microsecond (default: what fits)", parse_unit,
		&O.unit},
	{0, "export-json", "FILE", "write the results as JSON, in hyperfine's form and more", NULL,
		&O.export_json},
	{0, "export-csv", "FILE", "write a line for each command as CSV", NULL, &O.export_csv},
	{0, "export-markdown", "FILE", "write a table in Markdown", NULL, &O.export_markdown},
	{0, "anyway", NULL, "measure beside a calibration that has the machine for itself", NULL, &O.anyway},
	{0, "json", NULL, "print the JSON instead of the text", NULL, &O.json},
	{'v', "verbose", NULL, "print the reasons of discards and all statistics", NULL, &O.verbose},
	{'q', "quiet", NULL, "no progress", NULL, &O.quiet},
	{0, "accounting", "BACKEND", "auto, bpf, taskstats or none (default auto)", accounting_backend_parse,
		&O.backend},
	{0, "db", "FILE", "the book (default: EMP_DB, else the user's own)", NULL, &O.db},
	{},
};
