/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command-line tool as tables of verbs and options: see tool.h.
 *
 * getopt_long does the parsing; its tables are built from the rows. Options may come before or after the verb,
 * and "--" or the first operand of a command to run ends them. */
#include "lib/base/terminal.h"
#include "lib/base/xalloc.h"
#include "lib/base/tool.h"

#include "lib/base/cleanup.h"
#include "lib/base/nearest.h"
#include "lib/base/tool_help.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

enum { MAX_OPTIONS = 96, FIRST_LONG = 256, OPTION_HELP = 1000, OPTION_VERSION };

/* The part of the command line that has been read. */
struct command_line {
	const struct tool *tool;
	const struct verb *verb;                     /* NULL: not known yet */
	const struct option_row *given[MAX_OPTIONS]; /* options with one value that were given */
	size_t n_given;
};

static bool after_dashes;

bool tool_after_dashes(void)
{
	return after_dashes;
}

/* The rows known at this point, as getopt_long wants them. */
struct parser {
	const struct option_row *rows[MAX_OPTIONS];
	struct option longs[MAX_OPTIONS + 3];
	char shorts[2 * MAX_OPTIONS + 5];
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

/* An option with one value may be given once: which of two was meant cannot be known. */
static int check_given(struct command_line *line, const struct option_row *row, struct error *err)
{
	if (option_is_list(row))
		return 0;
	for (size_t i = 0; i < line->n_given; i++)
		if (line->given[i] == row)
			return error_say(err, -EINVAL, "option '--%s' is given twice", row->name);
	line->given[line->n_given++] = row;
	return 0;
}

/* The values after the first, which getopt has taken, begin at argv[optind]. */
static int take_many(const struct option_row *row, int argc, char **argv, const char *name, struct error *err)
{
	char **values = argv + optind - 1;

	if (optind + row->n_values - 1 > argc)
		return error_say(
			err, -EINVAL, "option '%s' needs %d values: %s", name, row->n_values, row->value);
	optind += row->n_values - 1;
	return row->parse_many(values, name, row->into, err);
}

static int take_option(
	struct command_line *line, const struct option_row *row, int argc, char **argv, struct error *err)
{
	char name[64];
	int r = check_given(line, row, err);

