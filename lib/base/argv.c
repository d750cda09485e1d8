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
static void word_begin(struct splitter *s)
{
	if (!s->word)
		array_add(s->word, s->len);
}

static void word_add(struct splitter *s, char c)
{
	word_begin(s);
	array_add(s->word, s->len);
	s->word[s->len - 2] = c;
}

static void word_end(struct splitter *s)
{
	char **word;

	if (!s->word)
		return;
	word = array_add(s->words, s->n);
	*word = TAKE(s->word);
	s->len = 0;
}

/* The text between quotes; `at` is after the opening one. NULL: it is not closed. */
static const char *word_quoted(struct splitter *s, const char *at, char quote)
{
	word_begin(s);
	for (; *at && *at != quote; at++) {
		if (quote == '"' && *at == '\\' && at[1] && strchr("\"\\$`", at[1]))
			at++;
		word_add(s, *at);
	}
	return *at ? at + 1 : NULL;
}

static int argv_split_into(struct splitter *s, const char *text, struct error *err)
{
	const char *at = text;

	while (*at) {
		if (strchr(" \t\n", *at)) {
			word_end(s);
			at++;
		} else if (*at == '\'' || *at == '"') {
			at = word_quoted(s, at + 1, *at);
			if (!at)
				return error_say(err, -EINVAL, "a quote is not closed in: %s", text);
		} else if (strchr("|&;<>()$`*?[~#", *at) && (*at != '~' || !s->word) &&
			   (*at != '#' || !s->word)) {
			return error_say(err, -EINVAL,
				"'%c' needs a shell: run it with -S sh, or quote it, in: %s", *at, text);
		} else {
			at += *at == '\\' && at[1];
			word_add(s, *at++);
		}
	}
	word_end(s);
	return s->n > 0 ? 0 : error_say(err, -EINVAL, "the command is empty");
}

int argv_split(const char *text, char ***ret, struct error *err)
{
	struct splitter s = {};
	int r = argv_split_into(&s, text, err);

	array_add(s.words, s.n); /* the NULL at the end */
	free(s.word);
	if (r == 0)
		*ret = s.words;
	else
		argv_free(s.words);
	return r;
}

void argv_free(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
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

char **argv_for_shell(char *const *shell, const char *line)
{
	static char *const POSIX[] = {(char *)"/bin/sh", NULL};
	char **words = argv_copy(shell ?: POSIX);
	size_t n = 0;

	while (words[n])
		n++;
	words = xreallocarray(words, n + 3, sizeof(*words));
	words[n] = xstrdup("-c");
	words[n + 1] = xstrdup(line);
	words[n + 2] = NULL;
	return words;
}
