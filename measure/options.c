/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure's options: see options.h. */
#include "measure/options.h"

#include "lib/base/argv.h"
#include "lib/base/terminal.h"
#include "lib/host/cpu/prober.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/slices.h"
#include "lib/protocol/discard.h"
#include "lib/report/comparison_report.h"

#include <math.h>

enum { MOST_PROBE_PERCENT = 20, RUNS_ALONE = 3 };

struct measure_options measure_options = {
	.cpu = -1,
	.warm_ups = -1,
	.alone = -1,
	.linger_ns = 10 * NS_PER_S,
	.neighbour = NEIGHBOUR_AUTO,
	.neighbour_percent = 100.0 * NEIGHBOUR_LIMIT_PPM / PPM,
	.probe_share = PROBE_SHARE,
	.rules = COMPARISON_RULES,
};

/* What the values of some options are; the parsers below say what they mean. */
static const char *const order_words[] = {
	"interleave", "shuffle", "sequence", "duet", "auto", NULL};
static const char *const against_words[] = {"inc", NULL};
static const char *const style_words[] = {
	"auto", "basic", "full", "nocolor", "color", "none", NULL};
static const char *const unit_words[] = {
	"second", "millisecond", "microsecond", "s", "ms", "us", NULL};
static const char *const probe_words[] = {"auto", "off", NULL};

static int parse_order(const char *value, const char *name, void *into, struct error *err)
{
	measure_options.order_given = true;
	return option_choice(value, name, order_words, into, err); /* enum order */
}

static int parse_against(const char *value, const char *name, void *into, struct error *err)
{
	int which, r = option_choice(value, name, against_words, &which, err);

	*(bool *)into = r == 0;
	return r;
}

static int parse_study_block(const char *value, const char *name, void *into, struct error *err)
{
	return text_parse_int(value, name, 1, INT64_MAX, into, err);
}

/* --ignore-failure, --ignore-failure=all-non-zero, --ignore-failure=1,2 */
static int parse_ignored(const char *value, const char *name, void *into, struct error *err)
{
	_cleanup_(freep) char *copy = text_copy(value);
	char *rest = copy;
	bool *ignored = into;
	int r = 0;

	if (!value || !strcmp(value, "all-non-zero"))
		memset(ignored + 1, true, 255);
	else
		for (char *word; r == 0 && (word = strsep(&rest, ","));) {
			int64_t status = 0;

			r = text_parse_int(word, name, 0, 255, &status, err);
			ignored[status] = true;
		}
	return r;
}

static int parse_probe(const char *value, const char *name, void *into, struct error *err)
{
	struct measure_options *o = into;
	double percent = 100 * PROBE_SHARE;
	int r = 0;

	o->probe_given = strcmp(value, "auto") != 0;
	if (!strcmp(value, "off"))
		percent = -1;
	else if (o->probe_given)
		r = option_percent(value, name, &percent, err);
	if (r == 0 && percent > MOST_PROBE_PERCENT)
		return error_say(err, -EINVAL,
			"%s must be auto, off, or at most %d %% of the time, not '%s'", name,
			MOST_PROBE_PERCENT, value);
	o->probe_share = percent < 0 ? -1 : percent / 100;
	return r;
}

static int parse_style(const char *value, const char *name, void *into, struct error *err)
{
	static const struct terminal_style styles[] = {
		{TERMINAL_AUTO, TERMINAL_AUTO},
		{TERMINAL_OFF, TERMINAL_OFF},
		{TERMINAL_ON, TERMINAL_ON},
		{TERMINAL_OFF, TERMINAL_AUTO},
		{TERMINAL_ON, TERMINAL_OFF},
		{TERMINAL_OFF, TERMINAL_OFF},
	};
	int style, r = option_choice(value, name, style_words, &style, err);

	if (r < 0)
		return r;
	terminal_style = styles[style];
	measure_options.silent = style_words[style + 1] == NULL;
	return 0;
}

