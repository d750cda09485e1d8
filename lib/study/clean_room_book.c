/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The study clean-room in the lab book: see clean_room_book.h. */
#include "lib/study/clean_room_book.h"

#include "lib/book/sql.h"

#include <math.h>

static const struct field room_comparison_fields[] = {
	{FIELD(room_comparison, FIELD_INT64, block), .min = 1, .max = INT64_MAX},
	{FIELD(room_comparison, FIELD_BOOL, copy_first)},
	{FIELD(room_comparison, FIELD_REAL, slowed)},
	{FIELD(room_comparison, FIELD_REAL, daemon), IS_OPTIONAL},
};
static const struct field_table room_comparison_table = {"study_comparison", "",
	room_comparison_fields, ELEMENTS(room_comparison_fields), sizeof(struct room_comparison)};

static const struct field room_finding_fields[] = {
	{FIELD(room_finding, FIELD_UINT32, position), .min = 1},
	{FIELD(room_finding, FIELD_INT, round), .min = 1},
	{FIELD(room_finding, FIELD_TEXT, step), IS_OPTIONAL},
	{FIELD(room_finding, FIELD_TEXT, tool), .expression = "subject"},
	{FIELD(room_finding, FIELD_REAL, slowdown), .expression = "size"},
	{FIELD(room_finding, FIELD_UINT32, samples), .min = 1},
	{FIELD(room_finding, FIELD_INT64, started_ns), IS_MOMENT},
	{FIELD(room_finding, FIELD_INT64, finished_ns), IS_MOMENT},
	{FIELD(room_finding, FIELD_BOOL, copy_first)},
	{FIELD(room_finding, FIELD_REAL, slowed)},
	{FIELD(room_finding, FIELD_REAL, daemon), IS_OPTIONAL},
	{FIELD(room_finding, FIELD_TEXT, rule)},
	{FIELD(room_finding, FIELD_ENUM, claim), .words = room_claim_words,
		.n_words = N_ROOM_CLAIMS},
	{FIELD(room_finding, FIELD_REAL, ratio), IS_OPTIONAL},
};
const struct field_table room_finding_table = {"study_claim", "", room_finding_fields,
	ELEMENTS(room_finding_fields), sizeof(struct room_finding)};

static int add_room_comparison(struct book *book, const struct room_comparison *comparison,
	const struct room_tool *tool, const struct room_answer *answer, struct error *err)
{
	int r = sql_insert(book, err, &room_comparison_table, "", comparison, 1, "");

	for (size_t i = 0; r >= 0 && tool->rules[i].name; i++)
		r = sql_row(book, err,
			"INSERT INTO study_claim(block, rule, claim, ratio) VALUES (?, ?, ?, ?)",
			"ittd:", comparison->block, tool->rules[i].name,
			room_claim_words[answer->claims[i]], answer->ratios[i]);
	for (size_t i = 0; r >= 0 && i < ELEMENTS(answer->runs); i++)
		if (answer->runs[i] > 0)
			r = book_add_study_run(book, comparison->block, answer->runs[i], err);
	return r < 0 ? r : book_finish_study_block(book, comparison->block, err);
}

int book_add_room_comparison(struct book *book, const struct room_comparison *comparison,
	const struct room_tool *tool, const struct room_answer *answer, struct error *err)
{
	return BOOK_ATOMIC_RETRIED(
		book, add_room_comparison(book, comparison, tool, answer, err), err);
}

int book_room_findings(struct book *book, int64_t study, struct room_finding **ret, size_t *ret_n,
	struct error *err)
{
	return sql_all(book, err, &room_finding_table,
		"JOIN study_comparison USING (block) JOIN study_block ON study_block.id = block "
		"WHERE study = ? AND finished_ns IS NOT NULL ORDER BY position, study_claim.rowid",
		ret, ret_n, "i", study);
}
