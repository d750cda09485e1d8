/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of a book for command lines: see book_words.h. */
#include "lib/book/book_words.h"

#include "lib/book/sql.h"

/* As many as somebody reads through. */
#define LATEST " ORDER BY id DESC LIMIT 100"
#define MOMENT_OF(ns) "strftime('%Y-%m-%d %H:%M', " #ns " / 1000000000, 'unixepoch', 'localtime')"

/* The name of a run, or else its command line. */
#define SAID_OF_RUN                                                                   \
	"coalesce(name, substr((SELECT group_concat(value, ' ') FROM json_each(CASE " \
	"WHEN json_valid(command) THEN command END)), 1, 60), program)"

/* Enough for names: a book may have millions, and nobody waits for the Tab key. */
#define LATEST_RUNS "(SELECT id, name, started_ns FROM run ORDER BY id DESC LIMIT 20000)"

/* The rows of a table of the book as words. */
#define WORDS_OF(table_, word_, about_)                                                      \
	{                                                                                    \
		(table_), "",                                                                \
			(const struct field[]){                                              \
				{FIELD(book_word, FIELD_TEXT, word), .expression = (word_)}, \
				{FIELD(book_word, FIELD_TEXT, about), IS_OPTIONAL,           \
					.expression = (about_)}},                            \
			2, sizeof(struct book_word)                                          \
	}

static const struct field_table word_tables[N_BOOK_WORDS] = {
	[BOOK_RUNS] = WORDS_OF(
		"run", "CAST(id AS TEXT)", SAID_OF_RUN " || ', ' || " MOMENT_OF(started_ns)),
	[BOOK_RUN_NAMES] = WORDS_OF(LATEST_RUNS, "name", MOMENT_OF(max(started_ns))),
	[BOOK_PROFILES] = WORDS_OF("profile", "name", MOMENT_OF(made_ns)),
	[BOOK_CALIBRATIONS] = WORDS_OF("calibration", "CAST(id AS TEXT)",
		"profile || ', ' || state || ', ' || " MOMENT_OF(started_ns)),
};
#define BEGINS(column) "WHERE substr(" #column ", 1, length(?1)) = ?1"
static const char *const word_tails[N_BOOK_WORDS] = {
	[BOOK_RUNS] = BEGINS(id) LATEST,
	[BOOK_RUN_NAMES] = BEGINS(name) " GROUP BY name" LATEST,
	[BOOK_PROFILES] = BEGINS(name) " AND retired_ns IS NULL ORDER BY name",
	[BOOK_CALIBRATIONS] = BEGINS(id) LATEST,
};

int book_words(struct book *book, enum book_words which, const char *typed, struct book_word **ret,
	size_t *ret_n, struct error *err)
{
	return sql_all(book, err, &word_tables[which], word_tails[which], ret, ret_n, "t", typed);
}

void book_words_free(struct book_word *words, size_t n)
{
	fields_free(&word_tables[BOOK_RUNS], words, n);
}
