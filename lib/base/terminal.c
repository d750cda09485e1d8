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

static bool plain, color_forced;

void terminal_be_plain(void)
{
	plain = true;
}

void terminal_force_color(void)
{
	color_forced = true;
}

bool terminal_is(FILE *file)
{
	const char *term = getenv("TERM");

	return !plain && isatty(fileno(file)) && term && strcmp(term, "dumb");
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
	const char *no_color = getenv("NO_COLOR");

	if (color_forced)
		return marks[mark];
	return (no_color && *no_color) || !terminal_is(file) ? "" : marks[mark];
}

/* Bytes of the character at `text`, and its columns. Where the locale knows no UTF-8, each character counts as
 * one column. */
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

size_t terminal_text_width(const char *text)
{
	size_t width = 0, more;

	while (*text) {
		text += character(text, &more);
		width += more;
	}
	return width;
}
