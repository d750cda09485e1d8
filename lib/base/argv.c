/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command line as one text, and as words: see argv.h. The rules are those of POSIX's shell (XCU
 * 2.2, Quoting). */
#include "lib/base/argv.h"

/* Whether a shell does more with the character at `at` than to split words. A line that ends there
 * is one command; lines after it are others. */
static bool needs_shell(const char *at, char quote, bool in_word)
{
	if (quote)
		return quote == '"' && strchr("$`", *at);
	if (*at == '\n')
		return at[strspn(at, " \t\n")] != '\0';
	return strchr("|&;<>()$`*?[", *at) || (!in_word && strchr("~#", *at));
}

int argv_split(const char *text, char ***ret, struct error *err)
{
	_cleanup_(argv_freep) char **words = xcalloc(strlen(text) / 2 + 2, sizeof(*words));
	_cleanup_(freep) char *word = xmalloc(strlen(text) + 1);
	char *end = NULL; /* of the word that grows; NULL: between words */
	char quote = '\0';
	size_t n = 0;

	text += strspn(text, " \t\n");
	for (const char *at = text;; at++) {
		if (*at && needs_shell(at, quote, end))
			return error_say(err, -ENOEXEC,
				"%s needs a shell, or must be quoted, in: %s",
				*at == '\n' ? "a second line" : text_brief("'%c'", *at), text);
		if (!quote && strchr(" \t\n", *at)) { /* or the end of the text */
			if (end)
				words[n++] = xstrndup(word, (size_t)(end - word));
			end = NULL;
			if (!*at)
				break;
			continue;
		}
		if (!*at)
			return error_say(err, -EINVAL, "a quote is not closed in: %s", text);
		if (*at == '\\' && at[1] == '\n' && quote != '\'') { /* the line goes on */
			at++;
			continue;
		}

		end = end ?: word; /* an empty word is one as well: '' */
		if (quote ? *at == quote : *at == '\'' || *at == '"') {
			quote = quote ? '\0' : *at;
			continue;
		}
		if (*at == '\\' && at[1] && (!quote || (quote == '"' && strchr("\"\\$`", at[1]))))
			at++;
		*end++ = *at;
	}
	if (n == 0)
		return error_say(err, -EINVAL, "the command is empty");
	*ret = TAKE(words);
	return 0;
}

bool argv_is_of_shell(const char *word)
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

bool argv_is_builtin(const char *word)
{
	static const char *const words[] = {"echo", "kill", "printf", "pwd", "test"};

	for (size_t i = 0; i < ELEMENTS(words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

void argv_freep(char ***words)
{
	for (char **word = *words; word && *word; word++)
		free(*word);
	freep(words);
}

char *argv_join(char *const *words)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
	char *text = NULL;
	size_t size;
	FILE *file = xopen_memstream(&text, &size);

	for (char *const *word = words; *word; word++) {
		fputs(word == words ? "" : " ", file);
		if (**word && !(*word)[strspn(*word, plain)]) {
			fputs(*word, file);
			continue;
		}
		fputc('\'', file);
		for (const char *c = *word; *c; c++)
			*c == '\'' ? fputs("'\\''", file) : fputc(*c, file);
		fputc('\'', file);
	}
	return text_stream_close(file, &text);
}

char **argv_copy(char *const *words)
{
	size_t n = 0;
	char **copy;

	while (words[n])
		n++;
	copy = xcalloc(n + 1, sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = xstrdup(words[i]);
	return copy;
}

/* -c, or -lc */
static bool ends_in_c(const char *word)
{
	return word[0] == '-' && word[1] && word[1] != '-' && word[strlen(word) - 1] == 'c';
}

char **argv_for_shell(char *const *shell, const char *line)
{
	static char *const POSIX[] = {(char *)"/bin/sh", NULL};
	char **words = argv_copy(shell ?: POSIX);
	size_t n = 0;

	while (words[n])
		n++;
	words = xreallocarray(words, n + 3, sizeof(*words));
	if (n == 1 || !ends_in_c(words[n - 1]))
		words[n++] = xstrdup("-c");
	words[n] = xstrdup(line);
	words[n + 1] = NULL;
	return words;
}
