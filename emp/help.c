/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp help: finds an option, a verb, a check, a column or a message in the manual pages. */
#include "emp/manual.h"

#include "lib/base/json.h"
#include "lib/base/terminal.h"
#include "lib/base/tool.h"

#include <ctype.h>

/* Of passages, and of the letters of each, unless all is wanted. */
enum { MOST_SHOWN = 8, MOST_LETTERS = 230 };

static struct {
	bool all, json;
} help_options;

/* How well a passage fits what is looked for, the best first. */
enum fit {
	FIT_HEADING,        /* it is about that */
	FIT_HEADING_PARTLY, /* it is about a longer word, or about more */
	FIT_TEXT,
	FIT_TEXT_PARTLY,
	FIT_NONE,
};

struct match {
	const struct passage *passage;
	enum fit fit;
	size_t at; /* where it stands in the text */
};

static bool is_word_letter(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

/* The best of the places where `words` stands in the passage. */
static struct match match_phrase(const struct passage *p, const char *words)
{
	size_t n = strlen(words);
	struct match best = {p, FIT_NONE, 0};

	for (const char *at = p->text; (at = strcasestr(at, words)); at++) {
		size_t place = (size_t)(at - p->text);
		bool begins = at == p->text || !is_word_letter(at[-1]),
		     ends = !is_word_letter(at[n]);
		enum fit fit = (place < p->heading ? FIT_HEADING : FIT_TEXT) + !(begins && ends);

		/* -s is not -S, and no part of --short */
		if (*words == '-' && (strncmp(at, words, n) || !begins || (n == 2 && !ends)))
			continue;
		if (fit < best.fit)
			best = (struct match){p, fit, place};
	}
	return best;
}

/* How many of the words stand in the passage, of how many; one in its heading counts twice. Those
 * with digits are left out: a message has other numbers each time. */
static size_t count_words(const struct passage *p, const char *words, size_t *ret_of)
{
	_cleanup_(freep) char *copy = xstrdup(words);
	char *rest = copy;
	enum fit fit;
	size_t n = 0;

	*ret_of = 0;
	for (char *word; (word = strsep(&rest, " "));) {
		if (!*word || word[strcspn(word, "0123456789")])
			continue;
		fit = match_phrase(p, word).fit;
		n += (fit < FIT_NONE) + (fit < FIT_TEXT);
		++*ret_of;
	}
	return n;
}

/* Passages with most of the words, where none has all in this order. */
static struct match *match_most_words(const struct manual *m, const char *words, size_t *ret_n)
{
	struct match *matches = NULL;
	size_t most = 0, of = 0;

	*ret_n = 0;
	for (size_t i = 0; i < m->n; i++) {
		size_t n = count_words(&m->passages[i], words, &of);

		if (n < most || 3 * n < 2 * of || of < 2)
			continue;
		if (n > most)
			*ret_n = 0;
		most = n;
		*array_add(matches, *ret_n) = (struct match){&m->passages[i], FIT_TEXT, 0};
	}
	return matches;
}

static int by_fit(const void *x, const void *y)
{
	const struct match *a = x, *b = y;

	if (a->fit != b->fit)
		return a->fit < b->fit ? -1 : 1;
	return (a->passage > b->passage) - (a->passage < b->passage);
}

/* The caller frees them. */
static struct match *find_matches(const struct manual *m, const char *words, size_t *ret_n)
{
	struct match *matches = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < m->n; i++) {
		struct match match = match_phrase(&m->passages[i], words);

		if (match.fit < FIT_NONE)
			*array_add(matches, *ret_n) = match;
	}
	if (*ret_n == 0)
		return match_most_words(m, words, ret_n);
	qsort(matches, *ret_n, sizeof(*matches), by_fit);
	return matches;
}

