/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from elsewhere in tables: see markup.h. */
#include "lib/base/markup.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A spreadsheet takes these for the beginning of a formula. Numbers below zero stay numbers. */
static bool is_formula(const char *text)
{
	char *end;

	if (!*text || !strchr("=+-@\t\r", *text))
		return false;
	strtod(text, &end);
	return *end || end == text;
}

void markup_csv(FILE *file, const char *text)
{
	const char *before = is_formula(text) ? "'" : "";

	if (!text[strcspn(text, ",\"\r\n")]) {
		fprintf(file, "%s%s", before, text);
		return;
	}
	fprintf(file, "\"%s", before);
	for (; *text; text++)
		*text == '"' ? fputs("\"\"", file) : fputc(*text, file);
	fputc('"', file);
}

void markup_without_bars(FILE *file, const char *text, const char *bar)
{
	for (; *text; text++)
		*text == '|' ? fputs(bar, file) : fputc(*text, file);
}

void markup_markdown(FILE *file, const char *text)
{
	size_t most = 0;

	for (const char *at = strchr(text, '`'); at; at = strchr(at + strspn(at, "`"), '`'))
		most = strspn(at, "`") > most ? strspn(at, "`") : most;
	for (size_t i = 0; i <= most; i++)
		fputc('`', file);
	fputs(most > 0 ? " " : "", file);
	markup_without_bars(file, text, "\\|");
	fputs(most > 0 ? " " : "", file);
	for (size_t i = 0; i <= most; i++)
		fputc('`', file);
}
