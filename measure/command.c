/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands to measure: see command.h. */
#include "measure/command.h"

#include "lib/base/argv.h"
#include "lib/base/charset.h"
#include "lib/host/process/subprocess.h"

enum { MAX_COMMANDS = 10000 };

void commands_clear(struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++) {
		struct command *c = &commands->items[i];

		free(c->name);
		free(c->text);
		argv_freep(&c->argv);
		free(c->path);
		free(c->setup);
		free(c->prepare);
		free(c->conclude);
		free(c->cleanup);
		argv_freep(&c->values);
		*c = (struct command){};
	}
	free(commands->items);
	*commands = (struct commands){};
}

/* A command line before its parameters are replaced, and its place among all lines and commands. */
struct line {
	const struct measure_options *options;
	size_t n_lines, n_commands; /* with the reference */
	const char *text;           /* NULL: `words` is the command */
	char *const *words;
	bool reference;
	size_t i;       /* of the line */
	size_t command; /* of the command */
};

/* The value of an option for a line: given once for all, for each line or for each command; NULL:
 * not given. */
static const char *pick(const struct line *l, const struct option_list *list)
{
	if (list->n <= 1)
		return list->n ? list->items[0] : NULL;
	return list->items[list->n == l->n_lines ? l->i : l->command];
}

/* `text` with the values of the command's parameters; NULL stays NULL. */
static char *fill_text(const struct line *l, const struct command *c, const char *text)
{
	return text && c->values ? parameters_replace(&l->options->parameters, c->values, text)
				 : text_copy(text);
}

/* Whether {NAME} stands in the line before parameters are replaced. */
static bool line_has_parameter(const struct line *l, const struct parameter *p)
{
	_cleanup_(freep) char *braced = text_format("{%s}", p->name);
	bool has = l->text && strstr(l->text, braced);

	for (char *const *w = l->words; !l->text && !has && *w; w++)
		has = strstr(*w, braced);
	return has;
}

/* "make (threads = 4)", as hyperfine has it: the name of a command whose line does not have all of
 * its parameters, because another option has them; NULL: it has. */
static char *name_with_parameters(const struct line *l, const struct command *c)
{
	const struct parameters *p = &l->options->parameters;
	char *name = NULL;

	for (size_t i = 0; c->values && i < p->n; i++)
		if (!line_has_parameter(l, &p->items[i]))
			text_append(&name, ", ", "%s = %s", p->items[i].name, c->values[i]);
	if (name) {
		_cleanup_(freep) char *values = name;

		name = text_format("%s (%s)", c->text, values);
	}
	return name;
}

