/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What jansson leaves to its users: see json.h. */
#include "lib/base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

int json_print(const json_t *json, FILE *file, struct error *err)
{
	if (!json)
		return error_os(err, -ENOMEM, "cannot make a JSON document");
	if (json_dumpf(json, file, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15)) < 0 ||
		fputc('\n', file) < 0)
		return error_os(err, -EIO, "cannot write a JSON document");
	return 0;
}

int json_read(json_t **ret, const char *path, struct error *err)
{
	_cleanup_(fclosep) FILE *file = NULL;
	json_error_t e;
	json_t *json;

	if (strcmp(path, "-")) {
		file = fopen(path, "re");
		if (!file)
			return error_os(err, -errno, "cannot open '%s'", path);
	}
	json = json_loadf(file ?: stdin, JSON_REJECT_DUPLICATES, &e);
	if (!json)
		return error_say(err, -EINVAL, "'%s' is not JSON: line %d, column %d: %s", path, e.line,
			e.column, e.text);
	*ret = json;
	return 0;
}

static int get(const json_t *object, const char *where, const char *name, json_type type, const char *kind,
	json_t **ret, struct error *err)
{
	json_t *member = json_object_get(object, name);

	if (!member)
		return error_say(err, -EINVAL, "%s has no '%s'", where, name);
	if (json_typeof(member) != type)
		return error_say(err, -EINVAL, "%s: '%s' must be %s", where, name, kind);
	*ret = member;
	return 0;
}

int json_get_int(const json_t *object, const char *where, const char *name, int64_t min, int64_t *ret,
	struct error *err)
{
	json_t *member = NULL;
	int r;

	r = get(object, where, name, JSON_INTEGER, "a whole number", &member, err);
	if (r < 0)
		return r;
	if (json_integer_value(member) < min)
		return error_say(err, -EINVAL, "%s: '%s' is %" PRId64 " and must not be below %" PRId64,
			where, name, (int64_t)json_integer_value(member), min);
	*ret = json_integer_value(member);
	return 0;
}

int json_get_text(
	const json_t *object, const char *where, const char *name, const char **ret, struct error *err)
{
	json_t *member = NULL;
	int r;

	r = get(object, where, name, JSON_STRING, "text", &member, err);
	if (r < 0)
		return r;
	*ret = json_string_value(member);
	return 0;
}

int json_get_array(const json_t *object, const char *where, const char *name, json_t **ret, struct error *err)
{
	return get(object, where, name, JSON_ARRAY, "an array", ret, err);
}
