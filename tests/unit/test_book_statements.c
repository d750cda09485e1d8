/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements are found by their text, wherever that is in memory, and however many there are. */
#include "tests/unit/scratch.h"

#include "lib/book/sql.h"

/* Several times as many as all of EMP has. */
enum { STATEMENTS = 1000 };

TEST_IN_BOOK(statements_whose_text_is_in_the_same_place_are_not_confused)
{
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < STATEMENTS; i++) {
			char text[64];
			int64_t number = -1;

			snprintf(text, sizeof(text), "SELECT %d", i);
			assert_int_equal(sql_row(s->book, &s->err, text, ":I", &number), 1);
			assert_int_equal(number, i);
		}
}

struct pair {
	int64_t n, at_ns;
};

TEST_IN_BOOK(statements_whose_tables_are_in_the_same_place_are_not_confused)
{
	static const struct field fields[] = {
		{FIELD(pair, FIELD_INT64, n)},
		{FIELD(pair, FIELD_INT64, at_ns)},
	};

	for (size_t i = 0; i < ELEMENTS(fields); i++) {
		const struct field_table one = {
			"(SELECT 3 AS n, 4 AS at_ns)", "", &fields[i], 1, sizeof(struct pair)};
		struct pair pair = {};

		assert_int_equal(sql_one(s->book, &s->err, &one, "", &pair, ""), 1);
		assert_int_equal(pair.n, i == 0 ? 3 : 0);
		assert_int_equal(pair.at_ns, i == 0 ? 0 : 4);
	}
}

TEST_IN_BOOK(a_statement_that_is_wrong_is_not_kept)
{
	for (int i = 0; i < 2; i++) {
		assert_true(sql_row(s->book, &s->err, "SELECT wrong", "") < 0);
		assert_says(s, "no such column: wrong");
	}
}
