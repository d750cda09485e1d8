/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command-line tool as tables of verbs and options: see tool.h.
 *
 * getopt_long does the parsing; its tables are built from the rows. Options may come before or
 * after the verb, and "--" or the first operand of a command to run ends them. */
#include "lib/base/tool.h"

#include "lib/base/argv.h"
#include "lib/base/charset.h"
#include "lib/base/terminal.h"

#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <sys/param.h>

/* "Did you mean": which of the known words a mistyped one is most like. */

enum { LONGEST = 32 };

/* How many characters must be inserted, deleted, replaced or exchanged with their neighbour
 * (optimal string alignment). Both have at most LONGEST. */
static size_t count_edits(const char *typed, const char *word)
{
	size_t n = strlen(typed), m = strlen(word), d[LONGEST + 1][LONGEST + 1];

	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k <= m; k++) {
			d[i][k] = i + k;
			if (i == 0 || k == 0)
				continue;
			d[i][k] = MIN(d[i - 1][k], d[i][k - 1]) + 1;
			d[i][k] = MIN(d[i][k], d[i - 1][k - 1] + (typed[i - 1] != word[k - 1]));
			if (i > 1 && k > 1 && typed[i - 1] == word[k - 2] &&
				typed[i - 2] == word[k - 1])
				d[i][k] = MIN(d[i][k], d[i - 2][k - 2] + 1);
		}
	return d[n][m];
}

void nearest_try(struct nearest *nearest, const char *word)
{
	size_t n = strlen(nearest->typed), edits = LONGEST;

	if (n >= 3 && !strncmp(nearest->typed, word, n)) /* its beginning */
		edits = 1;
	else if (n <= LONGEST && strlen(word) <= LONGEST)
		edits = count_edits(nearest->typed, word);
	if (edits <= (n + 1) / 3 && (!nearest->found || edits < nearest->edits)) {
		nearest->found = word;
		nearest->edits = edits;
	}
}

/* A command-line option as a row of a table, and the kinds of values that options take. */

/* "auto, bpf or none"; the caller frees it. */
static char *choices_text(const char *const *choices)
{
	char *all = NULL;

	for (int i = 0; choices[i]; i++)
		text_append(&all, choices[i + 1] ? ", " : " or ", "%s", choices[i]);
	return all;
}

int option_choice(const char *value, const char *name, const char *const *choices, int *ret,
	struct error *err)
{
	_cleanup_(freep) char *all = choices_text(choices);
	struct nearest nearest = {.typed = value};

	for (int i = 0; choices[i]; i++) {
		if (!strcmp(value, choices[i])) {
			*ret = i;
			return 0;
		}
		nearest_try(&nearest, choices[i]);
	}
	return error_say(err, -EINVAL, "%s must be %s, not '%s'%s", name, all, value,
		nearest_hint(&nearest, ""));
}

static int option_whole(
	const char *value, const char *name, int least, int *into, struct error *err)
{
	int64_t n = 0;
	int r = text_parse_int(value, name, least, INT32_MAX, &n, err);

	if (r == 0)
		*into = (int)n;
	return r;
}

int option_count(const char *value, const char *name, void *into, struct error *err)
{
	return option_whole(value, name, 1, into, err);
}

int option_count0(const char *value, const char *name, void *into, struct error *err)
{
	return option_whole(value, name, 0, into, err);
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
		return error_say(err, -EINVAL, "%s must be a percentage such as 2 or 0.5, not '%s'",
			name, value);
	*(double *)into = percent;
	return 0;
}

int option_limit(const char *value, const char *name, void *into, struct error *err)
{
	double percent;
	int r = option_percent(value, name, &percent, err);

	if (r == 0 && !(percent > 0 && percent <= 100))
		return error_say(err, -EINVAL, "%s must be above 0 and at most 100 %%, not '%s'",
			name, value);
	if (r == 0)
		*(double *)into = percent;
	return r;
}