/* Words that only a shell knows, beside its operators. */
static bool is_shells(const char *word)
{
	static const char *const words[] = {".", ":", "!", "[[", "{", "alias", "bg", "break",
		"builtin", "case", "cd", "command", "continue", "declare", "eval", "exec", "exit",
		"export", "fg", "for", "function", "getopts", "hash", "if", "jobs", "let", "local",
		"popd", "pushd", "read", "readonly", "return", "select", "set", "shift", "shopt",
		"source", "times", "trap", "type", "typeset", "ulimit", "umask", "unalias", "unset",
		"until", "wait", "while"};
	size_t name = strspn(
		word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

	for (size_t i = 0; i < ELEMENTS(words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return name > 0 && word[name] == '=' && (*word < '0' || *word > '9'); /* VARIABLE=VALUE */
}

/* What runs the command line: with --shell auto, a shell only if the line needs one. */
static int split_line(const struct measure_options *o, struct command *c, struct error *err)
{
	struct error said = {};
	int r = o->shell_words ? -ENOEXEC : argv_split(c->text, &c->argv, &said);

	if (r == 0 && is_shells(c->argv[0]) && executable_find(c->argv[0], &c->path, NULL) < 0)
		r = error_say(&said, -ENOEXEC, "'%s' needs a shell, in: %s", c->argv[0], c->text);
	freep(&c->path);
	if (r != -ENOEXEC)
		return r < 0 ? error_say(err, r, "%s", said.text) : 0;
	if (o->no_shell)
		return error_say(err, -EINVAL, "%s; there is none with -N", said.text);
	argv_freep(&c->argv);
	c->argv = argv_for_shell(o->shell_words, c->text);
	c->by_shell = true;
	return 0;
}

/* Parameters are replaced first, so that their values may be several words, or none. */
static int fill_command(const struct line *l, struct command *c, struct error *err)
{
	const struct measure_options *o = l->options;
	/* names are for the commands without the reference, and may be fewer */
	size_t reference = o->reference ? 1 : 0;
	size_t i_name = (o->names.n > l->n_lines - reference ? l->command : l->i) - reference;
	const char *given = i_name < o->names.n ? o->names.items[i_name] : NULL;
	const struct {
		const char *text;
		char **into;
	} texts[] = {
		{l->text, &c->text},
		{l->reference ? o->reference_name : given, &c->name},
		{o->setup, &c->setup},
		{pick(l, &o->prepare), &c->prepare},
		{pick(l, &o->conclude), &c->conclude},
		{o->cleanup, &c->cleanup},
	};
	_cleanup_(freep) char *typed = NULL;
	int r = 0;

	c->output = pick(l, &o->output);
	for (size_t i = 0; i < ELEMENTS(texts); i++)
		*texts[i].into = fill_text(l, c, texts[i].text);
	if (!l->text) {
		c->argv = argv_copy(l->words);
		for (char **w = c->argv; *w; w++) {
			_cleanup_(freep) char *word = *w;

			*w = fill_text(l, c, word);
		}
		c->text = argv_join(c->argv);
	} else {
		r = split_line(o, c, err);
	}
	c->name = c->name ?: name_with_parameters(l, c);
	c->named = c->name;
	typed = charset_decode(c->name ?: c->text);
	free(c->name);
	c->name = text_utf8(typed);
	if (r == 0)
		r = executable_find(c->argv[0], &c->path, err);
	if (r == -ENOENT && !l->text && is_shells(c->argv[0]))
		return error_say(err, -EINVAL,
			"'%s' needs a shell: omit --, and quote the command line: '%s'", c->argv[0],
			c->text);
	return r;
}

static int check_counts(
	const struct measure_options *o, size_t n_lines, size_t n_commands, struct error *err)
{
	size_t reference = o->reference ? 1 : 0, names = n_commands - reference;
	const struct {
		const char *name;
		size_t n;
	} lists[] = {{"--prepare", o->prepare.n}, {"--conclude", o->conclude.n},
		{"--output", o->output.n}};

	if (n_commands > MAX_COMMANDS)
		return error_say(
			err, -EINVAL, "the parameters make more than %d commands", MAX_COMMANDS);
	for (size_t i = 0; i < ELEMENTS(lists); i++)
		if (lists[i].n > 1 && lists[i].n != n_lines && lists[i].n != n_commands)
			return error_say(err, -EINVAL,
				"%s is given %zu times: give it once for all, or once for each of "
				"the %zu commands%s",
				lists[i].name, lists[i].n, n_commands,
				reference ? " (--reference is one)" : "");
	if (o->names.n > names || (o->names.n > n_lines - reference && o->names.n < names))
		return error_say(err, -EINVAL, "there are %zu names for %s", o->names.n,
			text_count(names, "command"));
	return 0;
}

int commands_make(const struct measure_options *o, int argc, char **argv, struct commands *ret,
	struct error *err)
{
	_cleanup_(commands_clear) struct commands commands = {};
	/* One word after "--" is a program, or else, as for hyperfine, a command line. */
	bool one = tool_after_dashes &&
		   (argc > 1 || (!o->shell_words &&
					(!strchr(argv[0], ' ') || access(argv[0], X_OK) == 0)));
	size_t reference = o->reference ? 1 : 0, typed = one ? 1 : (size_t)argc;
	size_t n_values = parameters_count(&o->parameters);
	struct line line = {
		.options = o, .words = argv, .n_lines = reference + typed, .n_commands = SIZE_MAX};
	struct error err2;
	int r;

	if (one && o->shell_words)
		return error_say(err, -EINVAL,
			"the words after -- are a program and its arguments, which --shell does "
			"not run: quote the command line, as in 'ls | wc'");
	if (n_values <= MAX_COMMANDS && typed <= MAX_COMMANDS)
		line.n_commands = reference + typed * n_values;
	r = check_counts(o, line.n_lines, line.n_commands, err);
	for (; r == 0 && line.i < line.n_lines; line.i++) {
		line.reference = line.i < reference;
		if (line.reference)
			line.text = o->reference;
		else
			line.text = one ? NULL : argv[line.i - reference];
		/* one command, or one for each combination of the parameters */
		for (size_t k = 0; r == 0 && k < (line.reference ? 1 : n_values); k++) {
			struct command *c = array_add(commands.items, commands.n);

			line.command = commands.n - 1;
			if (!line.reference)
				c->values = parameters_values(&o->parameters, k);
			r = fill_command(&line, c, err);
			if (r == 0 && k > 0 && c->named && !strcmp(c->name, c[-1].name))
				r = error_say(err, -EINVAL,
					"'%s' is the name of %zu commands: put the parameter into "
					"it ('%s {%s}'), or give each a name",
					c->name, n_values, c->name, o->parameters.items[0].name);
		}
	}
	if (r == 0)
		*ret = TAKE_STRUCT(commands);
	/* "emp-measure sleep 1" is two commands, but the user may have meant one */
	if (r != -ENOENT || typed <= 1)
		return r;
	err2 = *err;
	return error_say(
		err, r, "%s (for one command with arguments, put -- before it)", err2.text);
}