static int parse_unit(const char *value, const char *name, void *into, struct error *err)
{
	static const char *const units[] = {"s", "ms", "us"};
	int unit, r = option_choice(value, name, unit_words, &unit, err);

	if (r == 0)
		*(const char **)into = units[unit % 3];
	return r;
}

/* --neighbour auto, --neighbour discard=10% */
static int parse_neighbour(const char *value, const char *name, void *into, struct error *err)
{
	const char *percent = strchr(value, '=');
	int length = (int)(percent ? percent - value : (ptrdiff_t)strlen(value)), rule, r;
	_cleanup_(freep) char *word = text_format("%.*s", length, value);
	struct measure_options *o = into;

	r = option_choice(word, name, neighbour_rule_names, &rule, err);
	if (r < 0)
		return r;
	o->neighbour = (enum neighbour_rule)rule;
	o->neighbour_given = true;
	if (!percent)
		return 0;
	if (rule != NEIGHBOUR_DISCARD && rule != NEIGHBOUR_AUTO)
		return error_say(err, -EINVAL,
			"%s: only auto and discard have a limit, as in discard=5%%, not '%s'", name,
			word);
	return option_limit(
		percent + 1, text_brief("%s %s", name, word), &o->neighbour_percent, err);
}

static int parse_affinity(const char *value, const char *name, void *into, struct error *err)
{
	_cleanup_(freep) int *cpus = NULL;
	size_t n;
	int r;

	if (text_parse_cpu_list(value, &cpus, &n) < 0 || n == 0)
		return error_say(err, -EINVAL,
			"%s must be a list of CPUs such as 1 or 0-3,8, not '%s'", name, value);
	CPU_ZERO(&measure_options.affinity);
	for (size_t i = 0; i < n; i++) {
		r = pinning_check(cpus[i], AT_FDCWD, err);
		if (r < 0)
			return r;
		if (cpus[i] >= CPU_SETSIZE)
			return error_say(err, -EINVAL, "%s: CPU %d is too many", name, cpus[i]);
		CPU_SET(cpus[i], &measure_options.affinity);
	}
	measure_options.affine = true;
	return 0;
}

/* --cpu 3; --cpu 0-3,8 is the same as --affinity 0-3,8. */
static int parse_cpu(const char *value, const char *name, void *into, struct error *err)
{
	if (strpbrk(value + (*value == '-'), ",-"))
		return parse_affinity(value, name, into, err);
	return pinning_option(value, name, &((struct measure_options *)into)->cpu, err);
}

static int parse_list(char *const *values, const char *name, void *into, struct error *err)
{
	return parameters_add_list(into, values[0], values[1], err);
}

static int parse_scan(char *const *values, const char *name, void *into, struct error *err)
{
	int r = 0;

	for (int i = 0; r == 0 && i < 3; i++)
		r = option_append(values[i], name, into, err);
	return r;
}