int option_share(const char *value, const char *name, void *into, struct error *err)
{
	double percent;
	int r = option_percent(value, name, &percent, err);

	if (r == 0 && percent > 100)
		return error_say(err, -EINVAL, "%s must be at most 100 %%, not '%s'", name, value);
	if (r == 0)
		*(int64_t *)into = llround(percent * 1e4);
	return r;
}

int option_append(const char *value, const char *name, void *into, struct error *err)
{
	struct option_list *list = into;
	const char **item = array_add(list->items, list->n);

	*item = value;
	return 0;
}

int option_check_rules(const struct option_rule *rules, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].broken)
			return error_say(err, -EINVAL, "%s", rules[i].sentence);
	return 0;
}

/* What --help prints: made from the rows of verbs and options, wrapped to the terminal and to 80
 * columns. */

enum {
	LEFT = 26,
	INDENT = LEFT + 3,
	MAX_OPTIONS = 96,
	FIRST_LONG = 256,
	OPTION_HELP = 1000,
	OPTION_VERSION
};

/* "  LEFT                      summary" */
static void help_row(FILE *file, const char *left, const char *summary)
{
	if (strlen(left) > LEFT)
		fprintf(file, "  %s\n%*s", left, INDENT, "");
	else
		fprintf(file, "  %-*s ", LEFT, left);
	terminal_wrap(file, summary, INDENT, INDENT);
}

static void help_option(FILE *file, const char *left, const struct option_row *o)
{
	bool list = o->choices && o->summary[strlen(o->summary) - 1] == ':';
	_cleanup_(freep) char *all = list ? choices_text(o->choices) : NULL;
	_cleanup_(freep) char *summary = text_format(
		"%s%s%s", o->summary, list ? " " : "", all ?: "");

	help_row(file, left, summary);
}

/* "emp-analyze show [OPTION...] RUN"; the caller frees it. */
static char *tool_usage(const struct tool *tool, const struct verb *verb)
{
	if (!verb)
		return text_format("%s VERB [OPTION...]", tool->name);
	return text_format("%s%s%s [OPTION...]%s%s", tool->name, verb->name ? " " : "",
		verb->name ?: "", verb->args ? " " : "", verb->args ?: "");
}

bool verb_lacks(const struct verb *verb, const char *option)
{
	const char *words = verb ? verb->without : NULL;
	size_t n;

	for (; words && *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (n == strlen(option) && !strncmp(words, option, n))
			return true;
	}
	return false;
}

static void help_verbs(FILE *file, const struct tool *tool)
{
	fprintf(file, "\nVerbs (\"%s VERB --help\" describes one):\n", tool->name);
	for (size_t i = 0; tool->verbs[i]; i++) {
		const struct verb *row = tool->verbs[i];
		_cleanup_(freep) char *left = text_format(
			"%s%s%s", row->name, row->args ? " " : "", row->args ?: "");

		help_row(file, left, row->summary);
	}
}

/* "-n, --runs N"; the caller frees it. */
static char *option_text(const struct option_row *o)
{
	const char *letter = o->letter ? text_brief("-%c, ", o->letter) : "    ";

	if (!o->value)
		return text_format("%s--%s", letter, o->name);
	if (o->optional)
		return text_format("%s--%s[=%s]", letter, o->name, o->value);
	return text_format("%s--%s %s", letter, o->name, o->value);
}

