/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing two fingerprints: see environment_diff.h. */
#include "lib/protocol/environment_diff.h"

#include "lib/base/array.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

static char *value_text(const json_t *value)
{
	_cleanup_(freep) char *text = NULL;

	if (!value || json_is_null(value))
		return strdup("nothing");
	if (json_is_string(value))
		return text_format("'%s'", json_string_value(value));
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	if (text && strlen(text) > 200) /* such as a list of all units: too long to print */
		return text_format("%.200s…", text);
	return TAKE(text);
}

static int add(
	struct differences *d, bool identity, const char *what, const json_t *before, const json_t *now)
{
	struct difference *item = array_add(d->items, d->n);

	if (!item)
		return -ENOMEM;
	*item = (struct difference){identity, strdup(what), value_text(before), value_text(now)};
	d->n_identity += identity;
	return item->what && item->before && item->now ? 0 : -ENOMEM;
}

static bool is_tree(const json_t *value)
{
	return json_is_object(value) && json_object_size(value) > 0;
}

static int compare(struct differences *d, bool identity, const char *prefix, json_t *before, json_t *now);

static int compare_member(struct differences *d, bool identity, const char *name, json_t *before, json_t *now)
{
	if (is_tree(before) || is_tree(now))
		return compare(d, identity, name, before, now);
	if (before && now && json_equal(before, now))
		return 0;
	if ((!before || json_is_null(before)) && (!now || json_is_null(now)))
		return 0;
	return add(d, identity, name, before, now);
}

/* Either may be NULL or not an object: then every member of the other is a difference. */
static int compare(struct differences *d, bool identity, const char *prefix, json_t *before, json_t *now)
{
	const char *key;
	json_t *value;
	int r = 0;

	json_object_foreach (before, key, value) {
		_cleanup_(freep) char *name = text_format("%s%s%s", prefix, *prefix ? "." : "", key);

		r = name ? compare_member(d, identity, name, value, json_object_get(now, key)) : -ENOMEM;
		if (r < 0)
			return r;
	}
	json_object_foreach (now, key, value) {
		_cleanup_(freep) char *name = text_format("%s%s%s", prefix, *prefix ? "." : "", key);

		if (json_object_get(before, key))
			continue;
		r = name ? compare_member(d, identity, name, NULL, value) : -ENOMEM;
		if (r < 0)
			return r;
	}
	return 0;
}

int environment_diff(const json_t *before, const json_t *now, struct differences *ret, struct error *err)
{
	struct differences d = {};
	int r;

	r = compare(&d, true, "", json_object_get(before, "identity"), json_object_get(now, "identity"));
	if (r == 0)
		r = compare(
			&d, false, "", json_object_get(before, "settings"), json_object_get(now, "settings"));
	if (r < 0) {
		differences_clear(&d);
		return error_oom(err);
	}
	*ret = d;
	return 0;
}

void differences_clear(struct differences *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->items[i].what);
		free(d->items[i].before);
		free(d->items[i].now);
	}
	free(d->items);
	*d = (struct differences){};
}

int differences_description(const struct differences *d, size_t most, char **ret, struct error *err)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return error_oom(err);
	for (size_t i = 0; i < d->n && i < most; i++)
		fprintf(memory, "%s%s was %s, is %s", i ? "; " : "", d->items[i].what, d->items[i].before,
			d->items[i].now);
	if (d->n > most)
		fprintf(memory, "; and %zu more", d->n - most);
	if (fclose(memory) != 0)
		return error_oom(err);
	*ret = text;
	return 0;
}
