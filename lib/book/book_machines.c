/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Environments and what was measured of them: see book_machines.h. */
#include "lib/book/book_machines.h"

#include "lib/book/book_internal.h"
#include "lib/book/sql.h"
#include "lib/record/profile.h"

static const struct field measurement_fields[] = {
	{FIELD(measurement, FIELD_TEXT, name)},
	{FIELD(measurement, FIELD_REAL, value)},
	{FIELD(measurement, FIELD_TEXT, unit)},
	{FIELD(measurement, FIELD_TEXT, inc_digest), IS_OPTIONAL},
};
const struct field_table measurement_table = FIELD_TABLE(
	measurement, "environment, ", measurement_fields);

int book_find_environment(struct book *book, const char *digest, int64_t *ret, struct error *err)
{
	if (!digest)
		return 0;
	return sql_row(
		book, err, "SELECT id FROM environment WHERE digest = ?", "t:I", digest, ret);
}

static int put_environment(struct book *book, const char *digest, const char *machine,
	const char *document, int64_t *ret, struct error *err)
{
	static const char insert_machine[] =
		"INSERT INTO machine(name) SELECT ?1 WHERE ?1 IS NOT NULL ON CONFLICT DO NOTHING";
	/* the book may have the digest only, for example from a profile */
	static const char complete[] =
		"UPDATE environment SET document = ifnull(document, ?3),"
		" machine = ifnull(machine, (SELECT id FROM machine WHERE name = ?2))"
		" WHERE digest = ?1 AND ((machine IS NULL AND ?2 IS NOT NULL)"
		" OR (document IS NULL AND ?3 IS NOT NULL))";
	/* without a digest, environments are the same if their machines and documents are */
	static const char find[] =
		"SELECT id FROM environment WHERE digest IS ?1 AND (?1 IS NOT NULL"
		" OR (machine IS (SELECT id FROM machine WHERE name = ?2) AND document IS ?3))";
	static const char insert[] =
		"INSERT INTO environment(digest, machine, document)"
		" VALUES (?, (SELECT id FROM machine WHERE name = ?), ?) RETURNING id";
	int r = sql_row(book, err, insert_machine, "t", machine);

	if (r == 0)
		r = sql_row(book, err, complete, "ttt", digest, machine, document);
	if (r == 0)
		r = sql_row(book, err, find, "ttt:I", digest, machine, document, ret);
	if (r == 0) /* it is not there */
		r = sql_row(book, err, insert, "ttt:I", digest, machine, document, ret);
	return r;
}

int book_put_environment(struct book *book, const char *digest, const char *machine,
	const char *document, int64_t *ret, struct error *err)
{
	int64_t id = 0;
	int r = BOOK_ATOMIC_RETRIED(
		book, put_environment(book, digest, machine, document, &id, err), err);

	if (r < 0)
		return r;
	*ret = id;
	return 0;
}

static int environment_not_there(struct book *book, int64_t id, struct error *err)
{
	return error_say(err, -ENOENT, "environment %" PRId64 " is not in the lab book '%s'", id,
		book->path);
}

int book_get_environment(struct book *book, int64_t id, char **ret_digest, char **ret_machine,
	char **ret_document, struct error *err)
{
	int r;

	if (id == 0)
		return 0;
	r = sql_row(book, err,
		"SELECT digest, name, document FROM environment LEFT JOIN machine"
		" ON machine.id = machine"
		" WHERE environment.id = ?",
		"i:TTT", id, ret_digest, ret_machine, ret_document);
	if (r == 0)
		return environment_not_there(book, id, err);
	return r < 0 ? r : 0;
}

/* 1: found. */
static int get_measurement(struct book *book, int64_t environment, const char *inc_digest,
	const char *name, double *ret, struct error *err)
{
	static const struct field value = {"value", FIELD_REAL, .size = sizeof(double)};
	static const struct field_table table = {"measurement", "", &value, 1, sizeof(double)};

	return sql_one(book, err, &table, "WHERE environment = ? AND name = ? AND inc_digest IS ?",
		ret, "itt", environment, name, inc_digest);
}

int book_get_inc(struct book *book, int64_t environment, const char *inc_digest,
	double *ret_per_second, struct error *err)
{
	return get_measurement(
		book, environment, inc_digest, "inc_per_second", ret_per_second, err);
}

int book_put_inc(struct book *book, int64_t environment, const char *inc_digest, double per_second,
	struct error *err)
{
	double stored = per_second;
	int r = sql_row(book, err,
		"INSERT INTO measurement VALUES (?, 'inc_per_second', ?, '1/s', ?)"
		" ON CONFLICT DO UPDATE SET value = value RETURNING value",
		"idt:D", environment, per_second, inc_digest, &stored);