/* verb NULL: the tool as a whole. */
static void tool_help(FILE *file, const struct tool *tool, const struct verb *verb)
{
	const struct option_row *tables[] = {verb ? verb->options : NULL, tool->options};
	_cleanup_(freep) char *usage = tool_usage(tool, verb);
	char letters[2 * MAX_OPTIONS + 1] = "";

	fputs("Usage: ", file);
	terminal_wrap(file, usage, 7, 7);
	terminal_wrap(file, verb && verb->name ? verb->summary : tool->summary, 0, 0);
	if (!verb)
		help_verbs(file, tool);
	if (!verb || !verb->options || !verb->options->group)
		fprintf(file, "\nOptions:\n");

	for (size_t t = 0; t < ELEMENTS(tables); t++)
		for (const struct option_row *o = tables[t]; o && o->name; o++) {
			_cleanup_(freep) char *left = option_text(o);

			strncat(letters, &o->letter, 1);
			if (o->hidden || (t == 1 && verb_lacks(verb, o->name)))
				continue;
			if (o->group)
				fprintf(file, "\n%s:\n", o->group);
			help_option(file, left, o);
		}
	help_row(file, strchr(letters, 'h') ? "    --help" : "-h, --help", "show this help");
	help_row(
		file, strchr(letters, 'V') ? "    --version" : "-V, --version", "show the version");

	if (tool->notes && (!verb || !verb->name))
		fprintf(file, "\n%s", tool->notes);
	fprintf(file, "\n\"man %s\" has the details.\n", tool->name);
}

/* The part of the command line that has been read. */
struct command_line {
	const struct tool *tool;
	const struct verb *verb;                     /* NULL: not known yet */
	const struct option_row *given[MAX_OPTIONS]; /* the options that were given, once each */
	size_t n_given;
	char **operands; /* of a verb */
	int n_operands;
	/* If the first operand is a plain word, which may be a program: the command line with "--"
	 * before it; otherwise NULL. */
	char *dashed;
	/* The first option after that operand, if it may be the tool's or the program's; otherwise
	 * NULL. */
	const char *doubtful;
};

bool tool_after_dashes;

/* The rows known at this point, as getopt_long wants them. */
struct parser {
	const struct option_row *rows[MAX_OPTIONS];
	struct option long_options[MAX_OPTIONS + 3];
	char shorts[2 * MAX_OPTIONS + 5];
	int n;
};

/* Whether the option takes a value, in the words of getopt_long. */
static int option_argument(const struct option_row *o)
{
	if (o->optional)
		return optional_argument;
	return o->value ? required_argument : no_argument;
}

/* Adds the rows of a table; NULL: there are none. */
static void parser_add(struct parser *p, const struct option_row *table)
{
	for (const struct option_row *o = table; o && o->name && p->n < MAX_OPTIONS; o++) {
		int argument = option_argument(o);
		char letter[3] = {o->letter, argument == required_argument ? ':' : '\0', '\0'};

		p->long_options[p->n] = (struct option){o->name, argument, NULL, FIRST_LONG + p->n};
		p->rows[p->n++] = o;
		if (o->letter)
			strcat(p->shorts, letter);
	}
}

/* The row of what getopt_long returned; NULL: there is none. */
static const struct option_row *parser_find(const struct parser *p, int c)
{
	for (int i = 0; i < p->n; i++)
		if (c == FIRST_LONG + i || c == p->rows[i]->letter)
			return p->rows[i];
	return NULL;
}

/* Reads the values of an option that takes several. getopt has taken the first one; the others
 * begin at argv[optind]. */
static int take_values(
	const struct option_row *row, const char *name, int argc, char **argv, struct error *err)
{
	char **values = argv + optind - 1;

	if (optind + row->n_values - 1 > argc)
		return error_say(err, -EINVAL, "option '%s' needs %d values: %s", name,
			row->n_values, row->value);
	optind += row->n_values - 1;
	return row->parse_many(values, name, row->into, err);
}

static int take_option(struct command_line *line, const struct option_row *row, int argc,
	char **argv, struct error *err)
{
	bool many = !row->value || row->parse == option_append || row->parse_many, again = false;
	char name[64];

	for (size_t i = 0; i < line->n_given; i++)
		again |= line->given[i] == row;
	/* an option with one value may be given once: which of two was meant cannot be known */
	if (again && !many)
		return error_say(err, -EINVAL, "option '--%s' is given twice", row->name);
	if (!again)
		line->given[line->n_given++] = row;

	if (row->operand) {
		line->operands[line->n_operands++] = (char *)row->operand;
		return 0;
	}
	if (!row->value) {
		*(bool *)row->into = true;
		if (row->dash && optind < argc && !strcmp(argv[optind], "-") &&
			!(line->verb && line->verb->reads_stdin))
			optind++;
		return 0;
	}
	snprintf(name, sizeof(name), "--%s", row->name);
	if (row->n_values > 1)
		return take_values(row, name, argc, argv, err);
	if (row->choices)
		return option_choice(optarg, name, row->choices, row->into, err);
	if (row->parse)
		return row->parse(optarg, name, row->into, err);
	*(const char **)row->into = optarg;
	return 0;
}