static int check_contradictions(const struct measure_options *o, struct error *err)
{
	bool duet = o->order == ORDER_DUET, inc = o->against_inc;
	const struct option_rule rules[] = {
		{o->no_shell && o->shell, "-N (no shell) and -S (a shell) exclude each other"},
		{o->cpu >= 0 && o->affine, "--cpu and --affinity exclude each other"},
		{o->trace && o->cpu < 0,
			"--trace records one CPU; name the one that the program is to run on with "
			"--cpu N"},
		{o->probe_given && o->probe_share >= 0 && o->cpu < 0 && (!duet || o->affine),
			"--probe looks for a neighbour of one CPU; name the one that the program "
			"is to run on with --cpu N"},
		{o->fast && o->rigorous, "--fast and --rigorous exclude each other"},
		{o->step && o->scans.n == 0,
			"--parameter-step-size (-D) needs --parameter-scan (-P)"},
		{o->reference_name && !o->reference, "--reference-name needs --reference"},
		{inc && !duet,
			"with --against inc, the program and INC alternate: no other --order"},
		{(o->same_output || o->check) && (inc || o->repeat),
			"with --repeat, and --against inc, programs run several times in a "
			"sample, and what they write is not comparable: omit --same-output and "
			"--check"},
		{inc && o->alone > 0,
			"--alone checks a duet of several programs: omit --against inc"},
		{inc && (o->runs == 1 || o->max_runs == 1),
			"--against inc needs two samples or more: -r 2"},
		{inc && (o->aa || o->reference || o->rules.fail_if_slower >= 0),
			"--against inc measures one program; --aa, --reference and "
			"--fail-if-slower compare several"},
		{o->rules.fail_if_slower >= 0 && o->rules.equal_within > 0, EQUAL_WITHIN_NO_GATE},
		{!duet && (o->slice_ns || o->slicing || o->repeat || o->alone >= 0),
			"--slice, --slices-by, --repeat and --alone are for programs that "
			"alternate: give --order duet"},
		{inc && o->affine, "the program and INC share one CPU: --cpu N"},
		{duet && !o->affine && o->compare & COMPARE_ET,
			"--compare: in a duet on one CPU the elapsed time is that of all programs: "
			"--compare pt, --cpu LIST for several CPUs, or --order interleave"},
		{duet && o->slicing == SLICING_SIGNALS && o->new_session,
			"--slices-by signals needs process groups of this session: omit --session"},
		{duet && o->perf, "--perf cannot tell the programs of a duet apart"},
		{duet && o->trace, "--trace cannot tell the programs of a duet apart"},
		{duet && o->slice_ns &&
				(o->slice_ns < SLICE_LEAST_NS || o->slice_ns > SLICE_MOST_NS),
			"--slice must be from 100us to 100ms, such as 10ms"},
		{o->min_runs && o->max_runs && o->min_runs > o->max_runs,
			text_brief("--min-runs %d is more than --max-runs %d", o->min_runs,
				o->max_runs)},
		{o->runs && o->runs < o->min_runs,
			text_brief("--runs %d is less than --min-runs %d", o->runs, o->min_runs)},
		{o->runs && o->max_runs && o->runs > o->max_runs,
			text_brief("--runs %d is more than --max-runs %d", o->runs, o->max_runs)},
	};

	return option_check_rules(rules, ELEMENTS(rules), err);
}

/* Whether samples that had a neighbour may be discarded. */
static bool discards_neighbours(const struct measure_options *o)
{
	return (o->cpu >= 0 || o->order == ORDER_DUET) && o->probe_share >= 0 &&
	       (o->neighbour == NEIGHBOUR_DISCARD || o->neighbour == NEIGHBOUR_AUTO);
}

/* Options that would have no effect, each with what it needs, or what it contradicts. */
static int check_effects(const struct measure_options *o, struct error *err)
{
	const char *const *exports = o->exports;
	const bool unprofiled = o->unprofiled_percent > 0, none = o->backend == ACCOUNTING_NONE;
	const bool neighbour = o->neighbour_given && o->neighbour != NEIGHBOUR_OFF;
	const bool tables = exports[EXPORT_MARKDOWN] || exports[EXPORT_ASCIIDOC] ||
			    exports[EXPORT_ORGMODE];
	const struct option_rule rules[] = {
		{none && (o->profile || unprofiled),
			"without accounting no daemon is seen, so nothing can be discarded: omit "
			"--accounting none, or --profile and --discard-unprofiled"},
		{none && o->retain && !discards_neighbours(o),
			"without accounting no daemon is seen, so nothing can be discarded: omit "
			"--accounting none, or use -r in place of --retain"},
		{neighbour && o->cpu < 0 && (o->order != ORDER_DUET || o->affine),
			"--neighbour is for programs on one CPU, whose core is known: add --cpu N"},
		{neighbour && o->probe_share < 0,
			"without probes no neighbour is seen: omit --probe off, or --neighbour"},
		{o->other_cpus && !o->profile && !unprofiled,
			"--other-cpus extends --profile or --discard-unprofiled: add one of them"},
		{o->show_output && o->output.n > 0,
			"--show-output and --output exclude each other; --output inherit shows "
			"the output of some commands"},
		{o->silent && (o->json || o->verbose),
			"--style none prints nothing: omit it, or use --export-json FILE in place "
			"of --json, and no -v"},
		{o->json && !tables && (o->unit || o->sort),
			"--json has seconds, in the order of the commands: -u and --sort are for "
			"text and tables"},
	};

	return option_check_rules(rules, ELEMENTS(rules), err);
}

