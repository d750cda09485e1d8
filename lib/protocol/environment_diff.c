/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing two fingerprints: see environment_diff.h. */
#include "lib/protocol/environment_diff.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

/* "a, b, c and 27 more" of an array of texts; the caller frees it. */
static char *texts_listed(const json_t *array)
{
	enum { MOST = 10 };
	_cleanup_(freep) char *list = xstrdup("");
	size_t i, n = json_array_size(array);
	json_t *item;

	json_array_foreach (array, i, item) {
		char *longer;

		if (!list || !json_is_string(item) || i == MOST)
			break;
		longer = text_format("%s%s%s", list, i ? ", " : "", json_string_value(item));
		free(list);
		list = longer;
	}
	return list && i < n ? text_format("%s and %zu more", list, n - i) : TAKE(list);
}

static bool holds_only(const json_t *array, json_type type)
{
	size_t i;
	json_t *item;

	json_array_foreach (array, i, item)
		if (json_typeof(item) != type)
			return false;
	return json_is_array(array);
}

static char *value_text(const json_t *value)
{
	if (!value || json_is_null(value))
		return xstrdup("nothing");
	if (json_is_string(value))
		return text_format("'%s'", json_string_value(value));
	if (json_array_size(value) > 0 && holds_only(value, JSON_STRING))
		return texts_listed(value);
	return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
}

/* Takes the texts over. */
static int add_texts(struct differences *d, bool identity, char *what, char *before, char *now)
{
	struct difference *item = array_add(d->items, d->n);

	if (!item) {
		free(what);
		free(before);
		free(now);
		return -ENOMEM;
	}
	*item = (struct difference){identity, what, before, now};
	return what && before && now ? 0 : -ENOMEM;
}

static int add(
	struct differences *d, bool identity, const char *what, const json_t *before, const json_t *now)
{
	return add_texts(d, identity, xstrdup(what), value_text(before), value_text(now));
}

static bool is_tree(const json_t *value)
{
	return json_is_object(value) && json_object_size(value) > 0;
}

static int compare(struct differences *d, bool identity, const char *prefix, json_t *before, json_t *now);

static bool has_text(const json_t *array, const char *text)
{
	size_t i;
	json_t *item;

	json_array_foreach (array, i, item)
		if (!strcmp(json_string_value(item), text))
			return true;
	return false;
}

/* One difference for each text that only one of two sets has: "units.cron.service". */
static int compare_texts(
	struct differences *d, bool identity, const char *name, const json_t *before, const json_t *now)
{
	size_t i;
	json_t *item;
	int r = 0;

	json_array_foreach (before, i, item)
		if (r == 0 && !has_text(now, json_string_value(item)))
			r = add_texts(d, identity, text_format("%s.%s", name, json_string_value(item)),
				xstrdup("present"), xstrdup("gone"));
	json_array_foreach (now, i, item)
		if (r == 0 && !has_text(before, json_string_value(item)))
			r = add_texts(d, identity, text_format("%s.%s", name, json_string_value(item)),
				xstrdup("absent"), xstrdup("present"));
	return r;
}

/* The first and the last number of an entry: those of its members, else its index. */
static void range_of(const json_t *entry, size_t i, json_int_t range[2])
{
	const json_t *first = json_object_get(entry, "first"), *last = json_object_get(entry, "last");

	range[0] = first ? json_integer_value(first) : (json_int_t)i;
	range[1] = last ? json_integer_value(last) : range[0];
}

/* The entry for a number. *ret_end becomes the last number up to which that does not change, if it is lower. */
static json_t *entry_for(const json_t *array, json_int_t number, json_int_t *ret_end)
{
	json_t *entry, *found = NULL;
	json_int_t range[2];
	size_t i;

	json_array_foreach (array, i, entry) {
		range_of(entry, i, range);
		if (range[0] > number && range[0] - 1 < *ret_end)
			*ret_end = range[0] - 1;
		if (range[0] > number || range[1] < number)
			continue;
		found = entry;
		*ret_end = range[1] < *ret_end ? range[1] : *ret_end;
	}
	return found;
}

