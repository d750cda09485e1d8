/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups and families of process names: see names.h. */
#include "lib/protocol/names.h"

#include <ctype.h>
#include <fnmatch.h>

enum { STEM_SIZE = 256, LEAST_NAMES = 4, LEAST_OTHER_NAMES = 8, FEW_OF = 4, HEX_DIGITS = 3 };

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
			return error_say(err, -EINVAL, "%s, line %d: '%s' is not PATTERN = GROUP", where,
				number, line);
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
	int r = text_read_file(AT_FDCWD, path, ret);

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

/* The text with '*' for what changes: a word is kept up to its first digit, a hexadecimal number not at all. */
static const char *stem_of(char stem[STEM_SIZE], const char *text)
{
	size_t n = 0, len;

	for (; *text && n + 1 < STEM_SIZE; text += len) {
		size_t kept = strcspn(text, "0123456789"), room = STEM_SIZE - 2 - n;

		for (len = 0; isalnum((unsigned char)text[len]); len++)
			;
		len = len ?: 1; /* a word, or a character between words */
		if (kept >= len)
			kept = len;
		else if (len >= HEX_DIGITS && strspn(text, "0123456789abcdef") >= len)
			kept = 0;
		kept = kept < room ? kept : room;
		memcpy(stem + n, text, kept);
		n += kept;
		if (kept < len)
			stem[n++] = '*';
	}
	stem[n] = '\0';
	return stem;
}

static bool has_stem(const char *family, const char *name, const char *unit, const char *exe)
{
	const char *const texts[] = {name, unit, exe};
	char stem[STEM_SIZE];

	for (size_t i = 0; i < ELEMENTS(texts); i++)
		if (texts[i] && !strcmp(stem_of(stem, texts[i]), family))
			return true;
	return false;
}

bool name_family_has(const char *family, const struct source *source)
{
	return source->kind != SOURCE_KERNEL && has_stem(family, source->name, source->unit, source->exe);
}

/* What names of a family have in common, in the order in which it is tried. */
enum family_key { KEY_NAME, KEY_UNIT, KEY_EXE, N_KEYS };

/* What the member would share with the others of its family. False: nothing. */
static bool family_key_of(char stem[STEM_SIZE], const struct family_member *member, enum family_key key)
{
	const char *text = key == KEY_NAME ? member->name : key == KEY_UNIT ? member->unit : member->exe;
	size_t len = text ? strlen(text) : 0;

	if (member->alone || member->family || !text)
		return false;
	if (key == KEY_UNIT && (len <= 8 || strcmp(text + len - 8, ".service") || !strncmp(text, "user@", 5)))
		return false;
	stem_of(stem, text);
	return key != KEY_NAME || (strchr(stem, '*') && strpbrk(stem, "abcdefghijklmnopqrstuvwxyz"));
}

struct keyed_member {
	char *key;
	struct family_member *member;
};

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct keyed_member *)a)->key, ((const struct keyed_member *)b)->key);
}

/* Whether n names with the same key are a family. */
static bool is_family(const struct keyed_member *keyed, size_t n, enum family_key key)
{
	size_t executions = 0, few = 0, returned = 0, of_returned = 0;

	for (size_t i = 0; i < n; i++) {
		const struct family_member *member = keyed[i].member;

		executions += member->executions;
		returned += member->returned;
		of_returned += member->returned ? member->executions : 0;
	}
	for (size_t i = 0; i < n; i++)
		few += FEW_OF * keyed[i].member->executions <= executions;
	if (key != KEY_NAME)
		return n >= LEAST_OTHER_NAMES && returned == 0 && 2 * few > n;
	return n >= LEAST_NAMES && 2 * of_returned <= executions && 2 * few > n;
}

void name_families_find(struct family_member *members, size_t n, const char *const *known, size_t n_known)
{
	for (size_t k = 0; k < n_known; k++)
		for (size_t i = 0; i < n; i++) {
			struct family_member *m = &members[i];

			if (!m->alone && !m->family && has_stem(known[k], m->name, m->unit, m->exe))
				m->family = xstrdup(known[k]);
		}
	for (enum family_key key = KEY_NAME; key < N_KEYS; key++) {
		_cleanup_(freep) struct keyed_member *keyed = xcalloc(n, sizeof(*keyed));
		char stem[STEM_SIZE];
		size_t n_keyed = 0;

		for (size_t i = 0; i < n; i++)
			if (family_key_of(stem, &members[i], key))
				keyed[n_keyed++] = (struct keyed_member){xstrdup(stem), &members[i]};
		qsort(keyed, n_keyed, sizeof(*keyed), by_key);
		for (size_t i = 0, end; i < n_keyed; i = end) { /* each row of equal keys */
			for (end = i + 1; end < n_keyed && !by_key(&keyed[i], &keyed[end]); end++)
				;
			if (!is_family(&keyed[i], end - i, key))
				continue;
			for (size_t k = i; k < end; k++)
				keyed[k].member->family = xstrdup(keyed[k].key);
		}
		for (size_t i = 0; i < n_keyed; i++)
			free(keyed[i].key);
	}
}

const char *name_family_size(uint32_t names)
{
	return names ? text_brief(" (%u name%s)", names, names == 1 ? "" : "s") : "";
}
