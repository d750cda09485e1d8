/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Terminals and their colours: see terminal.h. */
#include "lib/base/terminal.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum { USUAL_WIDTH = 80, LEAST_WIDTH = 60, MOST_WIDTH = 120 };

static enum terminal_choice chosen_colour, chosen_interactive;

void terminal_choose(enum terminal_choice colour, enum terminal_choice interactive)
{
	chosen_colour = colour;
	chosen_interactive = interactive;
}

static bool is_terminal(FILE *file)
{
	const char *term = getenv("TERM");

	return isatty(fileno(file)) && term && strcmp(term, "dumb");
}

bool terminal_is(FILE *file)
{
	return chosen_interactive ? chosen_interactive == TERMINAL_ON : is_terminal(file);
}

static bool has_colour(FILE *file)
{
	const char *no_color = getenv("NO_COLOR");

	if (chosen_colour)
		return chosen_colour == TERMINAL_ON;
	return !(no_color && *no_color) && is_terminal(file);
}

size_t terminal_width(FILE *file)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long n = 0;

	if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0)
		n = size.ws_col;
	if (n == 0 && columns)
		n = strtol(columns, NULL, 10);
	return n > 0 ? (size_t)n : USUAL_WIDTH;
}

size_t terminal_columns(FILE *file)
{
	size_t width = terminal_width(file);

	return width < LEAST_WIDTH ? LEAST_WIDTH : width > MOST_WIDTH ? MOST_WIDTH : width;
}

const char *terminal_mark(FILE *file, enum mark mark)
{
	static const char *const marks[] = {
		[MARK_NONE] = "",
		[MARK_GOOD] = "\033[32m",
		[MARK_BAD] = "\033[31m",
		[MARK_WARN] = "\033[33m",
		[MARK_STRONG] = "\033[1m",
		[MARK_FAINT] = "\033[2m",
		[MARK_END] = "\033[0m",
	};

	return has_colour(file) ? marks[mark] : "";
}

static bool is_plain(const char *text)
{
	while (*text >= ' ' && *text < '\x7f')
		text++;
	return !*text;
}

/* Bytes of the character at `at` if a terminal acts on it instead of showing it, 0: it does not. */
static size_t control_size(const unsigned char *at)
{
	if (*at < ' ' || *at == 0x7f)
		return 1;
	if (*at == 0xc2 && at[1] < 0xa0) /* C1: U+009B is the same as ESC [ */
		return 2;
	if (*at == 0xd8 && at[1] == 0x9c) /* U+061C */
		return 2;
	if (*at != 0xe2)
		return 0;
	/* U+200E, U+200F, U+2028 to U+202E; U+2066 to U+2069 */
	if (at[1] == 0x80 && (at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae)))
		return 3;
	return at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9 ? 3 : 0;
}

static void defuse(char *text)
{
	char *to = text;

	while (*text) {
		size_t size = control_size((const unsigned char *)text);

		*to++ = size == 0 ? *text : *text == '\n' || *text == '\t' ? ' ' : '?';
		text += size ?: 1;
	}
	*to = '\0';
}

const char *terminal_text(const char *text)
{
	static char *made[16];
	static size_t next;
	char **slot;

	if (!text || is_plain(text))
		return text;
	slot = &made[next++ % ELEMENTS(made)];
	free(*slot);
	*slot = text_utf8(text);
	defuse(*slot);
	return *slot;
}

/* Bytes of the character at `text`, and its columns. If the locale is not UTF-8, each character counts as one
 * column. */
static size_t character(const char *text, size_t *ret_columns)
{
	mbstate_t state = {};
	wchar_t c;
	size_t n = MB_CUR_MAX > 1 ? mbrtowc(&c, text, strlen(text), &state) : SIZE_MAX;

	if (n > 0 && n <= strlen(text)) {
		*ret_columns = wcwidth(c) > 0 ? (size_t)wcwidth(c) : 0;
		return n;
	}
	*ret_columns = 1;
	n = 1;
	while (((unsigned char)text[0] & 0x80) && ((unsigned char)text[n] & 0xc0) == 0x80)
		n++;
	return n;
}

size_t terminal_text_fit(const char *text, size_t columns)
{
	size_t bytes = 0, used = 0, more;

	while (text[bytes]) {
		size_t n = character(text + bytes, &more);

		if (used + more > columns)
			break;
		used += more;
		bytes += n;
	}
	return bytes;
}

void terminal_print_cut(FILE *file, const char *text, size_t columns)
{
	text = terminal_text(text);
	if (terminal_text_width(text) <= columns)
		fputs(text, file);
	else
		fprintf(file, "%.*s…", (int)terminal_text_fit(text, columns - 1), text);
}

/* How many columns the first bytes of `text` take. */
size_t terminal_bytes_width(const char *text, size_t bytes)
{
	size_t width = 0, more, at = 0;

	while (at < bytes) {
		at += character(text + at, &more);
		width += more;
	}
	return width;
}

size_t terminal_text_width(const char *text)
{
	return terminal_bytes_width(text, strlen(text));
}

static struct {
	const char *const *items;
	size_t n;
} names;

void terminal_names(const char *const *items, size_t n)
{
	names.items = items;
	names.n = n;
}

/* Where the end of `name` that stays begins, if it is shortened to its first bytes and so many columns at its end. */
static const char *tail_of(const char *name, size_t columns)
{
	return name + terminal_text_fit(name, terminal_text_width(name) - columns);
}

void terminal_print_name(FILE *file, const char *name, size_t columns)
{
	const char *text = terminal_text(name), *other;
	size_t end = (columns - 1) / 2, begin = terminal_text_fit(text, columns - 1 - end);
	bool whole = terminal_text_width(text) <= columns;

	for (size_t i = 0; !whole && i < names.n; i++) {
		other = terminal_text(names.items[i]);
		whole = strcmp(other, text) && terminal_text_width(other) > columns &&
			!strncmp(other, text, begin) && !strcmp(tail_of(other, end), tail_of(text, end));
	}
	fputs(terminal_mark(file, MARK_STRONG), file);
	if (whole)
		fputs(text, file);
	else
		fprintf(file, "%.*s…%s", (int)begin, text, tail_of(text, end));
	fputs(terminal_mark(file, MARK_END), file);
}

void terminal_wrap(FILE *file, const char *text, size_t at, size_t indent)
{
	size_t width = terminal_width(file) < MOST_WIDTH ? terminal_width(file) : MOST_WIDTH;
	bool first = at <= indent; /* in its line */

	text = terminal_text(text);
	while (*text) {
		size_t bytes = strcspn(text, " "), columns = terminal_bytes_width(text, bytes);

		if (!first && at + 1 + columns > width) {
			fprintf(file, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
		}
		fprintf(file, "%s%.*s", first ? "" : " ", (int)bytes, text);
		at += columns + !first;
		first = false;
		text += bytes + strspn(text + bytes, " ");
	}
	fputc('\n', file);
}
