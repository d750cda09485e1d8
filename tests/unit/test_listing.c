/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One description of columns, and two forms of the same rows. */
#include "tests/unit/check.h"

#include "lib/base/listing.h"

#include <math.h>

static const struct listing_column columns[] = {
	{NULL, "run"},
	{"PROGRAM", "program"},
	{"TOOK", "et_ns", COLUMN_NUMBER},
	{"STARTED", NULL},
	{"RATIO", "ratio", COLUMN_NUMBER},
	{},
};

static char *printed(bool json)
{
	_cleanup_(listing_freep) struct listing *list = NULL;
	struct error err = {};
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_int_equal(listing_new(&list, columns, json, &err), 0);
	listing_row(list);
	listing_int(list, 7);
	listing_text(list, "sort");
	listing_duration(list, 1500000);
	listing_moment(list, 0);
	listing_real(list, "%.2f", 1.178);
	listing_row(list);
	listing_int(list, 8);
	listing_text(list, NULL);
	listing_duration(list, -1);
	listing_cell(list, json_integer(1), "x");
	listing_real(list, "%.2f", NAN);
	assert_int_equal(listing_print(list, file, &err), 0);
	fclose(file);
	return text;
}

TEST(a_table_has_the_columns_with_a_name)
{
	_cleanup_(freep) char *text = printed(false);

	assert_string_equal(text, "PROGRAM      TOOK  STARTED  RATIO\n"
				  "sort     1.500 ms  -         1.18\n"
				  "-               -  x            -\n");
}

TEST(json_has_the_columns_with_a_member)
{
	_cleanup_(freep) char *text = printed(true), *compact = NULL;
	_cleanup_(json_decrefp) json_t *rows = json_loads(text, 0, NULL);

	compact = json_dumps(rows, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(4));
	assert_string_equal(compact, "[{\"run\":7,\"program\":\"sort\",\"et_ns\":1500000,\"ratio\":1.178},"
				     "{\"run\":8,\"program\":null,\"et_ns\":null,\"ratio\":null}]");
}

TEST(the_rows_can_be_a_member_of_a_document)
{
	_cleanup_(listing_freep) struct listing *list = NULL;
	_cleanup_(json_decrefp) json_t *rows = NULL;
	struct error err = {};

	assert_int_equal(listing_new(&list, columns, true, &err), 0);
	listing_row(list);
	rows = listing_take(list);
	assert_int_equal(json_array_size(rows), 1);
}
