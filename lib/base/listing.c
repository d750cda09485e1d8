/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows printed as a table or as JSON: see listing.h. */
#include "lib/base/listing.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"

#include <assert.h>
#include <math.h>

struct listing {
	const struct listing_column *columns;
	struct column *screen; /* those with a name */
	struct table *table;   /* NULL: JSON */
	json_t *rows, *row;
	size_t at;   /* the next column */
	bool failed; /* no memory */
};

static int begin_table(struct listing *list, struct error *err)
{
	size_t n = 0, shown = 0;

	while (list->columns[n].name || list->columns[n].member)
		n++;
	list->screen = xcalloc(n + 1, sizeof(*list->screen));
	for (size_t i = 0; i < n; i++)
		if (list->columns[i].name)
			list->screen[shown++] = (struct column){list->columns[i].name, list->columns[i].kind};
	return table_new(&list->table, list->screen, err);
}

int listing_new(struct listing **ret, const struct listing_column *columns, bool json, struct error *err)
{
	_cleanup_(listing_freep) struct listing *list = xcalloc(1, sizeof(*list));
	int r = 0;

	list->columns = columns;
	if (json)
		list->rows = json_array();
	else
		r = begin_table(list, err);
	if (r < 0)
		return r;
	*ret = TAKE(list);
	return 0;
}

void listing_free(struct listing *list)
{
	if (!list)
		return;
	table_free(list->table);
	free(list->screen);
	json_decref(list->rows);
	free(list);
}

void listing_row(struct listing *list)
{
	list->at = 0;
	if (list->table) {
		table_row(list->table);
		return;
	}
	list->row = json_object(); /* belongs to rows */
	list->failed |= json_array_append_new(list->rows, list->row) < 0;
}

void listing_cell(struct listing *list, json_t *value, const char *text)
{
	const struct listing_column *column = &list->columns[list->at++];

	assert(column->name || column->member); /* one call for each column */
	if (list->table && column->name)
		table_cell_text(list->table, text);
	if (!list->table && column->member && !list->failed)
		list->failed |= json_object_set_new(list->row, column->member, value ?: json_null()) < 0;
	else
		json_decref(value);
}

void listing_text(struct listing *list, const char *text)
{
	listing_cell(list, text ? json_string(text) : NULL, text ?: "-");
}

void listing_int(struct listing *list, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	listing_cell(list, json_integer(value), text);
}

void listing_duration(struct listing *list, int64_t ns)
{
	char text[TEXT_TIME_SIZE] = "-";

	if (ns >= 0)
		text_duration(text, ns);
	listing_cell(list, ns >= 0 ? json_integer(ns) : NULL, text);
}

void listing_moment(struct listing *list, int64_t realtime_ns)
{
	char text[TEXT_TIME_SIZE] = "-";

	if (realtime_ns > 0)
		text_moment(text, realtime_ns);
	listing_cell(list, realtime_ns > 0 ? json_integer(realtime_ns) : NULL, text);
}

void listing_real(struct listing *list, const char *format, double value)
{
	char text[64] = "-";

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (isfinite(value))
		snprintf(text, sizeof(text), format, value);
#pragma GCC diagnostic pop
	listing_cell(list, isfinite(value) ? json_real(value) : NULL, text);
}

int listing_print(struct listing *list, FILE *file, struct error *err)
{
	if (list->failed)
		return error_oom(err);
	return list->table ? table_print(list->table, file, err) : json_print(list->rows, file, err);
}

json_t *listing_take(struct listing *list)
{
	return list->failed ? NULL : TAKE(list->rows);
}
