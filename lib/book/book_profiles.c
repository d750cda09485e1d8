/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cutoff profiles: see book_profiles.h. */
#include "lib/book/book_profiles.h"

#include "lib/book/book_internal.h"
#include "lib/book/book_machines.h"
#include "lib/book/book_results.h"
#include "lib/book/sql.h"
#include "lib/record/profile.h"

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
		"SELECT group_concat(name, ''', ''') FROM (SELECT name FROM profile"
		" WHERE retired_ns IS NULL ORDER BY name)",
		":T", &others);

	if (r < 0)
		return r;
	if (!others)
		return error_say(err, -ENOENT,
			"there is no profile '%s' in the lab book '%s', which has no profiles; "
			"'emp-calibrate run' makes one",
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
		"UPDATE profile SET retired_ns = ? WHERE name = ? AND retired_ns IS NULL"
		" RETURNING 1",
		"it", clock_ns(CLOCK_REALTIME), name);
	int forgotten = r > 0 ? results_forget_profile(book, name, err) : 0;

	if (r < 0 || forgotten < 0)
		return r < 0 ? r : forgotten;
	return book_prune_profiles(book, err) ?: r;
}

static int put_profile(
	struct book *book, const struct profile *profile, bool replace, struct error *err)
{
	const struct profile_run *const halves[] = {&profile->short_run, &profile->long_run};
	bool is_known = profile->correlation.samples > 0;
	int64_t id;
	int r = replace ? retire_profile(book, profile->name, err) : 0;

	if (r >= 0)
		r = results_forget_profile(book, profile->name, err);
	if (r >= 0)
		r = sql_insert(book, err, &profile_table, "", profile, 1, "");
	if (r < 0 && book->failure == SQLITE_CONSTRAINT_UNIQUE)
		return error_say(err, -EEXIST,
			"the lab book '%s' has a profile '%s' already; choose another name",
			book->path, profile->name);
	if (r < 0)
		return r;
	id = sqlite3_last_insert_rowid(book->db);
	for (int i = 0; r >= 0 && i < 2; i++) {
		const char *half = half_names[i];

		r = sql_insert(book, err, &profile_run_table, "", halves[i], 1, "it", id, half);
		if (r == 0)
			r = sql_insert(book, err, &l_sample_table, "", halves[i]->l_samples,
				halves[i]->n_l_samples, "it", id, half);
	}
	if (r >= 0)
		r = sql_insert(book, err, &cutoff_table, "", profile->cutoffs, profile->n_cutoffs,
			"i", id);
	for (size_t i = 0; r >= 0 && i < N_MDD; i++)
		if (profile->mdd[i].samples > 0) {
			r = sql_insert(book, err, &mdd_table, "", &profile->mdd[i], 1, "i", id);
			is_known = true;
		}
	return r < 0 || !is_known ? r : book_put_figures(book, profile, err);
}

int book_put_profile(
	struct book *book, const struct profile *profile, bool replace, struct error *err)
{
	return BOOK_ATOMIC_RETRIED(book, put_profile(book, profile, replace, err), err);
}

/* Reads the short or the long run of a profile. */
static int complete_run(struct book *book, int64_t profile, const char *which,
	struct profile_run *run, struct error *err)
{
	int r = sql_one(book, err, &profile_run_table, "WHERE profile = ? AND which = ?", run, "it",
		profile, which);

	if (r < 0)
		return r;
	return sql_all(book, err, &l_sample_table, "WHERE profile = ? AND which = ? ORDER BY n",
		&run->l_samples, &run->n_l_samples, "it", profile, which);
}

static int complete_mdd(struct book *book, struct profile *profile, struct error *err)
{
	_cleanup_(freep) struct mdd *rows = NULL;
	size_t n = 0;
	int r = sql_all(book, err, &mdd_table, "WHERE profile = ?", &rows, &n, "i", profile->id);

	for (size_t i = 0; r >= 0 && i < n; i++)
		for (size_t k = 0; k < N_MDD; k++)
			if (rows[i].samples == mdd_sizes[k])
				profile->mdd[k] = rows[i];
	return r;
}

/* Reads all of a profile that is not in its own row. */
static int complete_profile(struct book *book, struct profile *profile, struct error *err)
{
	int r = complete_run(book, profile->id, half_names[0], &profile->short_run, err);

	if (r >= 0)
		r = complete_run(book, profile->id, half_names[1], &profile->long_run, err);
	if (r >= 0)
		r = complete_mdd(book, profile, err);
	if (!(profile->correlation.lag1 < 1)) /* not what emp writes */
		profile->correlation = (struct correlation){};
	if (r < 0)
		return r;
	return sql_all(book, err, &cutoff_table, "WHERE profile = ? ORDER BY daemon",
		&profile->cutoffs, &profile->n_cutoffs, "i", profile->id);
}

/* After a failure, there are none. */
static int complete_profiles(
	struct book *book, struct profile **items, size_t *n, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < *n; i++)
		r = complete_profile(book, &(*items)[i], err);
	if (r >= 0)
		return r;
	for (; *n > 0; --*n)
		profile_clear(&(*items)[*n - 1]);
	free(TAKE(*items));
	return r;
}

static int read_stored_profile(struct book *book, int64_t id, const char *name,
	struct profile **ret, size_t *ret_n, struct error *err)
{
	int r = sql_all(book, err, &profile_table,
		"WHERE iif(?1, id = ?1, name = ?2 AND retired_ns IS NULL)", ret, ret_n, "it", id,
		name);

	return r ?: complete_profiles(book, ret, ret_n, err);
}

static int read_stored_profiles(
	struct book *book, const char *name, struct profile **ret, size_t *ret_n, struct error *err)
{
	int r = sql_all(book, err, &profile_table,
		"WHERE iif(?1 IS NULL, retired_ns IS NULL, name = ?1)"
		" ORDER BY name, retired_ns IS NOT NULL, id",
		ret, ret_n, "t", name);

	return r ?: complete_profiles(book, ret, ret_n, err);
}

int book_get_profile(
	struct book *book, int64_t id, const char *name, struct profile *ret, struct error *err)
{
	struct profile *found = NULL;
	size_t n = 0;
	int r = BOOK_AT_ONCE_RETRIED(
		book, read_stored_profile(book, id, name, &found, &n, err), err);

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
	return BOOK_AT_ONCE_RETRIED(book, read_stored_profiles(book, name, ret, ret_n, err), err);
}

int book_remove_profile(struct book *book, const char *name, struct error *err)
{
	int r = BOOK_ATOMIC_RETRIED(book, retire_profile(book, name, err), err);

	if (r == 0)
		return profile_not_there(book, name, err);
	return r < 0 ? r : 0;
}
