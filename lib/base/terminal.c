/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a person is looking: see terminal.h. */
#include "lib/base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool plain;

void terminal_be_plain(void)
{
	plain = true;
}

bool terminal_is(FILE *file)
{
	const char *term = getenv("TERM");

	return !plain && isatty(fileno(file)) && term && strcmp(term, "dumb");
}

const char *terminal_mark(FILE *file, enum mark mark)
{
	static const char *const marks[] = {
		[MARK_GOOD] = "\033[32m",
		[MARK_BAD] = "\033[31m",
		[MARK_WARN] = "\033[33m",
		[MARK_STRONG] = "\033[1m",
		[MARK_FAINT] = "\033[2m",
		[MARK_END] = "\033[0m",
	};
	const char *no_color = getenv("NO_COLOR");

	if ((no_color && *no_color) || !terminal_is(file))
		return "";
	return marks[mark];
}
