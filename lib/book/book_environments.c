/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Environments in the lab book: fingerprints, their machines, and what was measured of them: the constant of INC, what the machine
 * can resolve, and how much its samples are alike. */
#include "lib/book/book_internal.h"

static const struct field measurement_fields[] = {
	{FIELD(measurement, FIELD_TEXT, name)},
	{FIELD(measurement, FIELD_REAL, value)},
	{FIELD(measurement, FIELD_TEXT, unit)},
};
const struct field_table measurement_table = FIELD_TABLE(measurement, "environment, ", measurement_fields);

int book_find_environment(struct book *book, const char *digest, int64_t *ret, struct error *err)
{
	return digest ? sql_row(book, err, "SELECT id FROM environment WHERE digest = ?", "t:I", digest, ret)
		      : 0;
}

static int put_environment(struct book *book, const char *digest, const char *machine, const char *document,
	int64_t *ret, struct error *err)
{
	int64_t machine_id = 0;
	int r = 0;

	if (machine)
		r = sql_row(book, err, "INSERT INTO machine(name) VALUES (?) ON CONFLICT DO NOTHING", "t",
			machine);
	if (r >= 0 && machine)
		r = sql_row(book, err, "SELECT id FROM machine WHERE name = ?", "t:I", machine, &machine_id);
	if (r < 0)
		return r;
	/* without a digest, environments are the same if their machines and documents are */
	r = sql_row(book, err,
		"SELECT id FROM environment WHERE digest IS ?1 AND (?1 IS NOT NULL OR (machine IS ?2 AND document IS ?3))",
		"tut:I", digest, machine_id, document, ret);
	if (r != 0)
		return r;
	return sql_row(book, err,
		"INSERT INTO environment(digest, machine, document) VALUES (?, ?, ?) RETURNING id", "tut:I",
		digest, machine_id, document, ret);
}

int book_put_environment(struct book *book, const char *digest, const char *machine, const char *document,
	int64_t *ret, struct error *err)
{
	int64_t id = 0;
	int r = BOOK_ATOMIC(book, put_environment(book, digest, machine, document, &id, err), err);

	if (r < 0)
		return r;
	*ret = id;
	return 0;
}

static int environment_not_there(struct book *book, int64_t id, struct error *err)
{
	return error_say(err, -ENOENT, "environment %" PRId64 " is not in the lab book '%s'", id, book->path);
}

int book_get_environment(
	struct book *book, int64_t id, char **ret_digest, char **ret_document, struct error *err)
{
	int r = sql_row(book, err, "SELECT digest, document FROM environment WHERE id = ?", "i:TT", id,
		ret_digest, ret_document);

	return r > 0 ? 0 : r < 0 ? r : environment_not_there(book, id, err);
}

int book_get_machine(struct book *book, int64_t environment, char **ret, struct error *err)
{
	int r = sql_row(book, err,
		"SELECT name FROM environment LEFT JOIN machine ON machine.id = machine WHERE environment.id = ?",
		"i:T", environment, ret);

	return r > 0 ? 0 : r < 0 ? r : environment_not_there(book, environment, err);
}

/* 1: found. */
static int get_measurement(
	struct book *book, int64_t environment, const char *name, double *ret, struct error *err)
{
	static const struct field value = {"value", FIELD_REAL, .size = sizeof(double)};
	static const struct field_table table = {"measurement", "", &value, 1, sizeof(double)};

	return sql_one(book, err, &table, "WHERE environment = ? AND name = ?", ret, "it", environment, name);
}

int book_measurements(
	struct book *book, int64_t environment, struct measurement **ret, size_t *ret_n, struct error *err)
{
	return sql_all(book, err, &measurement_table, "WHERE environment = ? ORDER BY name", ret, ret_n, "i",
		environment);
}

int book_put_measurement(
	struct book *book, int64_t environment, const struct measurement *measurement, struct error *err)
{
	return sql_insert(book, err, &measurement_table, "ON CONFLICT DO UPDATE SET value = excluded.value",
		measurement, 1, "i", environment);
}

int book_get_inc(struct book *book, int64_t environment, double *ret_per_second, struct error *err)
{
	return get_measurement(book, environment, "inc_per_second", ret_per_second, err);
}

