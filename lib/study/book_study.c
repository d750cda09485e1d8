/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Studies in the lab book: their fields, and the SQL. */
#include "lib/study/book_study.h"

#include "lib/book/sql.h"

#include <math.h>

const char *const study_kind_names[N_STUDY_KINDS + 1] = {
	[STUDY_LENGTHS] = "lengths",
	[STUDY_SAMPLES] = "samples",
	[STUDY_SETTINGS] = "settings",
	[STUDY_VERSIONS] = "versions",
	[STUDY_CLOCKS] = "clocks",
	[STUDY_ALGORITHMS] = "algorithms",
	[STUDY_SUITE] = "suite",
	[STUDY_CLEAN_ROOM] = "clean-room",
	[STUDY_NIGHT] = "night",
};

#define IS_ID .min = 1, .max = INT64_MAX

static const struct field study_fields[] = {
	{FIELD(study_row, FIELD_INT64, id), IS_ID, .expression = "study.id"},
	{FIELD(study_row, FIELD_INT64, night), IS_OPTIONAL, IS_ID},
	{FIELD(study_row, FIELD_TEXT, name)},
	{FIELD(study_row, FIELD_ENUM, what), .words = study_kind_names, .n_words = N_STUDY_KINDS},
	{FIELD(study_row, FIELD_TEXT, file)},
	{FIELD(study_row, FIELD_TEXT, options)},
	{FIELD(study_row, FIELD_INT64, seed), .max = INT64_MAX},
	{FIELD(study_row, FIELD_TEXT, notes), IS_OPTIONAL},
	{FIELD(study_row, FIELD_TEXT, owner), IS_OPTIONAL},
	{FIELD(study_row, FIELD_INT64, started_ns), IS_MOMENT},
	{FIELD(study_row, FIELD_INT64, finished_ns), IS_OPTIONAL, .min = 1, IS_MOMENT},
	{FIELD(study_row, FIELD_INT64, environment), IS_OPTIONAL, IS_ID},
};
const struct field_table study_table = {
	"study", "", study_fields, ELEMENTS(study_fields), sizeof(struct study_row)};

static const struct field study_block_fields[] = {
	{FIELD(study_block, FIELD_INT64, id), IS_ID, .expression = "study_block.id"},
	{FIELD(study_block, FIELD_UINT32, position), .min = 1},
	{FIELD(study_block, FIELD_INT, round), .min = 1},
	{FIELD(study_block, FIELD_TEXT, step), IS_OPTIONAL},
	{FIELD(study_block, FIELD_TEXT, subject)},
	{FIELD(study_block, FIELD_REAL, size), IS_OPTIONAL},
	{FIELD(study_block, FIELD_TEXT, command)},
	{FIELD(study_block, FIELD_UINT32, samples), .min = 1},
	{FIELD(study_block, FIELD_INT64, started_ns), IS_OPTIONAL, .min = 1, IS_MOMENT},
	{FIELD(study_block, FIELD_INT64, finished_ns), IS_OPTIONAL, .min = 1, IS_MOMENT},
};
const struct field_table study_block_table = FIELD_TABLE(
	study_block, "study, ", study_block_fields);

static const struct field study_run_fields[] = {
	{FIELD(study_run, FIELD_INT64, run), IS_ID},
	{FIELD(study_run, FIELD_INT64, block), IS_ID},
};
const struct field_table study_run_table = FIELD_TABLE(study_run, "", study_run_fields);

static const struct field study_reading_fields[] = {
	{FIELD(study_reading, FIELD_INT64, block), IS_ID},
	{FIELD(study_reading, FIELD_TEXT, clock)},
	{FIELD(study_reading, FIELD_UINT32, sample), .min = 1},
	{FIELD(study_reading, FIELD_INT64, ns), IS_TIME},
};
const struct field_table study_reading_table = FIELD_TABLE(study_reading, "", study_reading_fields);

void study_row_clear(struct study_row *study)
{
	fields_clear(&study_table, study);
	*study = (struct study_row){};
}