/* As hyperfine: a range of whole numbers has steps of 1, others need a step. */
static int add_scans(struct measure_options *o, struct error *err)
{
	for (size_t i = 0; i < o->scans.n; i += 3) {
		const char *name = o->scans.items[i], *min = o->scans.items[i + 1],
			   *max = o->scans.items[i + 2];
		struct parameter *added;
		int r = parameters_add_scan(&o->parameters, name, min, max, o->step ?: "1", err);

		if (r < 0)
			return r;
		added = &o->parameters.items[o->parameters.n - 1];
		if (!o->step && (strchr(min, '.') || strchr(max, '.')))
			return error_say(err, -EINVAL,
				"--parameter-scan '%s' from %s to %s needs a step: -D 0.1, for "
				"example",
				name, min, max);
		if (added->n == 1 && strtod(min, NULL) < strtod(max, NULL))
			return error_say(err, -EINVAL,
				"--parameter-scan '%s' from %s to %s has one value only: "
				"--parameter-step-size %s is more than that",
				name, min, max, o->step ?: "1");
	}
	return 0;
}

/* --export FORMAT=FILE: each format is an export of its own. */
static int add_metric_exports(struct measure_options *o, struct error *err)
{
	for (size_t i = 0; i < o->metric_exports.n; i++) {
		const char *value = o->metric_exports.items[i];
		struct metric_file file;
		int r = metric_file_parse(value, &file, err);

		if (r < 0)
			return r;
		if (o->exports[EXPORT_METRICS + file.format])
			return error_say(err, -EINVAL, "--export: '%s' is a second %.*s", value,
				(int)strcspn(value, "="), value);
		o->exports[EXPORT_METRICS + file.format] = file.path;
	}
	return 0;
}

static int default_runs(const struct measure_options *o)
{
	if (o->retain)
		return o->retain;
	if (o->fast)
		return 5;
	return o->rigorous ? 40 : 10;
}

/* How many warm-ups and samples, where not all is given. */
static void choose_counts(struct measure_options *o)
{
	int least;

	if (o->warm_ups < 0)
		o->warm_ups = o->rigorous ? 3 : 1;
	if (!o->runs)
		o->runs = default_runs(o);
	if (o->min_runs > o->runs)
		o->runs = o->min_runs;
	if (o->max_runs && o->max_runs < o->runs)
		o->runs = o->max_runs;
	o->neighbour_runs = o->max_runs;
	if (!o->max_runs)
		o->neighbour_runs = o->runs > INT32_MAX / 2 ? INT32_MAX : 2 * o->runs;
	least = o->retain > o->runs ? o->retain : o->runs;
	if (!o->max_runs)
		o->max_runs = least > INT32_MAX / 5 ? INT32_MAX : 5 * least;
}

