/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of process names: see names.h. */
#include "lib/protocol/names.h"

#include <fnmatch.h>

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
static char *trim_blanks(char *text)
{
	size_t len;

	text += strspn(text, " \t\r");
	len = strlen(text);
	while (len > 0 && strchr(" \t\r", text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

int names_parse(struct names *ret, const char *text, const char *where, struct error *err)
{
	_cleanup_(names_clear) struct names names = {.text = xstrdup(text)};
	char *rest = names.text, *line;
	size_t n = 0;

	for (int number = 1; (line = strsep(&rest, "\n")); number++) {
		struct name_pattern *row;
		char *equals;

		line = trim_blanks(line);
		if (!*line || *line == '#')
			continue;
		equals = strrchr(line, '=');
		if (!equals || equals == line)
			return error_say(err, -EINVAL, "%s, line %d: '%s' is not PATTERN = GROUP",
				where, number, line);
		*equals = '\0';
		row = array_add(names.rows, n);
		row->pattern = trim_blanks(line);
		row->group = trim_blanks(equals + 1);
		if (!*row->group)
			row->group = NULL;
	}
	for (size_t i = 0; i < ELEMENTS(names_default); i++) {
		struct name_pattern *row = array_add(names.rows, n);

		*row = names_default[i];
	}
	*ret = TAKE_STRUCT(names);
	return 0;
}

void names_clear(struct names *names)
{
	free(names->rows);
	free(names->text);
	*names = (struct names){};
}

static const char names_path[] = "/etc/emp/policies/names.ini";

int names_text(char **ret, struct error *err)
{
	const char *given = getenv("EMP_NAMES"), *path = given ?: names_path;
	int r = file_read_text(path, ret);

	if (r == -ENOENT && !given) {
		*ret = xstrdup("");
		return 0;
	}
	return r < 0 ? error_os(err, r, "cannot read the names of processes in '%s'", path) : 0;
}

int names_load(struct names *ret, const struct run *run, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	int r;

	if (run && run->name_patterns)
		return names_parse(ret, run->name_patterns,
			text_brief("the patterns of names of run %" PRId64, run->id), err);
	r = names_text(&text, err);
	return r < 0 ? r : names_parse(ret, text, getenv("EMP_NAMES") ?: names_path, err);
}
