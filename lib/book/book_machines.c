/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines in the lab book: environments, which are fingerprints, and what was measured of them;
 * the cutoff profiles that were made in them; and the calibrations that make these. */
#include "lib/base/json.h"
#include "lib/book/book_internal.h"

static const struct field measurement_fields[] = {
	{FIELD(measurement, FIELD_TEXT, name)},
	{FIELD(measurement, FIELD_REAL, value)},
	{FIELD(measurement, FIELD_TEXT, unit)},
	{FIELD(measurement, FIELD_TEXT, inc_digest), .presence = FIELD_OPTIONAL},
};
const struct field_table measurement_table = FIELD_TABLE(
	measurement, "environment, ", measurement_fields);

int book_find_environment(struct book *book, const char *digest, int64_t *ret, struct error *err)
{
	return digest ? sql_row(book, err, "SELECT id FROM environment WHERE digest = ?", "t:I",
				digest, ret)
		      : 0;
}

int book_put_environment(struct book *book, const char *digest, const char *machine,
	const char *document, int64_t *ret, struct error *err)
{
	/* without a digest, environments are the same if their machines and documents are */
	static const char machine_insert
		[] = "INSERT INTO machine(name) SELECT ?1 WHERE ?1 IS NOT NULL"
		     " ON CONFLICT DO NOTHING",
  /* a profile, for example, has brought the digest only */
		complete[] = "UPDATE environment SET document = ifnull(document, ?3),"
			     " machine = ifnull(machine, (SELECT id FROM machine WHERE name = ?2))"
			     " WHERE digest = ?1 AND ((machine IS NULL AND ?2 IS NOT NULL)"
			     " OR (document IS NULL AND ?3 IS NOT NULL))",
  find[] = "SELECT id FROM environment WHERE digest IS ?1 AND (?1 IS NOT NULL"
	   " OR (machine IS (SELECT id FROM machine WHERE name = ?2) AND document IS ?3))",
  insert[] = "INSERT INTO environment(digest, machine, document)"
	     " VALUES (?, (SELECT id FROM machine WHERE name = ?), ?) RETURNING id";
	int64_t id = 0;
	int r = BOOK_ATOMIC(book,
		sql_row(book, err, machine_insert, "t", machine)
			?: sql_row(book, err, complete, "ttt", digest, machine, document)
			?: sql_row(book, err, find, "ttt:I", digest, machine, document, &id)
			?: sql_row(book, err, insert, "ttt:I", digest, machine, document, &id),
		err);

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
		"SELECT digest, name, document FROM environment LEFT JOIN machine ON machine.id = machine"
		" WHERE environment.id = ?",
		"i:TTT", id, ret_digest, ret_machine, ret_document);
	return r > 0 ? 0 : r < 0 ? r : environment_not_there(book, id, err);
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
	if (r < 0 || stored == per_second)
		return r < 0 ? r : 0;
	return error_say(err, -EEXIST,
		"the lab book '%s' already has the constant of INC for this environment (%.0f increments a second), and runs that were made with it",
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

/* How much neighbouring samples are alike, for all numbers of samples (0). */
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
		" AND (correlation_samples > 0 OR profile.id IN (SELECT profile FROM profile_resolving))"
		" AND profile.id IN (SELECT profile FROM profile_run WHERE which = 'short' AND run IS NOT NULL)"
		" AND NOT EXISTS (SELECT 1 FROM measurement WHERE environment = ?1 AND inc_digest IS ?2"
		" AND name <> 'inc_per_second')"
		" ORDER BY made_ns DESC LIMIT 1",
		"it:T", environment, inc_digest, ret_profile);
}

static const struct field_table l_sample_table = {"profile_l_sample", "profile, which, ",
	&(const struct field){"n", FIELD_UINT32, .size = sizeof(uint32_t), .min = 1}, 1,
	sizeof(uint32_t)};