static int add_study(struct book *book, struct study_row *study, struct study_block *blocks,
	size_t n_blocks, struct error *err)
{
	int r = sql_insert(book, err, &study_table, "", study, 1, "");

	if (r == 0)
		r = sql_row(book, err, "SELECT max(id) FROM study", ":I", &study->id);
	if (r < 0)
		return r;

	r = sql_insert(
		book, err, &study_block_table, "", blocks, n_blocks, "i", (int64_t)study->id);
	for (size_t i = 0; r >= 0 && i < n_blocks; i++)
		r = sql_row(book, err,
			"SELECT id FROM study_block WHERE study = ? AND position = ?", "ii:I",
			study->id, (int64_t)blocks[i].position, &blocks[i].id);
	return r < 0 ? r : 0;
}

int book_add_study(struct book *book, struct study_row *study, struct study_block *blocks,
	size_t n_blocks, struct error *err)
{
	study->started_ns = study->started_ns ?: clock_ns(CLOCK_REALTIME);
	return BOOK_ATOMIC_RETRIED(book, add_study(book, study, blocks, n_blocks, err), err);
}

int book_get_study(struct book *book, int64_t id, struct study_row *ret, struct error *err)
{
	int r = sql_one(book, err, &study_table, "WHERE id = ?1 OR ?1 = 0 ORDER BY id DESC LIMIT 1",
		ret, "i", id);

	if (r != 0)
		return r < 0 ? r : 0;
	if (id == 0)
		return error_say(err, -ENOENT,
			"the lab book has no study: 'emp-study list' shows which there are to run");
	return error_say(err, -ENOENT,
		"the lab book has no study %lld: 'emp-study list' shows those that it has",
		(long long)id);
}

int book_studies(struct book *book, struct study_row **ret, size_t *ret_n, struct error *err)
{
	return sql_all(book, err, &study_table, "ORDER BY id", ret, ret_n, "");
}

int book_night_studies(
	struct book *book, int64_t night, struct study_row **ret, size_t *ret_n, struct error *err)
{
	return sql_all(
		book, err, &study_table, "WHERE night = ? ORDER BY id", ret, ret_n, "i", night);
}

int book_unfinished_study(struct book *book, struct study_row *ret, struct error *err)
{
	return sql_one(book, err, &study_table,
		"WHERE finished_ns IS NULL AND night IS NULL ORDER BY id DESC LIMIT 1", ret, "");
}

int book_study_blocks(struct book *book, int64_t study, struct study_block **ret, size_t *ret_n,
	struct error *err)
{
	return sql_all(book, err, &study_block_table, "WHERE study = ? ORDER BY position", ret,
		ret_n, "i", study);
}

#define OF_THE_STUDY "JOIN study_block ON study_block.id = block WHERE study = ? "

int book_study_runs(
	struct book *book, int64_t study, struct study_run **ret, size_t *ret_n, struct error *err)
{
	return sql_all(book, err, &study_run_table, OF_THE_STUDY "ORDER BY position, run", ret,
		ret_n, "i", study);
}

int book_study_readings(struct book *book, int64_t study, struct study_reading **ret, size_t *ret_n,
	struct error *err)
{
	return sql_all(book, err, &study_reading_table,
		OF_THE_STUDY "ORDER BY position, clock, sample", ret, ret_n, "i", study);
}

static const struct field run_study_fields[] = {
	{FIELD(run_study, FIELD_INT64, run), IS_ID},
	{FIELD(run_study, FIELD_INT64, study), IS_ID, .expression = "study"},
};
static const struct field_table run_study_table = {
	"study_run", "", run_study_fields, ELEMENTS(run_study_fields), sizeof(struct run_study)};

int book_run_studies(struct book *book, struct run_study **ret, size_t *ret_n, struct error *err)
{
	return sql_all(book, err, &run_study_table,
		"JOIN study_block ON study_block.id = block ORDER BY run", ret, ret_n, "");
}

