/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command-line tool as tables of verbs and options: see tool.h.
 *
 * getopt_long does the parsing; its tables are built from the rows. Options may stand before or
 * after the verb, and "--" or the first operand of a command to run ends them. */
#include "lib/base/tool.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_OPTIONS = 96, FIRST_LONG = 256, OPTION_HELP = 1000, OPTION_VERSION };

int option_count(const char *value, const char *name, void *into, struct error *err)
{
	int64_t n;
	int r = text_parse_int(value, name, 1, INT32_MAX, &n, err);

	if (r == 0)
		*(int *)into = (int)n;
	return r;
}

int option_count0(const char *value, const char *name, void *into, struct error *err)
{
	int64_t n;
	int r = text_parse_int(value, name, 0, INT32_MAX, &n, err);

	if (r == 0)
		*(int *)into = (int)n;
	return r;
}

int option_duration(const char *value, const char *name, void *into, struct error *err)
{
	return text_parse_duration(value, name, into, err);
}

int option_percent(const char *value, const char *name, void *into, struct error *err)
{
	char *end;
	double percent = strtod(value, &end);

	if (end == value || (*end && strcmp(end, "%")) || !isfinite(percent) || percent < 0)
		return error_say(
			err, -EINVAL, "%s must be a percentage such as 2 or 0.5, not '%s'", name, value);
	*(double *)into = percent;
	return 0;
}

int option_append(const char *value, const char *name, void *into, struct error *err)
{
	struct option_list *list = into;
	const char **items = reallocarray(list->items, list->n + 1, sizeof(*items));

	if (!items)
		return error_os(err, -ENOMEM, "cannot read %s", name);
	items[list->n++] = value;
	list->items = items;
	return 0;
}

static bool after_dashes;

bool tool_after_dashes(void)
{
	return after_dashes;
}

static void help_options(FILE *f, const struct option_row *options)
{
	for (const struct option_row *o = options; o && o->name; o++) {
		char left[64], letter[8] = "    ";

		if (o->hidden)
			continue;
		if (o->letter)
			snprintf(letter, sizeof(letter), "-%c, ", o->letter);
		snprintf(left, sizeof(left),
			o->optional ? "%s--%s[=%s]"
			: o->value  ? "%s--%s %s"
				    : "%s--%s%s",
			letter, o->name, o->value ?: "");
		if (strlen(left) > 26)
			fprintf(f, "  %s\n  %-26s %s\n", left, "", o->summary);
		else
			fprintf(f, "  %-26s %s\n", left, o->summary);
	}
}

static void help(FILE *f, const struct tool *tool, const struct verb *verb)
{
	bool verbs = tool->verbs[0].name;

	if (verb)
		fprintf(f, "Usage: %s%s%s [OPTION...]%s%s\n%s\n", tool->name, verbs ? " " : "",
			verb->name ?: "", verb->args ? " " : "", verb->args ?: "",
			verbs ? verb->summary : tool->summary);
	else
		fprintf(f, "Usage: %s VERB [OPTION...]\n%s\n", tool->name, tool->summary);
	if (verbs && !verb) {
		fprintf(f, "\nVerbs (\"%s VERB --help\" tells more):\n", tool->name);
		for (const struct verb *v = tool->verbs; v->name; v++) {
			char left[64];

			snprintf(left, sizeof(left), "%s%s%s", v->name, v->args ? " " : "", v->args ?: "");
			if (strlen(left) > 30)
				fprintf(f, "  %s\n  %-30s %s\n", left, "", v->summary);
			else
				fprintf(f, "  %-30s %s\n", left, v->summary);
		}
	}
	fprintf(f, "\nOptions:\n");
	if (verb)
		help_options(f, verb->options);
	help_options(f, tool->options);
	fprintf(f, "  %-26s %s\n  %-26s %s\n", "    --help", "show this", "    --version",
		"show the version");
	if (tool->notes && (!verb || !verbs))
		fprintf(f, "\n%s", tool->notes);
	fprintf(f, "\n\"man %s\" tells the rest.\n", tool->name);
}

/* The rows known at this point, as getopt_long wants them. */
struct parser {
	const struct option_row *rows[MAX_OPTIONS];
	struct option longs[MAX_OPTIONS + 3];
	char shorts[2 * MAX_OPTIONS + 3];
	int n;
};