static const struct field mdd_fields[] = {
	{FIELD(mdd, FIELD_INT64, samples), .min = 1, .max = UINT32_MAX},
	{FIELD(mdd, FIELD_REAL, interleaved)},
	{FIELD(mdd, FIELD_REAL, separate)},
	{FIELD(mdd, FIELD_REAL, duet)},
};
static const struct field_table mdd_table = {
	"profile_resolving", "profile, ", mdd_fields, ELEMENTS(mdd_fields), sizeof(struct mdd)};

static const char *const half_names[] = {"short", "long"};

/* The message lists the profiles of the book: a name is easily mistyped. */
static int profile_not_there(struct book *book, const char *name, struct error *err)
{
	_cleanup_(freep) char *others = NULL;
	int r = sql_row(book, err,
		"SELECT group_concat(name, ''', ''') FROM (SELECT name FROM profile WHERE retired_ns IS NULL ORDER BY name)",
		":T", &others);

	if (r < 0)
		return r;
	if (!others)
		return error_say(err, -ENOENT,
			"there is no profile '%s' in the lab book '%s', which has no profiles; 'emp-calibrate run' makes one",
			name, book->path);
	return error_say(err, -ENOENT, "there is no profile '%s' in the lab book '%s'; it has '%s'",
		name, book->path, others);
}

int book_prune_profiles(struct book *book, struct error *err)
{
	return sql_row(book, err,
		"DELETE FROM profile WHERE retired_ns IS NOT NULL"
		" AND NOT EXISTS (SELECT 1 FROM run WHERE profile_id = profile.id)",
		"");
}

/* 1: done; 0: there is none. */
static int retire_profile(struct book *book, const char *name, struct error *err)
{
	int r = sql_row(book, err,
		"UPDATE profile SET retired_ns = ? WHERE name = ? AND retired_ns IS NULL RETURNING 1",
		"it", clock_ns(CLOCK_REALTIME), name);

	return r < 0 ? r : book_prune_profiles(book, err) ?: r;
}

/* For results that are not measured with this profile: the figures of the latest are also those of
 * the environment, which the book may not have had. */