/* How often the programs of a duet also run alone, and on which CPU all run. */
static void choose_duet(struct measure_options *o)
{
	cpu_set_t cpus;

	if (o->order == ORDER_DUET && o->alone < 0)
		o->alone = o->runs < RUNS_ALONE ? 0 : RUNS_ALONE;
	for (int i = 0; o->order == ORDER_DUET && o->affine && CPU_COUNT(&o->affinity) == 1; i++)
		if (CPU_ISSET((size_t)i, &o->affinity)) {
			o->cpu = i;
			o->affine = false;
		}
	/* The last CPU that this process may use: the first ones serve most interrupts. */
	if (o->order == ORDER_DUET && o->cpu < 0 && !o->affine) {
		CPU_ZERO(&cpus);
		sched_getaffinity(0, sizeof(cpus), &cpus);
		o->cpu_chosen = !o->against_inc && CPU_COUNT(&cpus) > 1;
		o->cpu = 0;
		for (int i = 0; i < CPU_SETSIZE; i++)
			o->cpu = CPU_ISSET((size_t)i, &cpus) ? i : o->cpu;
	}
	if (o->cpu < 0 || o->probe_share < 0)
		o->neighbour = NEIGHBOUR_OFF;
}

const char *measure_options_why_in_turn(const struct measure_options *o, size_t n_programs)
{
	if (n_programs < 2)
		return "";
	if (o->perf || o->trace)
		return "--perf and --trace cannot tell programs that alternate apart";
	if (o->compare & COMPARE_ET && !o->affine)
		return "ET is compared, which is that of all programs in a duet";
	if (o->prepare.n > 0 || o->conclude.n > 0)
		return "--prepare and --conclude are for one program after the other";
	return o->warm_ups == 0 ? "without a warm-up it is not known whether a duet is sound"
				: NULL;
}

void measure_options_choose_order(struct measure_options *o, size_t n_programs)
{
	if (o->order != ORDER_AUTO)
		return;
	o->order_auto = true;
	o->in_turn_why = measure_options_why_in_turn(o, n_programs);
	o->order = o->in_turn_why ? ORDER_INTERLEAVE : ORDER_DUET;
	choose_duet(o);
}

int measure_options_finish(struct measure_options *o, struct error *err)
{
	const char *shell = o->shell;
	int r;

	/* INC starts again until the program has ended, and is as long as the program was in its
	 * last warm-up. */
	if (o->against_inc) {
		if (o->order == ORDER_INTERLEAVE && !o->order_given)
			o->order = ORDER_DUET;
		o->repeat = true;
		o->warm_ups = o->warm_ups == 0 ? 1 : o->warm_ups;
		o->alone = o->alone < 0 ? 0 : o->alone;
	}
	r = check_contradictions(o, err);
	if (r == 0)
		r = check_effects(o, err);
	if (r == 0)
		r = add_metric_exports(o, err);
	if (r < 0)
		return r;

	/* As hyperfine: "default" is /bin/sh, "none" no shell. */
	o->no_shell |= shell && !strcmp(shell, "none");
	if (shell && strcmp(shell, "auto") != 0 && !o->no_shell) {
		shell = !strcmp(shell, "default") ? "/bin/sh" : shell;
		r = argv_split(shell, &o->shell_words, err);
		if (r < 0)
			return error_prefix(err, r, "--shell '%s'", shell);
	}
	if (r == 0)
		r = add_scans(o, err);

	if (o->unprofiled_percent > 0) /* as it is stored: in whole parts per million, and not 0 */
		o->unprofiled_percent = fmax(1, round(fmin(o->unprofiled_percent * PPM / 100,
							INT32_MAX))) *
					100 / PPM;
	choose_counts(o);
	if (o->order != ORDER_AUTO)
		choose_duet(o);
	return r;
}

#define O measure_options