static void parser_add(struct parser *p, const struct option_row *options)
{
	for (const struct option_row *o = options; o && o->name && p->n < MAX_OPTIONS; o++) {
		char letter[3] = {o->letter, o->value && !o->optional ? ':' : '\0', '\0'};
		int argument = o->optional ? optional_argument : o->value ? required_argument : no_argument;

		p->longs[p->n] = (struct option){o->name, argument, NULL, FIRST_LONG + p->n};
		p->rows[p->n++] = o;
		if (o->letter)
			strcat(p->shorts, letter);
	}
}

static const struct option_row *parser_row(const struct parser *p, int c)
{
	if (c >= FIRST_LONG && c < FIRST_LONG + p->n)
		return p->rows[c - FIRST_LONG];
	for (int i = 0; i < p->n; i++)
		if (p->rows[i]->letter == c)
			return p->rows[i];
	return NULL;
}

/* The values behind the first, which getopt has taken: they stand at argv[optind]. */
static int take_many(const struct option_row *row, int argc, char **argv, const char *name, struct error *err)
{
	char **values = argv + optind - 1;

	if (optind + row->n_values - 1 > argc)
		return error_say(
			err, -EINVAL, "option '%s' needs %d values: %s", name, row->n_values, row->value);
	optind += row->n_values - 1;
	return row->parse_many(values, name, row->into, err);
}

static int take_option(const struct option_row *row, int argc, char **argv, struct error *err)
{
	char name[64];

	if (!row->value) {
		*(bool *)row->into = true;
		return 0;
	}
	if (!row->parse && !row->parse_many) {
		*(const char **)row->into = optarg;
		return 0;
	}
	snprintf(name, sizeof(name), "--%s", row->name);
	if (row->n_values > 1)
		return take_many(row, argc, argv, name, err);
	return row->parse(optarg, name, row->into, err);
}

/* `typed` is where getopt stands: behind a letter, which optopt has, that is not always the word it is in. */
static int unknown_option(
	const struct tool *tool, const struct verb *verb, const char *typed, struct error *err)
{
	const char letter[3] = {'-', (char)optopt, '\0'};
	bool is_letter = optopt > 0 && optopt < FIRST_LONG && strncmp(typed, "--", 2);

	return error_say(err, -EINVAL, "option '%s' is not known here; see '%s%s%s --help'",
		is_letter ? letter : typed, tool->name, verb && verb->name ? " " : "",
		verb && verb->name ? verb->name : "");
}

