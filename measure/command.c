/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands to measure: see session.h. */
#include "measure/session.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/base/argv.h"
#include "lib/host/process/subprocess.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { MAX_COMMANDS = 10000 };

void commands_clear(struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++) {
		struct command *c = &commands->items[i];

		free(c->name);
		free(c->text);
		argv_free(c->argv);
		free(c->path);
		free(c->setup);
		free(c->prepare);
		free(c->conclude);
		free(c->cleanup);
		argv_free(c->values);
		*c = (struct command){};
	}
	free(commands->items);
	*commands = (struct commands){};
}

/* A command before its parameters are replaced. */
struct line {
	const char *text; /* NULL: `words` is the command */
	char *const *words;
	bool reference;
	size_t i;       /* of the line */
	size_t command; /* of the command */
};

/* The sources of the commands. */
struct maker {
	const struct measure_options *options;
	size_t n_lines, n_commands; /* with the reference */
};

/* The value of an option for a line: given once for all, for each line or for each command; NULL: not given. */
static const char *pick(const struct maker *m, const struct option_list *list, const struct line *line)
{
	if (list->n <= 1)
		return list->n ? list->items[0] : NULL;
	return list->items[list->n == m->n_lines ? line->i : line->command];
}

/* Names are for the commands without the reference, and may be fewer. */
static const char *pick_name(const struct maker *m, const struct line *line)
{
	const struct option_list *names = &m->options->names;
	size_t reference = m->options->reference ? 1 : 0, i;

	if (line->reference)
		return m->options->reference_name;
	i = (names->n > m->n_lines - reference ? line->command : line->i) - reference;
	return i < names->n ? names->items[i] : NULL;
}

/* `text` with the values of the command's parameters; NULL stays NULL. */
static char *fill_text(const struct maker *m, const struct command *c, const char *text)
{
	if (text && c->values)
		return parameters_replace(&m->options->parameters, c->values, text);
	return text_copy(text);
}

