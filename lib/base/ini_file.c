/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INI text: see ini_file.h. inih parses the lines; this hands them out one by one, so that their
 * numbers are known. */
#include "lib/base/ini_file.h"

#include <ctype.h>
#include <ini.h>

struct reader {
	const char *rest;
	char *line;    /* the one that was handed out last */
	char *section; /* inih cuts its name to 49 bytes */
	int n;
	ini_take *take;
	void *data;
	bool too_long;
	int r;
	struct error *err;
};

/* As fgets: inih's reader. */
static char *ini_next_line(char *buffer, int size, void *data)
{
	struct reader *r = data;
	size_t length, all;

	if (!*r->rest || r->r < 0 || r->too_long)
		return NULL;
	/* inih would take an indented line for more of the one before */
	r->rest += strspn(r->rest, " \t");
	length = strcspn(r->rest, "\n");
	all = length + (r->rest[length] == '\n');
	r->n++;
	r->too_long = all >= (size_t)size;
	if (r->too_long)
		return NULL;
	memcpy(buffer, r->rest, all);
	buffer[all] = '\0';
	free(r->line);
	r->line = xstrndup(r->rest, length);
	if (*r->line == '[') {
		free(r->section);
		r->section = xstrndup(r->line + 1, strcspn(r->line + 1, "]"));
	}
	r->rest += all;
	return buffer;
}

static int ini_line_take(void *data, const char *section, const char *name, const char *value)
{
	struct reader *r = data;
	char *whole = r->line + strcspn(r->line, "=:"), *end = r->line + strlen(r->line);
	struct ini_line line = {r->section ?: section, name, value, .n = r->n};

	/* what follows the first "=" or ":", without blanks around it */
	whole += *whole != '\0';
	whole += strspn(whole, " \t");
	while (end > whole && isspace((unsigned char)end[-1]))
		*--end = '\0';
	line.whole = whole;
	if (r->r == 0)
		r->r = r->take(&line, r->data, r->err);
	return r->r == 0;
}

int ini_each_line(
	const char *text, const char *where, ini_take *each, void *data, struct error *err)
{
	struct reader r = {.rest = text, .take = each, .data = data, .err = err};
	int wrong = ini_parse_stream(ini_next_line, &r, ini_line_take, &r);

	free(r.line);
	free(r.section);
	if (r.r < 0)
		return error_prefix(err, r.r, "%s, line %d", where, r.n);
	if (wrong == 0 && !r.too_long)
		return 0;
	return error_say(err, -EINVAL, "%s, line %d: %s", where, wrong ?: r.n,
		wrong ? "neither a [section] nor 'name = value'" : "longer than 198 bytes");
}