int book_put_inc(struct book *book, int64_t environment, double per_second, struct error *err)
{
	double stored;
	int r = sql_row(book, err,
		"INSERT INTO measurement VALUES (?, 'inc_per_second', ?, '1/s') ON CONFLICT DO NOTHING RETURNING 1",
		"id", environment, per_second);

	if (r < 0 && book->failure == SQLITE_CONSTRAINT_FOREIGNKEY)
		return environment_not_there(book, environment, err);
	if (r != 0)
		return r < 0 ? r : 0;
	r = book_get_inc(book, environment, &stored, err);
	if (r < 0)
		return r;
	return error_say(err, -EEXIST,
		"the lab book '%s' already has the constant of INC for this environment (%.0f iterations a second), and runs that were made with it",
		book->path, stored);
}

/* What a machine can resolve: three measurements for each number of samples, which ends their names. */
#define FIGURE(name) "max(value) FILTER (WHERE name = '" name "' || ?2)"

static const struct field resolving_fields[] = {
	{FIELD(resolving, FIELD_INT64, samples), .expression = "?2"},
	{FIELD(resolving, FIELD_REAL, interleaved), .expression = FIGURE("resolves_interleaved_")},
	{FIELD(resolving, FIELD_REAL, separate), .expression = FIGURE("resolves_separate_")},
	{FIELD(resolving, FIELD_REAL, duet), .presence = FIELD_OPTIONAL, /* not known before 0.3 */
		.expression = FIGURE("resolves_duet_")},
};
static const struct field_table resolving_table = {
	"measurement", "", resolving_fields, ELEMENTS(resolving_fields), sizeof(struct resolving)};

int book_put_resolving(
	struct book *book, int64_t environment, const struct resolving rows[N_RESOLVING], struct error *err)
{
	int r = 0;

	for (const struct resolving *row = rows; r >= 0 && row < rows + N_RESOLVING; row++)
		if (row->samples > 0)
			r = sql_row(book, err,
				"INSERT INTO measurement VALUES (?1, 'resolves_interleaved_' || ?2, ?3, '1'),"
				" (?1, 'resolves_separate_' || ?2, ?4, '1'), (?1, 'resolves_duet_' || ?2, ?5, '1')"
				" ON CONFLICT DO UPDATE SET value = excluded.value",
				"iiddd", environment, row->samples, row->interleaved, row->separate,
				row->duet);
	return r;
}

int book_get_resolving(
	struct book *book, int64_t environment, struct resolving ret[N_RESOLVING], struct error *err)
{
	for (size_t i = 0; i < N_RESOLVING; i++) {
		int r;

		ret[i] = (struct resolving){};
		r = sql_one(book, err, &resolving_table,
			"WHERE environment = ?1 AND name IN ('resolves_interleaved_' || ?2,"
			" 'resolves_separate_' || ?2, 'resolves_duet_' || ?2) GROUP BY environment"
			" HAVING total(name <> 'resolves_duet_' || ?2) = 2",
			&ret[i], "ii", environment, (int64_t)resolving_sizes[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* How much neighbouring samples are alike, for all numbers of samples (0). */
#define LAG1 "correlation_0"
#define LAG1_SAMPLES "correlation_samples_0"

int book_put_correlation(
	struct book *book, int64_t environment, const struct correlation *correlation, struct error *err)
{
	const struct measurement rows[] = {{(char *)LAG1, correlation->lag1, (char *)"1"},
		{(char *)LAG1_SAMPLES, (double)correlation->samples, (char *)"1"}};

	return sql_insert(book, err, &measurement_table, "ON CONFLICT DO UPDATE SET value = excluded.value",
		rows, 2, "i", environment);
}

int book_get_correlation(struct book *book, int64_t environment, struct correlation *ret, struct error *err)
{
	struct correlation correlation = {};
	double samples = 0;
	int r = get_measurement(book, environment, LAG1, &correlation.lag1, err);

	if (r > 0)
		r = get_measurement(book, environment, LAG1_SAMPLES, &samples, err);
	if (r < 0)
		return r;
	if (samples >= 1 && samples <= UINT32_MAX && correlation.lag1 >= 0 && correlation.lag1 < 1)
		correlation.samples = (int64_t)samples;
	*ret = correlation;
	return 0;
}
