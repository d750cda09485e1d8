/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing environments: see environment_changes.h. */
#include "lib/report/environment_changes.h"

#include "lib/base/json.h"

/* The document of an environment in the book; NULL: it has none. */
static int load_document(struct book *book, int64_t id, json_t **ret, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	int r = id ? book_get_environment(book, id, NULL, &text, err) : 0;

	if (r == 0)
		*ret = text ? json_loads(text, 0, NULL) : NULL;
	return r;
}

int environment_differences(
	struct book *book, int64_t before_id, int64_t now_id, struct differences *ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *before = NULL, *now = NULL;
	int r;

	r = load_document(book, before_id, &before, err);
	if (r == 0)
		r = load_document(book, now_id, &now, err);
	if (r < 0 || !before || !now)
		return r;
	r = environment_diff(before, now, ret, err);
	return r < 0 ? r : 1;
}

int environment_changes(
	struct book *book, const char *digest, int64_t now_id, size_t most, char **ret, struct error *err)
{
	_cleanup_(differences_clear) struct differences differences = {};
	int64_t before_id;
	int r;

	r = book_put_environment(book, digest, NULL, NULL, &before_id, err);
	if (r == 0)
		r = environment_differences(book, before_id, now_id, &differences, err);
	if (r < 0 || differences.n == 0)
		return r < 0 ? r : 0;
	return differences_description(&differences, most, ret, err);
}
