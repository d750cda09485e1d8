/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What emp-calibrate prints: see screen.h. */
#include "calibrate/screen.h"

#include "calibrate/options.h"
#include "lib/base/argv.h"
#include "lib/base/terminal.h"

#include <stdarg.h>

const char *calibrate_db(void)
{
	static char option[4096];
	char *argv[] = {(char *)calibrate_options.db, NULL};
	_cleanup_(freep) char *quoted = calibrate_options.db ? argv_join(argv) : NULL;

	if (quoted)
		snprintf(option, sizeof(option), " --db %s", quoted);
	return option;
}

const char *calibrate_quoted(const char *name)
{
	static char word[4096];
	char *argv[] = {(char *)name, NULL};
	_cleanup_(freep) char *quoted = argv_join(argv);

	snprintf(word, sizeof(word), "%s", terminal_text(quoted) ?: "");
	return word;
}

FILE *calibrate_screen(void)
{
	return calibrate_options.json ? stderr : stdout;
}

/* A command to copy is not wrapped. */
static bool is_command(const char *line)
{
	static const char *const starts[] = {"  emp-", "Causes: emp-", "Next: emp-"};

	for (size_t i = 0; i < ELEMENTS(starts); i++)
		if (!strncmp(line, starts[i], strlen(starts[i])))
			return true;
	return false;
}

void calibrate_print(const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list args;

	va_start(args, format);
	text = text_vformat(format, args);
	va_end(args);
	for (char *line = text, *end; *line; line = end) {
		bool whole = (end = strchr(line, '\n')) != NULL;

		end = whole ? end : line + strlen(line);
		if (whole)
			*end++ = '\0';
		if (whole && !is_command(line))
			terminal_say(calibrate_screen(), 2, "%s", line);
		else
			fprintf(calibrate_screen(), "%s%s", line, whole ? "\n" : "");
	}
	fflush(calibrate_screen()); /* the next line may come much later */
}
