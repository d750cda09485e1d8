/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command line as one text, and as words: see argv.h. The rules are those of POSIX's shell (XCU 2.2,
 * Quoting). */
#include "lib/base/argv.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

/* The words so far, and the one that grows. */
struct splitter {
	char **words;
	size_t n;
	char *word; /* NULL: between words */
	size_t len; /* of the word, with the 0 at its end */
};

/* Begins a word, which may remain empty (''). */
static int begin(struct splitter *s)
{
	return s->word || array_add(s->word, s->len) ? 0 : -ENOMEM;
}

static int put(struct splitter *s, char c)
{
	if (begin(s) < 0 || !array_add(s->word, s->len))
		return -ENOMEM;
	s->word[s->len - 2] = c;
	return 0;
}

static int finish(struct splitter *s)
{
	char **word;

	if (!s->word)
		return 0;
	word = array_add(s->words, s->n);
	*word = TAKE(s->word);
	s->len = 0;
	return 0;
}

/* The text between quotes; `at` is after the opening one. NULL: it is not closed. */
static const char *quoted(struct splitter *s, const char *at, char quote, int *ret)
{
	for (; *ret == 0 && *at && *at != quote; at++) {
		if (quote == '"' && *at == '\\' && at[1] && strchr("\"\\$`", at[1]))
			at++;
		*ret = put(s, *at);
	}
	return *at ? at + 1 : NULL;
}

static int split(struct splitter *s, const char *text, struct error *err)
{
	const char *at = text;
	int r = 0;

	while (r == 0 && *at) {
		if (strchr(" \t\n", *at)) {
			r = finish(s);
			at++;
		} else if (*at == '\'' || *at == '"') {
			r = begin(s);
			at = quoted(s, at + 1, *at, &r);
			if (!at)
				return error_say(err, -EINVAL, "a quote is not closed in: %s", text);
		} else if (strchr("|&;<>()$`*?[~#", *at) && (*at != '~' || !s->word) &&
			   (*at != '#' || !s->word)) {
			return error_say(err, -EINVAL,
				"'%c' needs a shell: run it with -S sh, or quote it, in: %s", *at, text);
		} else {
			at += *at == '\\' && at[1];
			r = put(s, *at++);
		}
	}
	if (r == 0)
		r = finish(s);
	if (r == 0 && s->n > 0 && !array_add(s->words, s->n)) /* the NULL at the end */
		r = -ENOMEM;
	return r < 0 ? error_oom(err) : 0;
}

int argv_split(const char *text, char ***ret, struct error *err)
{
	struct splitter s = {};
	int r = split(&s, text, err);

	if (r == 0 && s.n == 0)
		r = error_say(err, -EINVAL, "the command is empty");
	free(s.word);
	if (r < 0) { /* there is no NULL at the end yet */
		for (size_t i = 0; i < s.n; i++)
			free(s.words[i]);
		free(s.words);
		return r;
	}
	*ret = s.words;
	return 0;
}

void argv_free(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
}

static void quote(FILE *file, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, file);
		return;
	}
	fputc('\'', file);
	for (const char *c = word; *c; c++)
		*c == '\'' ? fputs("'\\''", file) : fputc(*c, file);
	fputc('\'', file);
}

char *argv_join(char *const *words)
{
	char *text = NULL;
	size_t size;
	FILE *file = xopen_memstream(&text, &size);

	for (int i = 0; file && words[i]; i++) {
		if (i > 0)
			fputc(' ', file);
		quote(file, words[i]);
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
	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = xstrdup(words[i]);
		if (!copy[i]) {
			argv_free(copy);
			return NULL;
		}
	}
	return copy;
}

char **argv_for_shell(char *const *shell, const char *line)
{
	static char *const POSIX[] = {(char *)"/bin/sh", NULL};
	char **words = argv_copy(shell ?: POSIX), **longer;
	size_t n = 0;

	while (words && words[n])
		n++;
	longer = words ? xreallocarray(words, n + 3, sizeof(*words)) : NULL;
	if (!longer) {
		argv_free(words);
		return NULL;
	}
	longer[n] = xstrdup("-c");
	longer[n + 1] = xstrdup(line);
	longer[n + 2] = NULL;
	if (!longer[n] || !longer[n + 1]) {
		free(longer[n + 1]);
		argv_free(longer);
		return NULL;
	}
	return longer;
}