/* Its operands are a command, with options of its own. */
static bool takes_command(const struct tool *tool)
{
	const struct verb *first = tool->verbs[0];

	return !first->name && !strncmp(first->args ?: "", "-- ", 3);
}

/* `typed` is the word that getopt reads. For an unknown letter (in optopt) getopt may be one word
 * ahead. */
static int unknown_option(const struct command_line *line, const struct parser *p,
	const char *typed, struct error *err)
{
	const char letter[3] = {'-', (char)optopt, '\0'};
	bool is_letter = optopt > 0 && optopt < FIRST_LONG && strncmp(typed, "--", 2);
	const char *verb = line->verb && line->verb->name ? line->verb->name : "";
	_cleanup_(freep) char *name = is_letter ? NULL
						: xstrndup(typed + 2, strcspn(typed + 2, "="));
	struct nearest nearest = {.typed = name};
	const char *hint = "";

	for (int i = 0; name && p->long_options[i].name; i++)
		if (i >= p->n || !p->rows[i]->hidden)
			nearest_try(&nearest, p->long_options[i].name);
	if (line->dashed)
		return error_say(err, -EINVAL, "unknown option '%s'%s", is_letter ? letter : typed,
			nearest_hint(&nearest, "--"));
	if (!nearest.found && takes_command(line->tool))
		hint = "if it is the command's, put -- before the command; ";
	return error_say(err, -EINVAL, "unknown option '%s'%s; %ssee '%s%s%s --help'",
		is_letter ? letter : typed, nearest_hint(&nearest, "--"), hint, line->tool->name,
		*verb ? " " : "", verb);
}

/* Says how a command is typed whose option was taken for the tool's. */
static int hint_at_dashes(const struct command_line *line, int r, struct error *err)
{
	struct error said = *err;

	if (r >= 0 || !line->dashed)
		return r;
	error_say(err, r, "%s; if it is the command's, put -- before the command:", said.text);
	snprintf(err->lines, sizeof(err->lines), "%s", line->dashed);
	return r;
}

/* Options of the tool and of the verb; `all`: also those after operands. 0: go on at argv[optind];
 * 1: help or version was shown. */
static int parse_options(
	struct command_line *line, bool all, int argc, char **argv, struct error *err)
{
	struct parser p = {};
	int c, r = 0;

	strcpy(p.shorts, all ? ":" : "+:");
	parser_add(&p, line->tool->options);
	if (line->verb)
		parser_add(&p, line->verb->options);
	p.long_options[p.n] = (struct option){"help", no_argument, NULL, OPTION_HELP};
	p.long_options[p.n + 1] = (struct option){"version", no_argument, NULL, OPTION_VERSION};
	strcat(p.shorts, "hV"); /* a row that has the letter comes first */

	opterr = 0;
	optind = 0; /* glibc: start anew, argv[0] is not an option */
	while (r == 0 && (c = getopt_long(argc, argv, p.shorts, p.long_options, NULL)) >= 0) {
		const struct option_row *row = parser_find(&p, c);

		if (line->doubtful && c != '?')
			r = error_say(err, -EINVAL,
				"options of %s come before the command, and '%s' is after it",
				line->tool->name, line->doubtful);
		else if (c == ':')
			r = error_say(err, -EINVAL, "option '%s' needs a value; see '%s --help'",
				argv[optind - 1], line->tool->name);
		if (r < 0)
			break;
		if (c == OPTION_HELP || (c == 'h' && !row)) {
			tool_help(stdout, line->tool, line->verb);
			return 1;
		}
		if (c == OPTION_VERSION || (c == 'V' && !row)) {
			printf("%s %s\n", line->tool->name, EMP_VERSION);
			return 1;
		}
		if (row)
			r = take_option(line, row, argc, argv, err);
		else
			r = unknown_option(line, &p, argv[optind - 1], err);
	}
	return hint_at_dashes(line, r, err);
}