static int by_run(const void *a, const void *b)
{
	int64_t x = ((const struct run_study *)a)->run, y = ((const struct run_study *)b)->run;

	return (x > y) - (x < y);
}

int64_t run_study_find(const struct run_study *studies, size_t n, int64_t run)
{
	const struct run_study key = {.run = run};
	const struct run_study *found = n ? bsearch(&key, studies, n, sizeof(key), by_run) : NULL;

	return found ? found->study : 0;
}

int book_study_samples(struct book *book, int64_t block, uint32_t *ret_samples,
	uint32_t *ret_readings, struct error *err)
{
	int64_t samples = 0, readings = 0;
	int r = sql_row(book, err,
		"SELECT (SELECT count(*) FROM study_run JOIN sample USING(run) WHERE block = ?1),"
		" (SELECT count(DISTINCT sample) FROM study_reading WHERE block = ?1)",
		"i:II", block, &samples, &readings);

	if (r < 0)
		return r;
	*ret_samples = (uint32_t)samples;
	*ret_readings = (uint32_t)readings;
	return 0;
}

int book_study_duration(struct book *book, const char *command, int64_t *ret_ns, struct error *err)
{
	double mean_ns;
	int r = sql_row(book, err,
		"SELECT avg(et_ns) FROM study_block JOIN study_run ON block = study_block.id"
		" JOIN sample USING(run) WHERE command = ?",
		"t:D", command, &mean_ns);

	if (r <= 0 || isnan(mean_ns))
		return r < 0 ? r : 0;
	*ret_ns = (int64_t)mean_ns;
	return 1;
}

int book_study_measured(struct book *book, int64_t study, int64_t *ret_ns, struct error *err)
{
	int r = sql_row(book, err,
		"SELECT ifnull(sum(max(0, study_block.finished_ns - study_block.started_ns)), 0)"
		" FROM study_block JOIN study ON study.id = study WHERE ?1 IN (study.id, night)",
		"i:I", study, ret_ns);

	return r < 0 ? r : 0;
}

int book_add_study_run(struct book *book, int64_t block, int64_t run, struct error *err)
{
	const struct study_run row = {.run = run, .block = block};

	return sql_insert(book, err, &study_run_table, "", &row, 1, "");
}

int book_add_study_readings(
	struct book *book, const struct study_reading *readings, size_t n, struct error *err)
{
	return sql_insert(book, err, &study_reading_table, "", readings, n, "");
}

int book_begin_study_block(struct book *book, int64_t block, struct error *err)
{
	return sql_row(book, err,
		"UPDATE study_block SET started_ns = ifnull(started_ns, ?) WHERE id = ?", "ii",
		clock_ns(CLOCK_REALTIME), block);
}

int book_finish_study_block(struct book *book, int64_t block, struct error *err)
{
	return sql_row(book, err, "UPDATE study_block SET finished_ns = ? WHERE id = ?", "ii",
		clock_ns(CLOCK_REALTIME), block);
}

int book_finish_study(struct book *book, int64_t study, struct error *err)
{
	return sql_row(book, err, "UPDATE study SET finished_ns = ?, owner = NULL WHERE id = ?",
		"ii", clock_ns(CLOCK_REALTIME), study);
}

int book_own_study(struct book *book, int64_t study, const char *owner, struct error *err)
{
	return sql_row(book, err, "UPDATE study SET owner = ? WHERE id = ?", "ti", owner, study);
}

static int remove_study(struct book *book, int64_t study, struct error *err)
{
	int r = sql_row(book, err,
		"DELETE FROM run WHERE id IN (SELECT run FROM study_run"
		" JOIN study_block ON study_block.id = block JOIN study ON study.id = study"
		" WHERE ?1 IN (study.id, study.night))",
		"i", study);

	return r < 0 ? r : sql_row(book, err, "DELETE FROM study WHERE id = ?", "i", study);
}

int book_remove_study(struct book *book, int64_t study, struct error *err)
{
	return BOOK_ATOMIC_RETRIED(book, remove_study(book, study, err), err);
}
