/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Terminals and their colours: see terminal.h. */
#include "lib/base/terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum { USUAL_WIDTH = 80 };

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

/* How many columns the first bytes of `text` take. */
static size_t width_of(const char *text, size_t bytes)
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
	return width_of(text, strlen(text));
}

void terminal_wrap(FILE *file, const char *text, size_t at, size_t indent)
{
	size_t width = terminal_width(file) < 80 ? terminal_width(file) : 80;

	while (*text) {
		size_t bytes = strcspn(text, " "), columns = width_of(text, bytes);
		bool first = at <= indent;

		if (!first && at + 1 + columns > width) {
			fprintf(file, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
		}
		fprintf(file, "%s%.*s", first ? "" : " ", (int)bytes, text);
		at += columns + !first;
		text += bytes + strspn(text + bytes, " ");
	}
	fputc('\n', file);
}