/* Refuses options that would have no effect: those that the verb does not have, and those that
 * change the text beside --json. */
static int check_given(const struct command_line *line, struct error *err)
{
	const struct option_row *text = NULL;
	bool json = false;

	for (size_t i = 0; i < line->n_given; i++) {
		const struct option_row *row = line->given[i];

		if (verb_lacks(line->verb, row->name))
			return error_say(err, -EINVAL,
				"'%s %s' has no option '--%s'; see '%s %s --help'",
				line->tool->name, line->verb->name, row->name, line->tool->name,
				line->verb->name);
		text = row->text ? row : text;
		json |= !strcmp(row->name, "json");
	}
	if (!json || !text)
		return 0;
	return error_say(err, -EINVAL,
		"--%s changes the text, and --json prints none: use one of them", text->name);
}

/* Calls the verb with its operands, unless they are too few or too many. */
static int call_verb(const struct command_line *line, int n, char **argv, struct error *err)
{
	const struct verb *verb = line->verb;
	_cleanup_(freep) char *usage = tool_usage(line->tool, verb);
	int r;

	if (n < verb->min_args)
		return error_say(err, -EINVAL, "too few arguments; usage: %s", usage);
	if (verb->max_args >= 0 && n > verb->max_args)
		return error_say(err, -EINVAL, "'%s' is one argument too many; usage: %s",
			argv[verb->max_args], usage);
	r = check_given(line, err);
	return r < 0 ? r : verb->run(n, argv, err);
}

/* argv[0] is the verb. */
static int tool_run_verb(struct command_line *line, int argc, char **argv, struct error *err)
{
	struct nearest nearest = {.typed = argc > 0 ? argv[0] : ""};
	int i = 0, r;

	if (argc == 0)
		return error_say(err, -EINVAL, "no verb given; '%s --help' lists the verbs",
			line->tool->name);
	for (const struct verb *const *v = line->tool->verbs; *v && !line->verb; v++) {
		nearest_try(&nearest, (*v)->name);
		line->verb = strcmp((*v)->name, argv[0]) ? NULL : *v;
	}
	if (!line->verb)
		return error_say(err, -EINVAL, "unknown verb '%s'%s; '%s --help' lists the verbs",
			argv[0], nearest_hint(&nearest, ""), line->tool->name);
	argc--;
	argv++;
	/* options may also follow operands: "list RUN --json" */
	while (i < argc) {
		bool ended;

		r = parse_options(line, false, argc - i + 1, argv + i - 1, err);
		if (r != 0)
			return r < 0 ? r : 0;
		ended = optind > 1 && !strcmp(argv[i + optind - 2], "--");
		i += optind - 1;
		while (i < argc && (ended || argv[i][0] != '-' || !argv[i][1])) {
			line->operands[line->n_operands++] = argv[i++];
			if (!ended)
				break;
		}
	}
	return call_verb(line, line->n_operands, line->operands, err);
}

/* Options after operands, of a tool without verbs: argv[first] is the first operand. If that is a
 * plain word ("sort", but not "sort -n f"), it may be a program that is typed without "--". A
 * letter or a word right after it is then refused, since measuring another command than was meant
 * is worse. Nobody else has an option such as --export-json. */
static int parse_later_options(
	struct command_line *line, int first, int argc, char **argv, struct error *err)
{
	_cleanup_(argv_freep) char **typed = argv_copy(argv);
	_cleanup_(freep) char **words = xcalloc((size_t)argc + 2, sizeof(*words));
	_cleanup_(freep) char *dashed = NULL;
	const char *next = typed[first + 1];
	int r;