static int put_figures(struct book *book, const struct profile *profile, struct error *err)
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
		"SELECT 1 FROM profile WHERE environment_digest = ? AND made_ns > ? AND inc_digest IS ?"
		" AND retired_ns IS NULL",
		"tit", profile->environment_digest, profile->made_ns, profile->inc_digest);
	if (r != 0) /* 1: there is a later one */
		return r < 0 ? r : 0;
	r = book_put_environment(book, profile->environment_digest, NULL, NULL, &environment, err);
	for (const struct mdd *row = profile->mdd; r >= 0 && row < profile->mdd + N_MDD; row++)
		if (row->samples > 0)
			r = sql_row(book, err,
				"INSERT INTO measurement VALUES (?1, 'resolves_interleaved_' || ?2, ?3, '1', ?6),"
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

static int put_profile(
	struct book *book, const struct profile *profile, bool replace, struct error *err)
{
	const struct profile_run *const halves[] = {&profile->short_run, &profile->long_run};
	bool is_known = profile->correlation.samples > 0;
	int64_t id;
	int r = replace ? retire_profile(book, profile->name, err) : 0;

	if (r >= 0)
		r = sql_insert(book, err, &profile_table, "", profile, 1, "");
	if (r < 0 && book->failure == SQLITE_CONSTRAINT_UNIQUE)
		return error_say(err, -EEXIST,
			"the lab book '%s' has a profile '%s' already; choose another name",
			book->path, profile->name);
	if (r < 0)
		return r;
	id = sqlite3_last_insert_rowid(book->db);
	for (int i = 0; r >= 0 && i < 2; i++)
		r = sql_insert(book, err, &profile_run_table, "", halves[i], 1, "it", id,
			    half_names[i])
			    ?: sql_insert(book, err, &l_sample_table, "", halves[i]->l_samples,
				       halves[i]->n_l_samples, "it", id, half_names[i]);
	if (r >= 0)
		r = sql_insert(book, err, &cutoff_table, "", profile->cutoffs, profile->n_cutoffs,
			"i", id);
	for (size_t i = 0; r >= 0 && i < N_MDD; i++)
		if (profile->mdd[i].samples > 0) {
			r = sql_insert(book, err, &mdd_table, "", &profile->mdd[i], 1, "i", id);
			is_known = true;
		}
	return r < 0 || !is_known ? r : put_figures(book, profile, err);
}

int book_put_profile(
	struct book *book, const struct profile *profile, bool replace, struct error *err)
{
	return BOOK_ATOMIC(book, put_profile(book, profile, replace, err), err);
}

/* All but their heads. After a failure, there are none. */
static int complete_profiles(
	struct book *book, struct profile **items, size_t *n, struct error *err)
{
	int r = 0;

	for (size_t at = 0; r >= 0 && at < *n; at++) {
		struct profile *profile = &(*items)[at];
		struct profile_run *const halves[] = {&profile->short_run, &profile->long_run};
		_cleanup_(freep) struct mdd *rows = NULL;
		size_t n_rows = 0;

		for (int i = 0; r >= 0 && i < 2; i++) {
			r = sql_one(book, err, &profile_run_table,
				"WHERE profile = ? AND which = ?", halves[i], "it", profile->id,
				half_names[i]);
			if (r >= 0)
				r = sql_all(book, err, &l_sample_table,
					"WHERE profile = ? AND which = ? ORDER BY n",
					&halves[i]->l_samples, &halves[i]->n_l_samples, "it",
					profile->id, half_names[i]);
		}
		if (r >= 0)
			r = sql_all(book, err, &mdd_table, "WHERE profile = ?", &rows, &n_rows, "i",
				profile->id);
		for (size_t i = 0; r >= 0 && i < n_rows; i++)
			for (size_t k = 0; k < N_MDD; k++)
				if (rows[i].samples == mdd_sizes[k])
					profile->mdd[k] = rows[i];
		if (!(profile->correlation.lag1 < 1)) /* not what emp writes */
			profile->correlation = (struct correlation){};
		if (r >= 0)
			r = sql_all(book, err, &cutoff_table, "WHERE profile = ? ORDER BY daemon",
				&profile->cutoffs, &profile->n_cutoffs, "i", profile->id);
	}
	for (; r < 0 && *n > 0; --*n)
		profile_clear(&(*items)[*n - 1]);
	if (r < 0)
		free(TAKE(*items));
	return r;
}

int book_get_profile(
	struct book *book, int64_t id, const char *name, struct profile *ret, struct error *err)
{
	struct profile *found = NULL;
	size_t n = 0;
	int r = BOOK_AT_ONCE(book,
		sql_all(book, err, &profile_table,
			"WHERE iif(?1, id = ?1, name = ?2 AND retired_ns IS NULL)", &found, &n,
			"it", id, name)
			?: complete_profiles(book, &found, &n, err),
		err);

	if (r < 0)
		return r;
	if (n == 0 && id == 0)
		return profile_not_there(book, name, err);
	if (n == 0)
		return error_say(
			err, -ENOENT, "the lab book '%s' has no profile %" PRId64, book->path, id);
	*ret = *found;
	free(found);
	return 0;
}

int book_profiles(
	struct book *book, const char *name, struct profile **ret, size_t *ret_n, struct error *err)
{
	return BOOK_AT_ONCE(book,
		sql_all(book, err, &profile_table,
			"WHERE iif(?1 IS NULL, retired_ns IS NULL, name = ?1)"
			" ORDER BY name, retired_ns IS NOT NULL, id",
			ret, ret_n, "t", name)
			?: complete_profiles(book, ret, ret_n, err),
		err);
}

int book_remove_profile(struct book *book, const char *name, struct error *err)
{
	int r = BOOK_ATOMIC(book, retire_profile(book, name, err), err);

	return r > 0 ? 0 : r < 0 ? r : profile_not_there(book, name, err);
}

const char *const calibration_state_names[N_CALIBRATION_STATES] = {
	[CALIBRATION_OPEN] = "open",
	[CALIBRATION_DONE] = "done",
	[CALIBRATION_REFUSED] = "refused",
};

#define PLAN(type, member) FIELD(calibration_plan, type, member)
#define PHASE(which, name, type, member)                                     \
	name, type, offsetof(struct calibration_plan, phases[which].member), \
		sizeof(((struct calibration_plan *)NULL)->phases[which].member)
#define LENGTH .min = 1, .max = JSON_TIME_MAX

static const struct field calibration_fields[] = {
	{PLAN(FIELD_INT64, id), .min = 1, .expression = "id"},
	{PLAN(FIELD_TEXT, profile)},
	{PLAN(FIELD_ENUM, state), .words = calibration_state_names,
		.n_words = N_CALIBRATION_STATES},
	{PLAN(FIELD_TEXT, owner), IS_OPTIONAL},
	{PLAN(FIELD_INT64, started_ns), .max = JSON_MOMENT_MAX},
	{PHASE(SHORT_PHASE, "short_length_ns", FIELD_INT64, length_ns), LENGTH},
	{PHASE(SHORT_PHASE, "short_samples", FIELD_UINT32, samples), .min = 1},
	{PHASE(SHORT_PHASE, "short_central_max_ns", FIELD_INT64, central_max_ns), IS_OPTIONAL,
		LENGTH},
	{PHASE(SHORT_PHASE, "short_run", FIELD_INT64, run), IS_OPTIONAL, .min = 1},
	{PHASE(LONG_PHASE, "long_length_ns", FIELD_INT64, length_ns), LENGTH},
	{PHASE(LONG_PHASE, "long_samples", FIELD_UINT32, samples), .min = 1},
	{PHASE(LONG_PHASE, "long_central_max_ns", FIELD_INT64, central_max_ns), IS_OPTIONAL,
		LENGTH},
	{PHASE(LONG_PHASE, "long_run", FIELD_INT64, run), IS_OPTIONAL, .min = 1},
	{PLAN(FIELD_TEXT, backend)},
	{PLAN(FIELD_INT, cpu), UNLESS_NEGATIVE},
	{PLAN(FIELD_BOOL, anyway)},
	{PLAN(FIELD_BOOL, force)},
	{.name = "replace_profile",
		FIELD_BOOL,
		offsetof(struct calibration_plan, replace),
		sizeof(bool)},
	{PLAN(FIELD_BOOL, by_et)},
	{PLAN(FIELD_BOOL, other_cpus)},
	{PLAN(FIELD_INT64, material_ppm), .max = PPM},
};
static const struct field_table calibration_table = {"calibration", "", calibration_fields,
	ELEMENTS(calibration_fields), sizeof(struct calibration_plan)};

void calibration_plan_clear(struct calibration_plan *c)
{
	fields_clear(&calibration_table, c);
	*c = (struct calibration_plan){};
}

int book_put_calibration(struct book *book, struct calibration_plan *c, struct error *err)
{
	int r;

	if (!c->id) {
		c->state = CALIBRATION_OPEN;
		c->started_ns = c->started_ns ?: clock_ns(CLOCK_REALTIME);
		r = sql_insert(book, err, &calibration_table, "", c, 1, "");
		if (r == 0)
			c->id = sqlite3_last_insert_rowid(book->db);
		return r;
	}
	r = sql_row(book, err,
		"UPDATE calibration SET state = ?, owner = ?, short_run = ?, long_run = ? WHERE id = ? RETURNING 1",
		"ttuui", calibration_state_names[c->state], c->owner, c->phases[SHORT_PHASE].run,
		c->phases[LONG_PHASE].run, c->id);
	if (r != 0)
		return r < 0 ? r : 0;
	return error_say(err, -ENOENT,
		"the calibration for '%s' is not in the lab book '%s' any more: its short run was removed",
		c->profile, book->path);
}

int book_find_calibration(struct book *book, int64_t run, const char *profile, bool any,
	struct calibration_plan *ret, struct error *err)
{
	return sql_one(book, err, &calibration_table,
		"WHERE CASE ?1 WHEN 0 THEN (?2 IS NULL OR profile = ?2) AND (?3 OR state = 'open')"
		" ELSE ?1 IN (short_run, long_run) END ORDER BY ?1 = 0 AND state = 'open' DESC, id DESC LIMIT 1",
		ret, "iti", run, profile, (int64_t)any);
}
