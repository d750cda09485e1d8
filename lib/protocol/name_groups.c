/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of process names: see name_groups.h. */
#include "lib/protocol/name_groups.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/cleanup.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

const struct name_pattern names_default[] = {
	{"kworker/R-*", NULL}, /* rescuers keep the name of their queue */
	{"kworker/u*", "kworker/u"},
	{"kworker/*", "kworker"},
	{},
};

const char *name_group(const struct name_pattern *patterns, const char *comm)
{
	for (const struct name_pattern *p = patterns; p->pattern; p++)
		if (fnmatch(p->pattern, comm, 0) == 0)
			return p->group ?: comm;
	return comm;
}

/* Removes leading and trailing blanks in place. */
static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t\r");
	len = strlen(text);
	while (len > 0 && strchr(" \t\r", text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

static int parse_line(struct names *names, size_t *n, char *line, struct error *err)
{
	struct name_pattern *row;
	char *equals;

	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	equals = strrchr(line, '=');
	if (!equals || equals == line)
		return error_say(err, -EINVAL, "'%s' is not PATTERN = GROUP", line);
	*equals = '\0';
	row = array_add(names->rows, *n);
	row->pattern = trim(line);
	row->group = trim(equals + 1);
	if (!*row->group)
		row->group = NULL;
	return 0;
}

static int parse(struct names *names, const char *where, struct error *err)
{
	char *rest = names->text, *line;
	size_t n = 0;

	for (int number = 1; (line = strsep(&rest, "\n")); number++) {
		int r = parse_line(names, &n, line, err);

		if (r < 0)
			return error_prefix(err, r, "%s, line %d", where, number);
	}
	for (size_t i = 0; i < ELEMENTS(names_default); i++) {
		struct name_pattern *row = array_add(names->rows, n);

		*row = names_default[i];
	}
	return 0;
}

int names_parse(struct names *ret, const char *text, const char *where, struct error *err)
{
	struct names names = {.text = xstrdup(text)};
	int r = names.text ? parse(&names, where, err) : error_oom(err);

	if (r < 0)
		names_clear(&names);
	else
		*ret = names;
	return r;
}

void names_clear(struct names *names)
{
	free(names->rows);
	free(names->text);
	*names = (struct names){};
}