	words[0] = (char *)line->tool->name;
	memcpy(words + 1, typed + 1, (size_t)(first - 1) * sizeof(*words));
	words[first] = (char *)"--";
	memcpy(words + first + 1, typed + first, (size_t)(argc - first) * sizeof(*words));
	dashed = argv_join(words);
	if (takes_command(line->tool) && !strchr(typed[first], ' ')) {
		line->dashed = dashed;
		if (next && next[0] == '-' && next[1] && strcmp(next, "--") != 0 &&
			(next[1] != '-' || !memchr(next + 2, '-', strcspn(next + 2, "="))))
			line->doubtful = next;
	}
	r = parse_options(line, true, argc - first + 1, argv + first - 1, err);
	line->dashed = NULL;
	line->doubtful = NULL;
	optind += first - 1;
	return r;
}

static int tool_dispatch(const struct tool *tool, int argc, char **argv, struct error *err)
{
	bool verbs = tool->verbs[0]->name;
	struct command_line line = {.tool = tool, .verb = verbs ? NULL : tool->verbs[0]};
	_cleanup_(freep) char **typed = xcalloc((size_t)argc + 1, sizeof(*typed));
	_cleanup_(freep) char **operands = line.operands = xcalloc(
		(size_t)argc + 1, sizeof(*operands));
	int r, at = 0;

	if (argc == 2 && !strcmp(argv[1], "--dump-options"))
		return tool_dump_options(tool, err);
	memcpy(typed, argv, (size_t)argc * sizeof(*typed));
	r = parse_options(&line, false, argc, argv, err);
	tool_after_dashes = r == 0 && optind > 1 && !strcmp(argv[optind - 1], "--");
	if (r == 0 && !verbs && !tool_after_dashes && optind < argc) {
		r = parse_later_options(&line, optind, argc, argv, err);
		tool_after_dashes = !strcmp(argv[optind - 1], "--");
	}
	if (r != 0)
		return r < 0 ? r : 0;
	if (verbs)
		return tool_run_verb(&line, argc - optind, argv + optind, err);
	/* getopt moves operands that come before "--" after it, where they would be part of the
	 * command */
	while (tool_after_dashes && at < argc && typed[at] != argv[optind - 1])
		at++;
	if (tool_after_dashes && argc - optind > argc - at - 1)
		return error_say(err, -EINVAL,
			"'%s' comes before --, but everything after -- is one command: omit --, "
			"and quote each command line",
			argv[optind]);
	return call_verb(&line, argc - optind, argv + optind, err);
}

void tool_start(void)
{
	/* If the caller closed a standard descriptor, a file opened later (a book, a signalfd)
	 * would get its number and be written to. So /dev/null takes the number, opened for the
	 * wrong direction: using it is still an error. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	signal(SIGCHLD, SIG_DFL); /* while it is ignored, no child can be waited for */
}

/* Prints the sentence of a failure, and the lines that follow it. */
static void tool_say(const struct tool *tool, struct error *err)
{
	char *lines = err->lines;

	if (terminal_is(stderr))
		terminal_say(stderr, 2, "%s: %s", tool->name, err->text);
	else
		fprintf(stderr, "%s: %s\n", tool->name, terminal_text(err->text));
	while (lines && *lines)
		fprintf(stderr, "  %s\n", terminal_text(strsep(&lines, "\n")));
}

int tool_main(const struct tool *tool, int argc, char **argv)
{
	struct error err = {};
	int r, written;

	tool_start();
	charset_begin();
	r = tool_dispatch(tool, argc, argv, &err);
	written = stream_flush(stdout);
	if (written < 0 && r >= 0)
		r = error_os(&err, written, "cannot write to standard output");
	if (r < 0 && !err.text[0])
		error_os(&err, r, "failed");
	if (err.text[0])
		tool_say(tool, &err);
	if (r == -EINTR)
		return STATUS_INTERRUPTED;
	return r < 0 ? STATUS_ERROR : r;
}