/* Words that only a shell knows, beside its operators. */
static bool is_shells(const char *word)
{
	static const char *const words[] = {".", ":", "!", "[[", "{", "alias", "bg", "break", "builtin",
		"case", "cd", "command", "continue", "declare", "eval", "exec", "exit", "export", "fg", "for",
		"function", "if", "jobs", "let", "local", "popd", "pushd", "read", "readonly", "return",
		"select", "set", "shift", "shopt", "source", "times", "trap", "type", "typeset", "ulimit",
		"umask", "unalias", "unset", "until", "wait", "while"};
	size_t name = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

	for (size_t i = 0; i < ELEMENTS(words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return name > 0 && word[name] == '=' && (*word < '0' || *word > '9'); /* VARIABLE=VALUE */
}

static int find_file(struct command *c, struct error *err)
{
	int r = executable_find(c->argv[0], &c->path, err);

	if (r == -ENOENT && is_shells(c->argv[0]))
		return error_say(err, -EINVAL,
			"'%s' needs a shell: quote the command line and run it with -S sh, in: %s",
			c->argv[0], c->text);
	return r;
}

/* Parameters are replaced first, so that their values may be several words, or none. */
static int fill_argv(const struct maker *m, const struct line *line, struct command *c, struct error *err)
{
	char **shell = m->options->shell_words;
	int r = 0;

	if (!line->text)
		c->argv = argv_copy(line->words);
	else if (shell)
		c->argv = argv_for_shell(shell, c->text);
	else
		r = argv_split(c->text, &c->argv, err);
	if (r == 0 && !line->text) {
		for (char **w = c->argv; *w; w++) {
			_cleanup_(freep) char *word = *w;

			*w = fill_text(m, c, word);
		}
		c->text = argv_join(c->argv);
	}
	return r < 0 ? r : find_file(c, err);
}

static void fill_texts(const struct maker *m, const struct line *line, struct command *c)
{
	const struct measure_options *o = m->options;
	const struct {
		const char *text;
		char **into;
	} texts[] = {
		{line->text, &c->text},
		{pick_name(m, line), &c->name},
		{o->setup, &c->setup},
		{pick(m, &o->prepare, line), &c->prepare},
		{pick(m, &o->conclude, line), &c->conclude},
		{o->cleanup, &c->cleanup},
	};

	for (size_t i = 0; i < ELEMENTS(texts); i++)
		*texts[i].into = fill_text(m, c, texts[i].text);
}

static int check_counts(const struct maker *m, struct error *err)
{
	const struct measure_options *o = m->options;
	size_t reference = o->reference ? 1 : 0, names = m->n_commands - reference;
	const struct {
		const char *name;
		size_t n;
	} lists[] = {{"--prepare", o->prepare.n}, {"--conclude", o->conclude.n}, {"--output", o->output.n}};

	if (m->n_commands > MAX_COMMANDS)
		return error_say(err, -EINVAL, "the parameters make more than %d commands", MAX_COMMANDS);
	for (size_t i = 0; i < ELEMENTS(lists); i++)
		if (lists[i].n > 1 && lists[i].n != m->n_lines && lists[i].n != m->n_commands)
			return error_say(err, -EINVAL,
				"%s is given %zu times: give it once for all, or once for each of the %zu commands%s",
				lists[i].name, lists[i].n, m->n_commands,
				reference ? " (--reference is one)" : "");
	if (o->names.n > names || (o->names.n > m->n_lines - reference && o->names.n < names))
		return error_say(err, -EINVAL, "there are %zu names for %zu command%s", o->names.n, names,
			names == 1 ? "" : "s");
	return 0;
}

/* "emp-measure sleep 1" is two commands, but the user may have meant one. */
static int mention_dashes(int r, struct error *err)
{
	struct error said = *err;

	if (r != -ENOENT)
		return r;
	return error_say(err, r, "%s (for one command with arguments, put -- before it)", said.text);
}

int commands_make(
	const struct measure_options *o, int argc, char **argv, struct commands *ret, struct error *err)
{
	_cleanup_(commands_clear) struct commands commands = {};
	/* One word after "--" is a program, or else, as for hyperfine, a command line. */
	bool one = tool_after_dashes() && (argc != 1 || !strchr(argv[0], ' ') || access(argv[0], X_OK) == 0);
	size_t reference = o->reference ? 1 : 0, typed = one ? 1 : (size_t)argc;
	struct maker m = {o, reference + typed, SIZE_MAX};
	int r;

	if (parameters_count(&o->parameters) <= MAX_COMMANDS && typed <= MAX_COMMANDS)
		m.n_commands = reference + typed * parameters_count(&o->parameters);
	r = check_counts(&m, err);
	for (size_t i = 0; r == 0 && i < m.n_lines; i++) {
		bool is_reference = i < reference;
		struct line line = {.words = argv, .reference = is_reference, .i = i};

		line.text = is_reference ? o->reference : one ? NULL : argv[i - reference];

		/* One command, or one for each combination of the parameters. */
		const struct parameters *p = &m.options->parameters;
		size_t n = line.reference ? 1 : parameters_count(p);

		for (size_t k = 0; r == 0 && k < n; k++) {
			struct command *c = array_add(commands.items, commands.n);
			char *name;

			if (!line.reference)
				c->values = parameters_values(p, k);
			line.command = commands.n - 1;
			c->output = pick(&m, &m.options->output, &line);
			fill_texts(&m, &line, c);
			r = fill_argv(&m, &line, c, err);
			if (r >= 0) {
				c->named = c->name;
				name = text_utf8(c->name ?: c->text);
				free(c->name);
				c->name = name;
			}
		}
	}
	if (r < 0)
		return typed > 1 ? mention_dashes(r, err) : r;
	*ret = TAKE_STRUCT(commands);
	return 0;
}