static json_int_t last_number(const json_t *array)
{
	json_t *entry;
	json_int_t range[2], most = -1;
	size_t i;

	json_array_foreach (array, i, entry) {
		range_of(entry, i, range);
		most = range[1] > most ? range[1] : most;
	}
	return most;
}

static json_t *without_range(const json_t *entry)
{
	json_t *copy = json_copy((json_t *)entry);

	json_object_del(copy, "first");
	json_object_del(copy, "last");
	return copy;
}

/* The members of the entries with the numbers from `first` to `last`. */
static int compare_range(struct differences *d, bool identity, const char *list, const json_int_t range[2],
	const json_t *before, const json_t *now)
{
	_cleanup_(json_decrefp) json_t *old = without_range(before), *fresh = without_range(now);
	_cleanup_(freep) char *name = range[0] == range[1]
					      ? text_format("%s.%d", list, (int)range[0])
					      : text_format("%s.%d-%d", list, (int)range[0], (int)range[1]);

	if (!name)
		return -ENOMEM;
	return old && fresh ? compare(d, identity, name, old, fresh) : add(d, identity, name, before, now);
}

/* Entries for a range of numbers each ("first", "last"), or for a number. */
static int compare_entries(
	struct differences *d, bool identity, const char *name, const json_t *before, const json_t *now)
{
	json_int_t most = last_number(before), other = last_number(now), range[2];

	most = other > most ? other : most;
	for (range[0] = 0; range[0] <= most; range[0] = range[1] + 1) {
		json_t *old, *fresh;
		int r;

		range[1] = most;
		old = entry_for(before, range[0], &range[1]);
		fresh = entry_for(now, range[0], &range[1]);
		r = old || fresh ? compare_range(d, identity, name, range, old, fresh) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static int compare_member(struct differences *d, bool identity, const char *name, json_t *before, json_t *now)
{
	if (json_equal(before, now))
		return 0;
	if (is_tree(before) ? is_tree(now) || json_is_null(now) : is_tree(now) && json_is_null(before))
		return compare(d, identity, name, before, now);
	if (holds_only(before, JSON_STRING) && holds_only(now, JSON_STRING))
		return compare_texts(d, identity, name, before, now);
	if (holds_only(before, JSON_OBJECT) && holds_only(now, JSON_OBJECT))
		return compare_entries(d, identity, name, before, now);
	return add(d, identity, name, before, now);
}

/* A member that only one of them has is no difference: versions of EMP record more or less. What a machine does not
 * have is null, which may stand for a whole tree. */
static int compare(struct differences *d, bool identity, const char *prefix, json_t *before, json_t *now)
{
	const char *key;
	json_t *value;
	int r = 0;

	json_object_foreach (is_tree(before) ? before : now, key, value) {
		_cleanup_(freep) char *name = text_format("%s%s%s", prefix, *prefix ? "." : "", key);
		json_t *old = json_is_null(before) ? before : json_object_get(before, key);
		json_t *fresh = json_is_null(now) ? now : json_object_get(now, key);

		if (old && fresh)
			r = name ? compare_member(d, identity, name, old, fresh) : -ENOMEM;
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

void difference_clear(struct difference *d)
{
	free(d->what);
	free(d->before);
	free(d->now);
}

void differences_clear(struct differences *d)
{
	for (size_t i = 0; i < d->n; i++)
		difference_clear(&d->items[i]);
	free(d->items);
	*d = (struct differences){};
}

int differences_description(const struct differences *d, size_t most, char **ret, struct error *err)
{
	char *text = NULL;
	size_t size;
	FILE *memory = xopen_memstream(&text, &size);

	for (size_t i = 0; i < d->n && i < most; i++)
		fprintf(memory, "%s%s was %s, is %s", i ? "; " : "", d->items[i].what, d->items[i].before,
			d->items[i].now);
	if (d->n > most)
		fprintf(memory, "; and %zu more", d->n - most);
	text_stream_close(memory, &text);
	*ret = text;
	return 0;
}
