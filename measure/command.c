/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands to measure: see subprocess.h. */
#include "measure/command.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/base/argv.h"
#include "lib/host/process/executable.h"

#include <errno.h>
#include <string.h>

static void command_clear(struct command *c)
{
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

void commands_clear(struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++)
		command_clear(&commands->items[i]);
	free(commands->items);
	*commands = (struct commands){};
}

/* `text` with every {NAME} replaced by its value; NULL stays NULL. -ENOMEM. */
static int replace(const struct parameters *p, char *const *values, const char *text, char **ret)
{
	_cleanup_(freep) char *out = NULL;
	size_t size;
	FILE *file;

	if (!text)
		return 0;
	file = open_memstream(&out, &size);
	if (!file)
		return -ENOMEM;
	while (*text) {
		size_t i, len = 0;

		for (i = 0; i < p->n; i++) {
			len = strlen(p->items[i].name);
			if (*text == '{' && !strncmp(text + 1, p->items[i].name, len) && text[1 + len] == '}')
				break;
		}
		if (i < p->n) {
			fputs(values[i], file);
			text += len + 2;
		} else
			fputc(*text++, file);
	}
	if (fclose(file) != 0)
		return -ENOMEM;
	*ret = TAKE(out);
	return 0;
}

static int replace_words(const struct parameters *p, char *const *values, char **words)
{
	for (char **w = words; *w; w++) {
		char *fresh = NULL;

		if (replace(p, values, *w, &fresh) < 0)
			return -ENOMEM;
		free(*w);
		*w = fresh;
	}
	return 0;
}

/* argv: from words that were typed one by one (operands NULL), or from a command line. */
static int fill_argv(const struct measure_options *o, char *const *words, const char *line, struct command *c,
	struct error *err)
{
	int r = 0;

	if (!line)
		c->argv = argv_copy(words);
	else if (o->shell_words)
		c->argv = argv_for_shell(o->shell_words, line);
	else
		r = argv_split(line, &c->argv, err);
	if (r < 0)
		return r;
	if (!c->argv || replace_words(&o->parameters, c->values, c->argv) < 0)
		return error_os(err, -ENOMEM, "cannot keep a command");
	return executable_find(c->argv[0], &c->path, err);
}

/* The one of `list` for command number i: one for all, or one for each; NULL: none. */
static const char *pick(const struct option_list *list, size_t i)
{
	return list->n == 0 ? NULL : list->items[list->n == 1 ? 0 : i];
}

static int fill_command(const struct measure_options *o, char *const *words, const char *line, size_t i,
	struct command *c, struct error *err)
{
	const struct parameters *p = &o->parameters;
	int r;

	r = fill_argv(o, words, line, c, err);
	if (r < 0)
		return r;
	if (line)
		r = replace(p, c->values, line, &c->text);
	else
		c->text = argv_join(c->argv);
	if (r == 0)
		r = replace(p, c->values, o->names.n > i ? o->names.items[i] : c->text, &c->name);
	if (r == 0)
		r = replace(p, c->values, o->setup, &c->setup);
	if (r == 0)
		r = replace(p, c->values, pick(&o->prepare, i), &c->prepare);
	if (r == 0)
		r = replace(p, c->values, pick(&o->conclude, i), &c->conclude);
	if (r == 0)
		r = replace(p, c->values, o->cleanup, &c->cleanup);
	if (c->name) {
		char *name = text_utf8(c->name);

		free(c->name);
		c->name = name;
	}
	return r < 0 || !c->text || !c->name ? error_os(err, -ENOMEM, "cannot keep a command") : 0;
}

/* The values of combination number k of all parameters, the first parameter changing fastest. */
static char **combination(const struct parameters *p, size_t k)
{
	char **values = calloc(p->n + 1, sizeof(*values));

	for (size_t i = 0; values && i < p->n; i++) {
		size_t n = 0;

		while (p->items[i].values[n])
			n++;
		values[i] = strdup(p->items[i].values[k % n]);
		k /= n;
	}
	return values;
}

static size_t count_combinations(const struct parameters *p)
{
	size_t all = 1;

	for (size_t i = 0; i < p->n; i++) {
		size_t n = 0;

		while (p->items[i].values[n])
			n++;
		all *= n;
	}
	return all;
}

static int check_counts(const struct measure_options *o, size_t typed, size_t commands, struct error *err)
{
	const struct {
		const char *name;
		size_t n;
	} lists[] = {{"--prepare", o->prepare.n}, {"--conclude", o->conclude.n}};

	for (size_t i = 0; i < ELEMENTS(lists); i++)
		if (lists[i].n > 1 && lists[i].n != typed)
			return error_say(err, -EINVAL,
				"%s stands %zu times: give it once for all, or once for each of the %zu commands",
				lists[i].name, lists[i].n, typed);
	if (o->names.n > typed)
		return error_say(err, -EINVAL, "there are %zu names for %zu command%s", o->names.n, typed,
			typed == 1 ? "" : "s");
	if (commands > 10000)
		return error_say(
			err, -EINVAL, "the parameters make %zu commands: 10000 are the most", commands);
	return 0;
}

/* "emp-measure sleep 1" is two commands, and their writer may have meant one. */
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
	_cleanup_(commands_clearp) struct commands commands = {};
	size_t typed = tool_after_dashes() ? 1 : (size_t)argc, each = count_combinations(&o->parameters);
	int r;

	r = check_counts(o, typed, typed * each, err);
	if (r < 0)
		return r;
	commands.items = calloc(typed * each, sizeof(*commands.items));
	if (!commands.items)
		return error_os(err, -ENOMEM, "cannot keep the commands");
	for (size_t i = 0; i < typed; i++)
		for (size_t k = 0; k < each; k++) {
			struct command *c = &commands.items[commands.n++];

			c->values = combination(&o->parameters, k);
			if (!c->values)
				return error_os(err, -ENOMEM, "cannot keep the commands");
			r = fill_command(o, argv, tool_after_dashes() ? NULL : argv[i], i, c, err);
			if (r < 0)
				return typed > 1 ? mention_dashes(r, err) : r;
		}
	*ret = commands;
	commands = (struct commands){};
	return 0;
}
