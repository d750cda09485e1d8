/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file with the mark of a lab book, whose tables are not those of a lab book. */
#include "tests/unit/book_file.h"

#include "lib/book/book_internal.h"
#include "lib/book/book_schema.h"
#include "lib/book/sql.h"

#include <errno.h>

/* Neither a reader nor a writer opens it, and the sentence has these words. */
static void refused(struct scratch *s, const char *change, const char *words)
{
	unlink(s->path);
	scratch_open(s, BOOK_WRITE);
	book_free(TAKE(s->book));
	sql(s->path, change);
	for (int mode = BOOK_READ; mode <= BOOK_WRITE; mode++) {
		assert_int_equal(book_open(&s->book, s->path, mode, &s->err), -EBADMSG);
		assert_says(s, words);
		assert_says(s, "restore an intact copy");
	}
}

TEST_IN_DIRECTORY(what_differs_from_a_lab_book_is_named)
{
	refused(s, "DROP TABLE cutoff", "lacks its table 'cutoff'");
	refused(s, "DROP INDEX source_who", "lacks its index 'source_who'");
	refused(s, "DROP TABLE cutoff; CREATE VIEW cutoff AS SELECT random() AS profile",
		"'cutoff'");
	refused(s, "DROP VIEW samples_readable; CREATE VIEW samples_readable AS SELECT random()",
		"a view 'samples_readable' that differs");
	refused(s, "CREATE VIEW mine AS SELECT 1",
		"has the view 'mine', which EMP does not make; remove it");
	refused(s, "CREATE TABLE zzz(x)", "has the table 'zzz'");
	refused(s, "CREATE INDEX mine ON sample(et_ns)", "has the index 'mine'");
	refused(s, "CREATE TRIGGER mine AFTER INSERT ON sample BEGIN DELETE FROM run; END",
		"has the trigger 'mine'");
	refused(s, "ALTER TABLE sample ADD COLUMN x INTEGER", "a table 'sample' that differs");
	refused(s, "ALTER TABLE sample RENAME COLUMN lost TO gone", "'sample' that differs");
	refused(s,
		"PRAGMA writable_schema = ON;"
		"UPDATE sqlite_schema SET sql = replace(sql, 'et_ns INTEGER NOT NULL', "
		"'et_ns INTEGER')"
		" WHERE name = 'sample'",
		"a table 'sample' that differs");
}

/* While a step of the schema is under development, each build has its own. */
TEST_IN_DIRECTORY(a_book_of_another_build_can_be_exported_by_that_build)
{
	scratch_open(s, BOOK_WRITE);
	book_free(TAKE(s->book));
	sql(s->path, "ALTER TABLE sample ADD COLUMN x INTEGER");
	assert_int_equal(book_open(&s->book, s->path, BOOK_READ, &s->err), -EBADMSG);
	assert_says(s, "if another build of this version under development made it, export its");
	assert_says(s, s->path);
}

TEST_IN_BOOK(the_newest_tables_have_the_digest_of_the_build)
{
	char digest[DIGEST_SIZE];

	assert_int_equal(book_schema_digest(s->book->db, digest), 0);
	assert_string_equal(digest, book_schema_newest_digest);
}

TEST_IN_DIRECTORY(statistics_and_quotes_do_not_matter)
{
	scratch_open(s, BOOK_WRITE);
	book_free(TAKE(s->book));
	sql(s->path,
		"ANALYZE; PRAGMA writable_schema = ON;"
		"UPDATE sqlite_schema SET sql = replace(sql, 'program TEXT', '\"program\"  TEXT')");
	scratch_open(s, BOOK_READ);
}

TEST_IN_DIRECTORY(an_old_book_is_checked_before_it_is_upgraded)
{
	load(s, "0.1.0/book.sql");
	sql(s->path, "ALTER TABLE seam RENAME TO other");
	assert_int_equal(book_open(&s->book, s->path, BOOK_READ, &s->err), -EBADMSG);
	assert_says(s, "has the table 'other'");
	sql(s->path, "ALTER TABLE other RENAME TO seam");
	scratch_open(s, BOOK_READ);
}

/* The constraints of a table hold only for what is written through them. */
TEST_IN_DIRECTORY(a_value_that_emp_does_not_write_is_named)
{
	static const char *const rows[][2] = {
		{"state = 'lost'", "'state' of a row of its table 'run' is lost"},
		{"resolution_ns = 0", "'resolution_ns' of a row of its table 'run' is 0"},
		{"started_ns = 9223372036854775807",
			"'started_ns' of a row of its table 'run' is 922"},
		{"cpu = 4294967296", "'cpu' of a row of its table 'run' is 4294967296"},
		{"environment = -1", "'environment' of a row of its table 'run' is -1"},
		{"uid = 'short'", "'uid' of a row of its table 'run' is short"},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		_cleanup_(freep) char *change = text_format(
			"PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; "
			"UPDATE run SET %s",
			rows[i][0]);
		_cleanup_(run_clear) struct run run = {};

		unlink(s->path);
		scratch_open(s, BOOK_WRITE);
		run = scratch_begin(s, "INC");
		book_free(TAKE(s->book));
		sql(s->path, change);
		scratch_open(s, BOOK_READ);
		run_clear(&run);
		assert_int_equal(book_get_run(s->book, 1, &run, &s->err), -EBADMSG);
		assert_says(s, rows[i][1]);
		assert_says(s, "which EMP does not write; restore an intact copy");
		book_free(TAKE(s->book));
	}
}

/* What was read before a value that is refused is freed: nobody else would do it. */
TEST_IN_DIRECTORY(a_row_that_is_refused_leaves_no_text)
{
	struct run run = {};

	scratch_open(s, BOOK_WRITE);
	run = scratch_begin(s, "INC");
	book_free(TAKE(s->book));
	run_clear(&run);
	sql(s->path, "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;"
		     " UPDATE run SET environment = -1");
	scratch_open(s, BOOK_READ);
	assert_int_equal(sql_one(s->book, &s->err, &run_table, "", &run, ""), -EBADMSG);
	for (size_t i = 0; i < run_table.n; i++)
		if (run_table.fields[i].type == FIELD_TEXT)
			assert_null(*field_text(&run_table.fields[i], &run));
}