	if (r < 0 && book->failure == SQLITE_CONSTRAINT_FOREIGNKEY)
		return environment_not_there(book, environment, err);
	if (r < 0)
		return r;
	if (stored == per_second)
		return 0;
	return error_say(err, -EEXIST,
		"the lab book '%s' already has the constant of INC for this environment (%.0f "
		"increments a second), and runs that were made with it",
		book->path, stored);
}

int book_get_mdd(struct book *book, int64_t environment, const char *inc_digest,
	struct mdd ret[N_MDD], struct error *err)
{
	static const char *const figures[] = {"duet", "interleaved", "separate"};

	for (size_t i = 0; i < N_MDD; i++) {
		struct mdd row = {.samples = mdd_sizes[i]};
		double *const values[] = {&row.duet, &row.interleaved, &row.separate};
		bool known = true;

		for (size_t k = 0; k < ELEMENTS(figures); k++) {
			int r = get_measurement(book, environment, inc_digest,
				text_brief("resolves_%s_%d", figures[k], mdd_sizes[i]), values[k],
				err);

			if (r < 0)
				return r;
			/* which was not known before 0.3 */
			known &= r > 0 || values[k] == &row.duet;
		}
		ret[i] = known ? row : (struct mdd){};
	}
	return 0;
}

/* The names of the correlation of neighbouring samples; 0: for all numbers of samples. */
#define LAG1 "correlation_0"
#define LAG1_SAMPLES "correlation_samples_0"

int book_get_correlation(struct book *book, int64_t environment, const char *inc_digest,
	struct correlation *ret, struct error *err)
{
	struct correlation correlation = {};
	double samples = 0;
	int r = get_measurement(book, environment, inc_digest, LAG1, &correlation.lag1, err);

	if (r > 0)
		r = get_measurement(book, environment, inc_digest, LAG1_SAMPLES, &samples, err);
	if (r < 0)
		return r;
	if (samples >= 1 && samples <= UINT32_MAX && correlation.lag1 >= 0 && correlation.lag1 < 1)
		correlation.samples = (int64_t)samples;
	*ret = correlation;
	return 0;
}

int book_find_other_inc(struct book *book, int64_t environment, const char *inc_digest,
	char **ret_profile, struct error *err)
{
	return sql_row(book, err,
		"SELECT profile.name FROM profile JOIN environment ON digest = environment_digest"
		" WHERE environment.id = ?1 AND retired_ns IS NULL AND inc_digest IS NOT ?2"
		" AND (correlation_samples > 0 OR profile.id IN (SELECT profile"
		" FROM profile_resolving))"
		" AND profile.id IN (SELECT profile FROM profile_run WHERE which = 'short'"
		" AND run IS NOT NULL)"
		" AND NOT EXISTS (SELECT 1 FROM measurement WHERE environment = ?1"
		" AND inc_digest IS ?2"
		" AND name <> 'inc_per_second')"
		" ORDER BY made_ns DESC LIMIT 1",
		"it:T", environment, inc_digest, ret_profile);
}

int book_put_figures(struct book *book, const struct profile *profile, struct error *err)
{
	const struct correlation *correlation = &profile->correlation;
	const struct measurement rows[] = {
		{(char *)LAG1, correlation->lag1, (char *)"1", profile->inc_digest},
		{(char *)LAG1_SAMPLES, (double)correlation->samples, (char *)"1",
			profile->inc_digest},
	};
	int64_t environment = 0;
	int r;

	if (!profile->environment_digest)
		return 0;
	r = sql_row(book, err,
		"SELECT 1 FROM profile WHERE environment_digest = ? AND made_ns > ?"
		" AND inc_digest IS ?"
		" AND retired_ns IS NULL",
		"tit", profile->environment_digest, profile->made_ns, profile->inc_digest);
	if (r != 0) /* 1: there is a later one */
		return r < 0 ? r : 0;

	/* the book may not have had the environment */
	r = book_put_environment(book, profile->environment_digest, NULL, NULL, &environment, err);
	for (const struct mdd *row = profile->mdd; r >= 0 && row < profile->mdd + N_MDD; row++)
		if (row->samples > 0)
			r = sql_row(book, err,
				"INSERT INTO measurement VALUES (?1, 'resolves_interleaved_' || "
				"?2, ?3, '1', ?6),"
				" (?1, 'resolves_separate_' || ?2, ?4, '1', ?6),"
				" (?1, 'resolves_duet_' || ?2, ?5, '1', ?6)"
				" ON CONFLICT DO UPDATE SET value = excluded.value",
				"iidddt", environment, row->samples, row->interleaved,
				row->separate, row->duet, profile->inc_digest);
	if (r >= 0 && correlation->samples > 0)
		r = sql_insert(book, err, &measurement_table,
			"ON CONFLICT DO UPDATE SET value = excluded.value", rows, 2, "i",
			environment);
	return r;
}