	if (r < 0)
		return r;
	if (!row->value) {
		*(bool *)row->into = true;
		if (row->dash && optind < argc && !strcmp(argv[optind], "-") &&
			!(line->verb && line->verb->reads_stdin))
			optind++;
		return 0;
	}
	snprintf(name, sizeof(name), "--%s", row->name);
	if (row->n_values > 1)
		return take_many(row, argc, argv, name, err);
	if (row->parse)
		return row->parse(optarg, name, row->into, err);
	*(const char **)row->into = optarg;
	return 0;
}

/* `typed` is the word that getopt reads. For an unknown letter (in optopt) getopt may be one word ahead. */
static int unknown_option(
	const struct command_line *line, const struct parser *p, const char *typed, struct error *err)
{
	const char letter[3] = {'-', (char)optopt, '\0'};
	bool is_letter = optopt > 0 && optopt < FIRST_LONG && strncmp(typed, "--", 2);
	const char *verb = line->verb && line->verb->name ? line->verb->name : "";
	_cleanup_(freep) char *name = is_letter ? NULL : xstrndup(typed + 2, strcspn(typed + 2, "="));
	struct nearest nearest = {.typed = name};

	for (int i = 0; name && p->longs[i].name; i++)
		if (i >= p->n || !p->rows[i]->hidden)
			nearest_try(&nearest, p->longs[i].name);
	return error_say(err, -EINVAL, "unknown option '%s'%s; see '%s%s%s --help'", is_letter ? letter : typed,
		nearest_hint(&nearest, "--"), line->tool->name, *verb ? " " : "", verb);
}

static void parser_begin(struct parser *p, const struct command_line *line)
{
	/* without verbs, options may follow operands; with one that is parse_rest's work */
	*p = (struct parser){.shorts = ":"};
	if (line->tool->verbs[0].name)
		strcpy(p->shorts, "+:");
	parser_add(p, line->tool->options);
	parser_add(p, line->verb ? line->verb->options : NULL);
	p->longs[p->n] = (struct option){"help", no_argument, NULL, OPTION_HELP};
	p->longs[p->n + 1] = (struct option){"version", no_argument, NULL, OPTION_VERSION};
	strcat(p->shorts, "hV"); /* a row that has the letter comes first */
}

/* 1: help or version was shown. */
static int show_help(const struct command_line *line, const struct option_row *row, int c)
{
	if (c == OPTION_HELP || (c == 'h' && !row)) {
		tool_help(stdout, line->tool, line->verb);
		return 1;
	}
	if (c == OPTION_VERSION || (c == 'V' && !row)) {
		printf("%s %s\n", line->tool->name, EMP_VERSION);
		return 1;
	}
	return 0;
}

/* Options of the tool and of the verb. 0: go on at argv[optind]; 1: help or version was shown. */
static int parse_options(struct command_line *line, int argc, char **argv, struct error *err)
{
	struct parser p;
	int c, r = 0;

	parser_begin(&p, line);
	opterr = 0;
	optind = 0; /* glibc: start anew, argv[0] is not an option */
	while (r == 0 && (c = getopt_long(argc, argv, p.shorts, p.longs, NULL)) >= 0) {
		const struct option_row *row = parser_row(&p, c);

		if (c == ':')
			return error_say(err, -EINVAL, "option '%s' needs a value; see '%s --help'",
				argv[optind - 1], line->tool->name);
		r = show_help(line, row, c);
		if (r == 0)
			r = row ? take_option(line, row, argc, argv, err)
				: unknown_option(line, &p, argv[optind - 1], err);
	}
	return r;
}

/* For a verb, options may also follow operands: "list RUN --json". What stays is moved to the front. */
static int parse_rest(struct command_line *line, int argc, char **argv, int *ret_n, struct error *err)
{
	int n = 0, i = 0;

	while (i < argc) {
		int r = parse_options(line, argc - i + 1, argv + i - 1, err);
		bool ended;

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

static int find_verb(struct command_line *line, const char *name, struct error *err)
{
	struct nearest nearest = {.typed = name};

	for (const struct verb *v = line->tool->verbs; v->name; v++) {
		if (!strcmp(v->name, name)) {
			line->verb = v;
			return 0;
		}
		nearest_try(&nearest, v->name);
	}
	return error_say(err, -EINVAL, "unknown verb '%s'%s; '%s --help' lists the verbs", name,
		nearest_hint(&nearest, ""), line->tool->name);
}

static int check_operands(const struct command_line *line, int n, char **argv, struct error *err)
{
	const struct verb *verb = line->verb;
	_cleanup_(freep) char *usage = tool_usage(line->tool, verb);

	if (n < verb->min_args)
		return error_say(err, -EINVAL, "too few arguments; usage: %s", usage ?: line->tool->name);
	if (verb->max_args >= 0 && n > verb->max_args)
		return error_say(err, -EINVAL, "'%s' is one argument too many; usage: %s",
			argv[verb->max_args], usage ?: line->tool->name);
	return 0;
}

/* getopt moves operands that come before "--" after it, where they would be part of the command. `typed` is argv
 * as it was. */
static int check_dashes(char *const *typed, int argc, char *const *argv, struct error *err)
{
	int at = 0;

	while (at < argc && typed[at] != argv[optind - 1])
		at++;
	if (argc - optind <= argc - at - 1)
		return 0;
	return error_say(err, -EINVAL,
		"'%s' comes before --, but everything after -- is one command: omit --, and quote each command line",
		argv[optind]);
}

/* argv[0] is the verb. */
static int run_verb(struct command_line *line, int argc, char **argv, struct error *err)
{
	int n, r;

	if (argc == 0)
		return error_say(
			err, -EINVAL, "no verb given; '%s --help' lists the verbs", line->tool->name);
	r = find_verb(line, argv[0], err);
	if (r == 0)
		r = parse_rest(line, argc - 1, argv + 1, &n, err);
	if (r == 0)
		r = check_operands(line, n, argv + 1, err);
	if (r != 0)
		return r < 0 ? r : 0;
	return line->verb->run(n, argv + 1, err);
}

static int dispatch(const struct tool *tool, int argc, char **argv, struct error *err)
{
	bool verbs = tool->verbs[0].name;
	struct command_line line = {.tool = tool, .verb = verbs ? NULL : tool->verbs};
	_cleanup_(freep) char **typed = xcalloc((size_t)argc + 1, sizeof(*typed));
	int r;

	memcpy(typed, argv, (size_t)argc * sizeof(*typed));
	r = parse_options(&line, argc, argv, err);
	if (r != 0)
		return r < 0 ? r : 0;
	after_dashes = optind > 1 && !strcmp(argv[optind - 1], "--");
	if (verbs)
		return run_verb(&line, argc - optind, argv + optind, err);
	r = after_dashes ? check_dashes(typed, argc, argv, err) : 0;
	if (r == 0)
		r = check_operands(&line, argc - optind, argv + optind, err);
	return r < 0 ? r : line.verb->run(argc - optind, argv + optind, err);
}

/* If the caller closed a standard descriptor, a file opened later (a book, a signalfd) would get its number and be
 * written to. So /dev/null takes the number, opened for the wrong direction: using it is still an error. */
static void hold_standard_places(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static void print_error(const struct tool *tool, struct error *err)
{
	char *lines = err->lines;

	fprintf(stderr, "%s: %s\n", tool->name, terminal_text(err->text));
	while (lines && *lines)
		fprintf(stderr, "  %s\n", terminal_text(strsep(&lines, "\n")));
}

void tool_notice(const char *sentence)
{
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, terminal_text(sentence));
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
		print_error(tool, &err);
	return r < 0 ? STATUS_ERROR : r;
}
