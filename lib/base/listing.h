/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows printed as a table or as JSON, from one description of their columns.
 *
 *	static const struct listing_column columns[] = {
 *		{"RUN", "run", COLUMN_NUMBER}, {"ELAPSED TIME", "et_ns", COLUMN_NUMBER}, {}};
 *
 *	r = listing_new(&list, columns, options.json, err);
 *	…
 *	listing_row(list);
 *	listing_int(list, run->id);
 *	listing_duration(list, run->et_ns);
 *	…
 *	return listing_print(list, stdout, err);
 */
#pragma once

#include "lib/base/json.h"
#include "lib/base/table.h"

#include <stdbool.h>
#include <stdint.h>

struct listing;

struct listing_column {
	const char *name;   /* on the screen; NULL: in JSON only */
	const char *member; /* in JSON; NULL: on the screen only */
	enum column_kind kind;
};

/* `columns` ends with {} and must outlive the listing. */
int listing_new(struct listing **ret, const struct listing_column *columns, bool json, struct error *err);
void listing_free(struct listing *list);
DEFINE_FREEP(listing)

/* Begins a row, then fills it from left to right, with one call for each column. Unknown values are "-" and null.
 * listing_print returns a failure of these. */
void listing_row(struct listing *list);
void listing_text(struct listing *list, const char *text); /* NULL: not known */
void listing_int(struct listing *list, int64_t value);
void listing_duration(struct listing *list, int64_t ns);                   /* below 0: not known */
void listing_moment(struct listing *list, int64_t realtime_ns);            /* 0: not known */
void listing_real(struct listing *list, const char *format, double value); /* NAN: not known */
/* Any other value, which is taken over; null if it is NULL. */
void listing_cell(struct listing *list, json_t *value, const char *text);

/* The table, or the array of rows. */
int listing_print(struct listing *list, FILE *file, struct error *err);

/* The array of rows, for a member of a document; the caller owns it. NULL: a table, or no memory. */
json_t *listing_take(struct listing *list);