/* The passage from the sentence in which the words stand, shortened; the caller frees it. */
static char *excerpt_of(const struct match *match)
{
	const char *text = match->passage->text, *from = text;
	size_t n;

	if (help_options.all || strlen(text) <= MOST_LETTERS)
		return xstrdup(text);
	for (const char *at = text; match->at > 0 && (at = strstr(at, ". "));) {
		at += 2;
		if (at > text + match->at)
			break;
		from = at;
	}
	n = terminal_text_fit(from, MOST_LETTERS);
	while (from[n] && n > 0 && from[n] != ' ')
		n--;
	return text_format("%s%.*s%s", from == text ? "" : "… ", (int)n, from, from[n] ? " …" : "");
}

static void print_matches(const struct match *matches, size_t n, const char *words)
{
	size_t shown = help_options.all || n <= MOST_SHOWN ? n : MOST_SHOWN;

	for (size_t i = 0; i < shown; i++) {
		_cleanup_(freep) char *excerpt = excerpt_of(&matches[i]);
		const struct passage *p = matches[i].passage, *before = NULL;

		if (i > 0)
			before = matches[i - 1].passage;
		if (!before || strcmp(before->page, p->page) != 0 ||
			strcmp(before->section ?: "", p->section ?: "") != 0)
			printf("%s%s%s, %s\n", terminal_mark(stdout, MARK_STRONG), p->page,
				terminal_mark(stdout, MARK_END), p->section ?: "NAME");
		terminal_say(stdout, 4, "  %s", excerpt);
	}
	if (shown < n)
		printf("%zu more: emp help --all %s\n", n - shown, words);
}

static int print_document(
	const struct match *matches, size_t n, const char *words, struct error *err)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			list, JSON_OBJECT({"page", json_string(matches[i].passage->page)},
				      {"section", json_text(matches[i].passage->section)},
				      {"text", json_text(matches[i].passage->text)}));
	return json_print_document(
		"emp-help", JSON_OBJECT({"words", json_text(words)}, {"matches", list}), err);
}

/* A word that a heading has and that is most like this one. */
static int say_not_found(const struct manual *m, const char *words, struct error *err)
{
	struct nearest nearest = {.typed = words};
	_cleanup_(freep) char *found = NULL;

	for (size_t i = 0; i < m->n; i++) {
		const char *at = m->passages[i].text, *end = at + m->passages[i].heading, *word;

		while (at < end) {
			size_t n = strcspn(at, " ,=[]");

			n = at + n > end ? (size_t)(end - at) : n;
			word = text_brief("%.*s", (int)n, at);
			nearest_try(&nearest, word);
			if (nearest.found == word) { /* a brief text does not last */
				free(found);
				nearest.found = found = xstrdup(word);
			}
			at += n + 1;
		}
	}
	return error_say(
		err, -ENOENT, "'%s' is in no manual page%s", words, nearest_hint(&nearest, ""));
}

static int help_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(manual_clear) struct manual manual = {};
	_cleanup_(freep) struct match *matches = NULL;
	_cleanup_(freep) char *words = NULL;
	size_t n = 0;
	int r;

	for (int i = 0; i < argc; i++)
		text_append(&words, " ", "%s", argv[i]);
	if (!words[strspn(words, " \t\n")])
		return error_say(err, -EINVAL, "emp help needs a word to find");
	r = manual_read(&manual, err);
	if (r < 0)
		return r;
	matches = find_matches(&manual, words, &n);
	if (help_options.json)
		r = print_document(matches, n, words, err);
	if (r == 0 && n == 0)
		return say_not_found(&manual, words, err);
	if (!help_options.json)
		print_matches(matches, n, words);
	return r;
}

static const struct option_row help_rows[] = {
	{'a', "all", NULL, "show all places, and the whole of each", NULL, &help_options.all,
		.text = true},
	{0, "json", NULL, "print all places as JSON", NULL, &help_options.json, .dash = true},
	{},
};

const struct verb emp_help = {
	.name = "help",
	.args = "WORD...",
	.summary = "find an option, verb, check, column or message in all manual pages",
	.min_args = 1,
	.max_args = -1,
	.options = help_rows,
	.run = help_verb,
};
