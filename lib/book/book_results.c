/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results that the book keeps for its readers: see book_results.h. */
#include "lib/book/book_results.h"

#include "lib/book/book_internal.h"
#include "lib/book/sql.h"

static const char *const clock_names[N_STORED_CLOCKS] = {
	[STORED_PT] = "pt",
	[STORED_ET] = "et",
};

static const char *const rule_names[N_STORED_RULES] = {
	[STORED_BY_CUTOFF] = "cutoff",
	[STORED_BY_UNPROFILED] = "unprofiled",
	[STORED_BY_INCOMPLETE] = "incomplete",
	[STORED_BY_NEIGHBOUR] = "neighbour",
	[STORED_BY_DUET] = "duet",
	[STORED_BY_TWO_SD] = "two_sd",
};

static const struct field result_fields[] = {
	{FIELD(stored_result, FIELD_ENUM, clock), .words = clock_names, .n_words = N_STORED_CLOCKS},
	{FIELD(stored_result, FIELD_INT64, samples)},
	{FIELD(stored_result, FIELD_INT64, kept)},
	{FIELD(stored_result, FIELD_BOOL, adjusted)},
	{FIELD(stored_result, FIELD_INT64, min_ns), UNLESS_NEGATIVE},
	{FIELD(stored_result, FIELD_INT64, max_ns), UNLESS_NEGATIVE},
	{FIELD(stored_result, FIELD_REAL, mean_ns)},
	{FIELD(stored_result, FIELD_REAL, median_ns)},
	{FIELD(stored_result, FIELD_REAL, sd_ns)},
	{FIELD(stored_result, FIELD_REAL, low_ns)},
	{FIELD(stored_result, FIELD_REAL, high_ns)},
	{FIELD(stored_result, FIELD_REAL, lag1)},
	{FIELD(stored_result, FIELD_REAL, effective_n)},
	{FIELD(stored_result, FIELD_INT64, clean_samples)},
	{FIELD(stored_result, FIELD_REAL, clean_mean_ns)},
	{FIELD(stored_result, FIELD_REAL, clean_sd_ns)},
};
static const struct field_table result_table = {
	"result", "run, ", result_fields, ELEMENTS(result_fields), sizeof(struct stored_result)};

static const struct field discard_fields[] = {
	{FIELD(stored_discard, FIELD_UINT32, sample)},
	{FIELD(stored_discard, FIELD_ENUM, rule), .words = rule_names, .n_words = N_STORED_RULES},
	{FIELD(stored_discard, FIELD_ENUM, clock), .words = clock_names,
		.n_words = N_STORED_CLOCKS},
	{FIELD(stored_discard, FIELD_TEXT, daemon), IS_OPTIONAL},
	{FIELD(stored_discard, FIELD_TEXT, unit), IS_OPTIONAL},
	{FIELD(stored_discard, FIELD_INT64, pt_ns), UNLESS_NEGATIVE},
	{FIELD(stored_discard, FIELD_INT64, limit_ns), UNLESS_NEGATIVE},
};
static const struct field_table discard_table = {"discard", "run, n, ", discard_fields,
	ELEMENTS(discard_fields), sizeof(struct stored_discard)};

int results_forget(struct book *book, int64_t run, struct error *err)
{
	return sql_row(book, err, "DELETE FROM result WHERE run = ?", "i", run);
}

int results_forget_duet(struct book *book, int64_t run, struct error *err)
{
	return sql_row(book, err,
		"DELETE FROM result WHERE run IN (SELECT run FROM duet"
		" WHERE reference = (SELECT reference FROM duet WHERE run = ?))",
		"i", run);
}

int results_forget_profile(struct book *book, const char *profile, struct error *err)
{
	return sql_row(book, err,
		"DELETE FROM result WHERE run IN (SELECT id FROM run WHERE profile = ?"
		" AND profile_id IS NULL)",
		"t", profile);
}

static int replace_results(struct book *book, int64_t run, const struct stored_result results[2],
	const struct stored_discard *discards, size_t n, struct error *err)
{
	int r = results_forget(book, run, err);

	if (r >= 0)
		r = sql_row(book, err, "DELETE FROM discard WHERE run = ?", "i", run);
	if (r >= 0)
		r = sql_insert(book, err, &result_table, "", results, 2, "i", run);
	return r ?: sql_insert(book, err, &discard_table, "", discards, n, "in", run, (int64_t)1);
}

int book_put_results(struct book *book, int64_t run, const struct stored_result results[2],
	const struct stored_discard *discards, size_t n, struct error *err)
{
	book_unsynced(book);
	return BOOK_ATOMIC_RETRIED(
		book, replace_results(book, run, results, discards, n, err), err);
}

int book_has_results(struct book *book, int64_t run, struct error *err)
{
	return sql_row(book, err, "SELECT 1 FROM result WHERE run = ?", "i", run);
}
