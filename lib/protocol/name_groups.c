/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Under which name a process counts: see name_groups.h. */
#include "lib/protocol/name_groups.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
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

/* In place: without the blanks on either side. */
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
	struct name_pattern *bigger;
	char *equals;

	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	equals = strrchr(line, '=');
	if (!equals || equals == line)
		return error_say(err, -EINVAL, "'%s' is not PATTERN = GROUP", line);
	*equals = '\0';
	bigger = reallocarray(names->rows, *n + 1 + ELEMENTS(names_default), sizeof(*bigger));
	if (!bigger)
		return error_os(err, -ENOMEM, "cannot read the names of processes");
	names->rows = bigger;
	bigger[*n].pattern = trim(line);
	bigger[*n].group = trim(equals + 1);
	if (!*bigger[*n].group)
		bigger[*n].group = NULL;
	++*n;
	return 0;
}

static int parse(struct names *names, const char *where, struct error *err)
{
	char *rest = names->text, *line;
	size_t n = 0;

	names->rows = reallocarray(NULL, ELEMENTS(names_default), sizeof(*names->rows));
	if (!names->rows)
		return error_os(err, -ENOMEM, "cannot read the names of processes");
	for (int number = 1; (line = strsep(&rest, "\n")); number++) {
		int r = parse_line(names, &n, line, err);

		if (r < 0)
			return error_prefix(err, r, "%s, line %d", where, number);
	}
	memcpy(names->rows + n, names_default, sizeof(names_default));
	return 0;
}

int names_parse(struct names *ret, const char *text, const char *where, struct error *err)
{
	struct names names = {.text = strdup(text)};
	int r = names.text ? parse(&names, where, err)
			   : error_os(err, -ENOMEM, "cannot read the names of processes");

	if (r < 0)
		names_clear(&names);
	else
		*ret = names;
	return r;
}

int names_load(struct names *ret, struct error *err)
{
	const char *named = getenv("EMP_NAMES"), *path = named ?: "/etc/emp/policies/names.ini";
	_cleanup_(freep) char *text = NULL;
	int r = text_read_file(AT_FDCWD, path, &text);

	if (r == -ENOENT && !named)
		return names_parse(ret, "", path, err);
	if (r < 0)
		return error_os(err, r, "cannot read the names of processes in '%s'", path);
	return names_parse(ret, text, path, err);
}

void names_clear(struct names *names)
{
	free(names->rows);
	free(names->text);
	*names = (struct names){};
}
