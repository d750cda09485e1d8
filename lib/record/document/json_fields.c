/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the documents that come in: see json_fields.h. */
#include "lib/record/document/json_fields.h"

#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

char *place_text(char buffer[PLACE_SIZE], const struct place *at)
{
	if (!at->what)
		return strcpy(buffer, "the document");
	if (at->number == 0)
		return strncat(strcpy(buffer, ""), at->what, PLACE_SIZE - 1);
	if (!at->phase)
		snprintf(buffer, PLACE_SIZE, "%s %" PRId64, at->what, at->number);
	else
		snprintf(buffer, PLACE_SIZE, "%s %" PRId64 ", %s %" PRId64, at->what, at->number, at->phase,
			at->phase_number);
	return buffer;
}

static int missing(const struct place *at, const char *name, struct error *err)
{
	char where[PLACE_SIZE];

	return error_say(err, -EINVAL, "%s has no '%s'", place_text(where, at), name);
}

static int other_kind(const struct place *at, const char *name, const char *kind, struct error *err)
{
	char where[PLACE_SIZE];

	return error_say(err, -EINVAL, "%s: '%s' must be %s", place_text(where, at), name, kind);
}

static bool absent(const json_t *object, const char *name)
{
	const json_t *member = json_object_get(object, name);

	return !member || json_is_null(member);
}

int member_is_object(const json_t *entry, const struct place *at, struct error *err)
{
	char where[PLACE_SIZE];

	return json_is_object(entry)
		       ? 0
		       : error_say(err, -EINVAL, "%s must be a JSON object {…}", place_text(where, at));
}

int member_header(const json_t *document, const char *format, int64_t version, struct error *err)
{
	const struct place top = {};
	const char *its_format;
	int64_t its_version;
	int r;

	r = member_is_object(document, &top, err);
	if (r < 0)
		return r;
	r = member_text(document, &top, "format", &its_format, err);
	if (r < 0)
		return r;
	if (strcmp(its_format, format))
		return error_say(err, -EINVAL, "the document: 'format' is '%s' where '%s' is wanted",
			its_format, format);
	r = member_int(document, &top, "version", 1, INT64_MAX, &its_version, err);
	if (r < 0)
		return r;
	if (its_version != version)
		return error_say(err, -EPROTONOSUPPORT,
			"the document: 'version' is %" PRId64 ", and this emp knows %s version %" PRId64
			" only; a newer emp may read it",
			its_version, format, version);
	return 0;
}

int member_int(const json_t *object, const struct place *at, const char *name, int64_t min, int64_t max,
	int64_t *ret, struct error *err)
{
	const json_t *member = json_object_get(object, name);
	char where[PLACE_SIZE];
	int64_t value;

	if (!member)
		return missing(at, name, err);
	if (!json_is_integer(member))
		return other_kind(at, name, "a whole number", err);
	value = json_integer_value(member);
	if (value < min)
		return error_say(err, -EINVAL, "%s: '%s' is %" PRId64 " and must not be below %" PRId64,
			place_text(where, at), name, value, min);
	if (value > max)
		return error_say(err, -EINVAL, "%s: '%s' is %" PRId64 " and must not be above %" PRId64,
			place_text(where, at), name, value, max);
	*ret = value;
	return 0;
}

int member_int_maybe(const json_t *object, const struct place *at, const char *name, int64_t min, int64_t max,
	int64_t *ret, struct error *err)
{
	return absent(object, name) ? 0 : member_int(object, at, name, min, max, ret, err);
}

int member_seconds(
	const json_t *object, const struct place *at, const char *name, int64_t *ret_ns, struct error *err)
{
	const double max = (double)MEMBER_MOMENT_MAX / NS_PER_S;
	const json_t *member = json_object_get(object, name);
	char where[PLACE_SIZE];
	double seconds;

	if (!member)
		return missing(at, name, err);
	if (!json_is_number(member))
		return other_kind(at, name, "a number of seconds", err);
	seconds = json_number_value(member);
	if (!(seconds >= 0 && seconds <= max))
		return error_say(err, -EINVAL, "%s: '%s' is %.15g and must be from 0 to %.0f seconds",
			place_text(where, at), name, seconds, max);
	*ret_ns = json_is_integer(member) ? json_integer_value(member) * NS_PER_S
					  : llround(seconds * NS_PER_S);
	return 0;
}

int member_seconds_maybe(
	const json_t *object, const struct place *at, const char *name, int64_t *ret_ns, struct error *err)
{
	return absent(object, name) ? 0 : member_seconds(object, at, name, ret_ns, err);
}

int member_text(
	const json_t *object, const struct place *at, const char *name, const char **ret, struct error *err)
{
	const json_t *member = json_object_get(object, name);

	if (!member)
		return missing(at, name, err);
	if (!json_is_string(member) || json_string_length(member) == 0)
		return other_kind(at, name, "text, and not empty", err);
	*ret = json_string_value(member);
	return 0;
}

int member_text_maybe(
	const json_t *object, const struct place *at, const char *name, const char **ret, struct error *err)
{
	return absent(object, name) ? 0 : member_text(object, at, name, ret, err);
}

int member_flag_maybe(
	const json_t *object, const struct place *at, const char *name, bool *ret, struct error *err)
{
	if (absent(object, name))
		return 0;
	if (!json_is_boolean(json_object_get(object, name)))
		return other_kind(at, name, "true or false", err);
	*ret = json_is_true(json_object_get(object, name));
	return 0;
}

int member_array(
	const json_t *object, const struct place *at, const char *name, json_t **ret, struct error *err)
{
	json_t *member = json_object_get(object, name);

	if (!member)
		return missing(at, name, err);
	if (!json_is_array(member))
		return other_kind(at, name, "an array […]", err);
	*ret = member;
	return 0;
}

int member_object(
	const json_t *object, const struct place *at, const char *name, json_t **ret, struct error *err)
{
	json_t *member = json_object_get(object, name);

	if (!member)
		return missing(at, name, err);
	if (!json_is_object(member))
		return other_kind(at, name, "an object {…}", err);
	*ret = member;
	return 0;
}

int member_object_maybe(
	const json_t *object, const struct place *at, const char *name, json_t **ret, struct error *err)
{
	return absent(object, name) ? 0 : member_object(object, at, name, ret, err);
}

json_t *member_from_ns(int64_t ns)
{
	return ns % NS_PER_S ? json_real((double)ns / NS_PER_S) : json_integer(ns / NS_PER_S);
}