const struct option_row measure_option_rows[] = {
	{'r', "runs", "N", "samples to take (default: 10)", option_count, &O.runs,
		.group = "Samples"},
	{'w', "warmup", "N", "runs before the samples (default: 1)", option_count0, &O.warm_ups},
	{'m', "min-runs", "N", "minimum number of samples", option_count, &O.min_runs},
	{'M', "max-runs", "N", "maximum number of samples", option_count, &O.max_runs},
	{0, "fast", NULL, "5 samples after 1 warm-up", NULL, &O.fast},
	{0, "rigorous", NULL, "40 samples after 3 warm-ups", NULL, &O.rigorous},
	{0, "retain", "N", "continue until N samples are clean, up to --max-runs (default: 5 N)",
		option_count, &O.retain},
	{0, "timeout", "TIME", "kill a program and everything it started after this long",
		option_duration, &O.timeout_ns},
	{0, "linger", "TIME",
		"how long processes that a program leaves behind may run (default: 10s)",
		option_duration, &O.linger_ns},
	{0, "profile", "NAME", "discard by the cutoffs of this profile (see emp-calibrate)", NULL,
		&O.profile, .group = "Discarding"},
	{0, "discard-unprofiled", "SHARE",
		"discard samples in which an unprofiled daemon took more of the ET than this (2%)",
		option_limit, &O.unprofiled_percent},
	{0, "other-cpus", NULL, "also discard because of daemons on CPUs other than the program's",
		NULL, &O.other_cpus},
	{0, "neighbour", "RULE",
		"what is done about a neighbour: auto (default), discard[=5%], adjust, off",
		parse_neighbour, &O, .words = neighbour_rule_names},
	{0, "cpu", "N", "run the programs on this CPU (0-3: as --affinity 0-3)", parse_cpu, &O,
		.group = "CPUs and order"},
	{0, "probe", "SHARE",
		"share of the time on --cpu for probes for a neighbour (default: auto, 2%), or off",
		parse_probe, &O, .words = probe_words},
	{0, "affinity", "LIST", "run the programs on these CPUs (0-3,8)", parse_affinity, &O},
	{0, "order", "HOW",
		"of several commands: interleave (default), shuffle, sequence, duet, auto",
		parse_order, &O.order, .words = order_words},
	{0, "slice", "TIME",
		"duet: alternate this often (default: by what memory the programs touch)",
		option_duration, &O.slice_ns},
	{0, "slices-by", "WHAT", "duet: auto (default), scheduler, freezer or signals", NULL,
		&O.slicing, CHOICES("auto", "scheduler", "freezer", "signals")},
	{0, "repeat", NULL, "duet: start short programs again until the longest has ended", NULL,
		&O.repeat},
	{0, "alone", "N", "duet: runs of each program alone, which check it (default: 3)",
		option_count0, &O.alone},
	{0, "against", "inc", "alternate with INC, and give PT in units of its work", parse_against,
		&O.against_inc, .words = against_words},
	{0, "reference", "CMD",
		"the command that the others are compared with (default: the first)", NULL,
		&O.reference, .group = "Comparing"},
	{0, "reference-name", "NAME", "name of the reference", NULL, &O.reference_name},
	{0, "aa", NULL, "measure the first command a second time, against itself", NULL, &O.aa},
	{0, "compare", "WHAT",
		"compare pt, et or both (default: pt; both if programs wait or have threads)",
		comparison_clocks_option, &O.compare, .words = comparison_clock_words},
	{0, "fail-if-slower", "PERCENT",
		"exit status 2 if a command is slower than the first by more than this",
		option_percent, &O.rules.fail_if_slower},
	VERDICT_OPTIONS(O.rules),
	{0, "same-output", NULL, "exit status 1 if outputs differ, of samples or of commands", NULL,
		&O.same_output},
	{0, "check", "CMD", "run this in a shell after each sample, with the output as its input",
		NULL, &O.check},
	{0, "sort", "METHOD", "order of results: auto (default), command or mean-time", NULL,
		&O.sort, CHOICES("auto", "command", "mean-time")},
	{'n', "command-name", "NAME", "name of the command (once for each)", option_append,
		&O.names, .group = "Commands"},
	{'L', "parameter-list", "VAR VALUES", "run with {VAR} replaced by each value (a,b,c)", NULL,
		&O.parameters, false, 2, parse_list},
	{'P', "parameter-scan", "VAR MIN MAX",
		"run with {VAR} replaced by each number from MIN to MAX", NULL, &O.scans, false, 3,
		parse_scan},
	{'D', "parameter-step-size", "DELTA", "step of --parameter-scan (default: 1)", NULL,
		&O.step},
	{'S', "shell", "SHELL",
		"run command lines with SHELL -c (default: auto, sh where a line needs a shell)",
		NULL, &O.shell},
	{'N', "no-shell", NULL, "run no command line by a shell", NULL, &O.no_shell},
	{'i', "ignore-failure", "LIST",
		"measure commands that fail, all or with these exit codes (1,2)", parse_ignored,
		O.ignored_status, .optional = true},
	{0, "session", NULL, "start programs in a session of their own", NULL, &O.new_session},
	{'s', "setup", "CMD", "run this in a shell before the first sample of each command", NULL,
		&O.setup, .group = "Around the samples"},
	{'p', "prepare", "CMD",
		"run this in a shell before each sample (once, or once for each command)",
		option_append, &O.prepare},
	{'C', "conclude", "CMD",
		"run this in a shell after each sample (once, or once for each command)",
		option_append, &O.conclude},
	{'c', "cleanup", "CMD", "run this in a shell after the last sample of each command", NULL,
		&O.cleanup},
	{0, "input", "FILE", "standard input of the programs (default: null)", NULL, &O.input,
		.group = "Input and output of the programs"},
	{0, "output", "WHERE", "their standard output: null (default), pipe, inherit or a file",
		option_append, &O.output},
	{0, "show-output", NULL, "show the output of the programs", NULL, &O.show_output},
	{0, "perf", "EVENTS", "count these events of perf (cycles,instructions)", NULL, &O.perf,
		.group = "What else is recorded"},
	{0, "trace", NULL, "record what took the CPU of --cpu from the program in each sample",
		NULL, &O.trace},
	{0, "fast-clock", NULL, "make programs read their own CPU time through libemp-clock", NULL,
		&O.fast_clock},
	{0, "accounting", "BACKEND", "auto (default), bpf, taskstats or none", NULL, &O.backend,
		.choices = accounting_backend_names},
	{'u', "time-unit", "UNIT",
		"second, millisecond or microsecond (s, ms, us; default: what fits)", parse_unit,
		&O.unit, .words = unit_words, .group = "Results"},
	{0, "export-json", "FILE", "write the results as JSON, as hyperfine does, and more", NULL,
		&O.exports[EXPORT_JSON]},
	{0, "export-csv", "FILE", "write a line for each command as CSV", NULL,
		&O.exports[EXPORT_CSV]},
	{0, "export-markdown", "FILE", "write a Markdown table", NULL, &O.exports[EXPORT_MARKDOWN]},
	{0, "export-asciidoc", "FILE", "write an AsciiDoc table", NULL,
		&O.exports[EXPORT_ASCIIDOC]},
	{0, "export-orgmode", "FILE", "write an Org mode table", NULL, &O.exports[EXPORT_ORGMODE]},
	EXPORT_METRICS_OPTION(O.metric_exports),
	{0, "plot", "FILE", "draw the samples and the ratios: .png, .svg or .pdf", NULL, &O.plot},
	{0, "json", NULL, "print JSON instead of text", NULL, &O.json, .dash = true},
	{'v', "verbose", NULL, "print the reasons for discards and all statistics", NULL,
		&O.verbose, .text = true},
	{'q', "quiet", NULL, "no progress", NULL, &O.quiet},
	{0, "style", "STYLE", "auto, basic, full, nocolor, color or none", parse_style, &O,
		.words = style_words},
	{0, "db", "FILE", "the lab book (default: EMP_DB, else the user's own)", NULL, &O.db,
		.group = "General"},
	{0, "ignore-lock", NULL, "measure although another tool measures or calibrates", NULL,
		&O.ignore_lock},
	{0, "study-block", "N", "how emp-study says what the run is for", parse_study_block,
		&O.study_block, .hidden = true},
	{0, "anyway", NULL, "old name of --ignore-lock", NULL, &O.ignore_lock, .hidden = true},
	{},
};
