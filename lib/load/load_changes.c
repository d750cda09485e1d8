/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In what two loads differ: see load_changes.h. */
#include "lib/load/load_changes.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"

#include <string.h>

enum { MOST_COLUMNS = 40 }; /* of a line */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool load_is_same(const struct load_row *a, const struct load_row *b)
{
	return a->coordination == b->coordination && same_text(a->cpus, b->cpus) && !strcmp(a->file, b->file);
}

static void print_change(FILE *text, const char *what, const char *before, const char *now)
{
	fprintf(text, "%s%s was %s, is %s", ftell(text) > 0 ? "; " : "", what, before, now);
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

/* "'slaves = 4'", shortened; "nothing" at the end of the file. The caller frees it. */
static char *quoted_line(const char *line)
{
	size_t n = strcspn(line, "\n");
	_cleanup_(freep) char *copy = xstrndup(line, n);
	size_t fit = copy ? terminal_text_fit(copy, MOST_COLUMNS) : 0;

	return *line ? text_format("'%.*s%s'", (int)fit, line, fit < n ? "…" : "") : xstrdup("nothing");
}

static int print_line(FILE *text, const char *a, const char *b, struct error *err)
{
	_cleanup_(freep) char *before = NULL, *now = NULL, *what = NULL;
	size_t line = 1;

	while (*a && *b && strcspn(a, "\n") == strcspn(b, "\n") && !strncmp(a, b, strcspn(a, "\n"))) {
		a = next_line(a);
		b = next_line(b);
		line++;
	}
	before = quoted_line(a);
	now = quoted_line(b);
	what = text_format("line %zu of the file", line);
	if (!before || !now)
		return error_oom(err);
	print_change(text, what, before, now);
	if (strcmp(next_line(a), next_line(b)) != 0)
		fprintf(text, "; lines after it differ too");
	return 0;
}

int load_changes(const struct load_row *before, const struct load_row *now, char **ret, struct error *err)
{
	_cleanup_(freep) char *changes = NULL;
	size_t size;
	FILE *text;
	int r = 0;

	if (load_is_same(before, now)) {
		*ret = NULL;
		return 0;
	}
	text = xopen_memstream(&changes, &size);
	if (before->coordination != now->coordination)
		print_change(text, "coordination", coordination_names[before->coordination],
			coordination_names[now->coordination]);
	if (!same_text(before->cpus, now->cpus))
		print_change(text, "cpus", before->cpus ?: "all", now->cpus ?: "all");
	if (strcmp(before->file, now->file) != 0)
		r = print_line(text, before->file, now->file, err);
	text_stream_close(text, &changes);
	if (r == 0)
		*ret = TAKE(changes);
	return r;
}