/* Options of the tool and of `verb`. 0: go on at argv[optind]; 1: help or version was shown. */
static int parse_options(
	const struct tool *tool, const struct verb *verb, int argc, char **argv, struct error *err)
{
	/* without verbs, options may follow operands; behind a verb that is parse_rest's work */
	struct parser p = {.shorts = ":"};
	int c;

	if (tool->verbs[0].name)
		strcpy(p.shorts, "+:");
	parser_add(&p, tool->options);
	parser_add(&p, verb ? verb->options : NULL);
	p.longs[p.n] = (struct option){"help", no_argument, NULL, OPTION_HELP};
	p.longs[p.n + 1] = (struct option){"version", no_argument, NULL, OPTION_VERSION};
	opterr = 0;
	while ((c = getopt_long(argc, argv, p.shorts, p.longs, NULL)) >= 0) {
		const struct option_row *row = parser_row(&p, c);
		int r;

		if (c == OPTION_HELP) {
			help(stdout, tool, verb);
			return 1;
		}
		if (c == OPTION_VERSION) {
			printf("%s %s\n", tool->name, EMP_VERSION);
			return 1;
		}
		if (c == ':')
			return error_say(err, -EINVAL, "option '%s' needs a value; see '%s --help'",
				argv[optind - 1], tool->name);
		if (!row)
			return unknown_option(tool, verb, argv[optind - 1], err);
		r = take_option(row, argc, argv, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* For a verb, options may also follow operands: "list RUN --json". What stays is moved to the front. */
static int parse_rest(const struct tool *tool, const struct verb *verb, int argc, char **argv, int *ret_n,
	struct error *err)
{
	int n = 0, i = 0;

	while (i < argc) {
		bool ended;
		int r;

		optind = 0; /* glibc: start anew, argv[0] is not an option */
		r = parse_options(tool, verb, argc - i + 1, argv + i - 1, err);
		if (r != 0)
			return r;
		ended = optind > 1 && !strcmp(argv[i + optind - 2], "--");
		i += optind - 1;
		while (i < argc && (ended || argv[i][0] != '-' || !argv[i][1])) {
			argv[n++] = argv[i++];
			if (!ended)
				break;
		}
	}
	*ret_n = n;
	return 0;
}

static const struct verb *find_verb(const struct tool *tool, const char *name, struct error *err)
{
	const struct verb *found = NULL;

	for (const struct verb *v = tool->verbs; v->name; v++)
		if (!strcmp(v->name, name))
			return v;
	error_say(err, -EINVAL, "there is no '%s'; '%s --help' lists the verbs", name, tool->name);
	return found;
}

static int check_operands(
	const struct tool *tool, const struct verb *verb, int n, char **argv, struct error *err)
{
	const char *space = verb->name ? " " : "", *name = verb->name ?: "";

	if (n < verb->min_args)
		return error_say(err, -EINVAL, "too few arguments; usage: %s%s%s [OPTION...]%s%s", tool->name,
			space, name, verb->args ? " " : "", verb->args ?: "");
	if (verb->max_args >= 0 && n > verb->max_args)
		return error_say(err, -EINVAL, "'%s' is one argument too many; usage: %s%s%s [OPTION...]%s%s",
			argv[verb->max_args], tool->name, space, name, verb->args ? " " : "",
			verb->args ?: "");
	return 0;
}

/* getopt moves operands that stand before "--" behind it, where they would be part of the command. `typed` is
 * argv as it was. */
static int check_dashes(char *const *typed, int argc, char *const *argv, struct error *err)
{
	int at = 0;

	while (at < argc && typed[at] != argv[optind - 1])
		at++;
	if (argc - optind <= argc - at - 1)
		return 0;
	return error_say(err, -EINVAL,
		"'%s' stands before --, behind which everything is one command: leave -- out, and quote each command line",
		argv[optind]);
}

static int dispatch(const struct tool *tool, int argc, char **argv, struct error *err)
{
	const struct verb *verb = tool->verbs[0].name ? NULL : tool->verbs;
	_cleanup_(freep) char **typed = calloc((size_t)argc + 1, sizeof(*typed));
	int n, r;

	if (!typed)
		return error_os(err, -ENOMEM, "cannot read the arguments");
	memcpy(typed, argv, (size_t)argc * sizeof(*typed));
	r = parse_options(tool, verb, argc, argv, err);
	if (r != 0)
		return r < 0 ? r : 0;
	after_dashes = optind > 1 && !strcmp(argv[optind - 1], "--");
	r = after_dashes && verb ? check_dashes(typed, argc, argv, err) : 0;
	if (r < 0)
		return r;
	argc -= optind;
	argv += optind;
	if (!verb) {
		if (argc == 0)
			return error_say(
				err, -EINVAL, "say what to do; '%s --help' lists the verbs", tool->name);
		verb = find_verb(tool, argv[0], err);
		if (!verb)
			return -EINVAL;
		argc--;
		argv++;
		r = parse_rest(tool, verb, argc, argv, &n, err);
		if (r != 0)
			return r < 0 ? r : 0;
		argc = n;
	}
	r = check_operands(tool, verb, argc, argv, err);
	if (r < 0)
		return r;
	return verb->run(argc, argv, err);
}

/* A standard descriptor that the caller closed would become one of ours (a book, a signalfd), and be written
 * to. /dev/null the wrong way round holds its place: to use it still is an error. */
static void hold_standard_places(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int tool_main(const struct tool *tool, int argc, char **argv)
{
	struct error err = {};
	int r;

	hold_standard_places();
	setlocale(LC_CTYPE, ""); /* tables know how wide letters are; numbers stay as they are in C */
	r = dispatch(tool, argc, argv, &err);
	if (fflush(stdout) != 0 && r >= 0)
		r = error_os(&err, -errno, "cannot write to standard output");
	else if (ferror(stdout) && r >= 0)
		r = error_os(&err, -EIO, "cannot write to standard output");
	if (r < 0 && !err.text[0])
		error_os(&err, r, "failed");
	if (err.text[0])
		fprintf(stderr, "%s: %s\n", tool->name, err.text);
	return r < 0 ? STATUS_ERROR : r;
}
