/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cutoff profiles in the lab book: the head, the two runs it was made of, their L-samples, the cutoffs. */
#include "lib/book/query.h"

#include "lib/base/array.h"
#include "lib/base/clock.h"

#include <errno.h>
#include <inttypes.h>

static const struct field_table l_sample_table = {"profile_l_sample", "profile, which, ",
	&(const struct field){"n", FIELD_UINT32, .size = sizeof(uint32_t), .min = 1}, 1, sizeof(uint32_t)};

static const struct field resolving_fields[] = {
	{FIELD(resolving, FIELD_INT64, samples), .min = 1, .max = UINT32_MAX},
	{FIELD(resolving, FIELD_REAL, interleaved)},
	{FIELD(resolving, FIELD_REAL, separate)},
	{FIELD(resolving, FIELD_REAL, duet)},
};
static const struct field_table resolving_table = {"profile_resolving", "profile, ", resolving_fields,
	ELEMENTS(resolving_fields), sizeof(struct resolving)};

/* The message lists the profiles of the book: a name is easily mistyped. */
static int profile_not_there(struct book *book, const char *name, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(freep) char *others = NULL;
	int r;

	query_begin(&q, book,
		"SELECT group_concat(name, ''', ''') FROM (SELECT name FROM profile WHERE retired_ns IS NULL ORDER BY name)",
		err);
	r = query_step(&q, err);
	if (r < 0)
		return r;
	others = query_column_text(&q, 0);
	if (!others)
		return error_say(err, -ENOENT,
			"there is no profile '%s' in the lab book '%s', which has no profiles; 'emp-calibrate run' makes one",
			name, book->path);
	return error_say(err, -ENOENT, "there is no profile '%s' in the lab book '%s'; it has '%s'", name,
		book->path, others);
}

static int put_half(
	struct book *book, int64_t id, const char *which, const struct profile_run *half, struct error *err)
{
	_cleanup_(query_end) struct query head = {}, row = {};
	int r;

	query_insert(&head, book, &profile_run_table, "", err);
	query_int(&head, id);
	query_text(&head, which);
	query_bind_fields(&head, &profile_run_table, half);
	r = query_run(&head, err);
	if (r < 0)
		return r;
	r = query_insert(&row, book, &l_sample_table, "", err);
	for (size_t i = 0; r >= 0 && i < half->n_l_samples; i++) {
		query_int(&row, id);
		query_text(&row, which);
		query_bind_fields(&row, &l_sample_table, &half->l_samples[i]);
		r = query_run(&row, err);
	}
	return r;
}

static int put_cutoffs(struct book *book, int64_t id, const struct profile *profile, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_insert(&q, book, &cutoff_table, "", err);
	for (size_t i = 0; r >= 0 && i < profile->n_cutoffs; i++) {
		query_int(&q, id);
		query_bind_fields(&q, &cutoff_table, &profile->cutoffs[i]);
		r = query_run(&q, err);
	}
	return r;
}

static int put_resolving(struct book *book, int64_t id, const struct profile *profile, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < N_RESOLVING; i++)
		if (profile->resolving[i].samples > 0)
			r = query_add_rows(book, id, &resolving_table, &profile->resolving[i], 1, err);
	return r;
}

/* 1: the book has a later profile of the same environment; 0: none. */
static int is_outdated(struct book *book, const struct profile *profile, struct error *err)
{
	_cleanup_(query_end) struct query q = {};

	query_begin(&q, book,
		"SELECT 1 FROM profile WHERE environment_digest = ? AND made_ns > ? AND retired_ns IS NULL", err);
	query_text(&q, profile->environment_digest);
	query_int(&q, profile->made_ns);
	return query_step(&q, err);
}

/* For results that are not measured with this profile: the figures of the latest are also those of the environment, which the
 * book may not have had. */
static int put_in_environment(struct book *book, const struct profile *profile, struct error *err)
{
	int64_t environment = 0;
	bool any = profile->correlation.samples > 0;
	int r;

	for (size_t i = 0; i < N_RESOLVING; i++)
		any |= profile->resolving[i].samples > 0;
	if (!any || !profile->environment_digest)
		return 0;
	r = is_outdated(book, profile, err);
	if (r != 0)
		return r < 0 ? r : 0;
	r = book_put_environment(book, profile->environment_digest, NULL, NULL, &environment, err);
	if (r >= 0)
		r = book_put_resolving(book, environment, profile->resolving, err);
	if (r < 0 || profile->correlation.samples == 0)
		return r;
	return book_put_correlation(book, environment, &profile->correlation, err);
}

static int get_resolving(struct book *book, int64_t id, struct profile *profile, struct error *err)
{
	_cleanup_(freep) struct resolving *rows = NULL;
	size_t n = 0;
	int r = query_all(book, &resolving_table, "WHERE profile = ?", id, &rows, &n, err);

	for (size_t i = 0; r >= 0 && i < n; i++)
		for (size_t k = 0; k < N_RESOLVING; k++)
			if (rows[i].samples == resolving_sizes[k])
				profile->resolving[k] = rows[i];
	if (!(profile->correlation.lag1 < 1)) /* not what emp writes */
		profile->correlation = (struct correlation){};
	return r;
}

int book_prune_profiles(struct book *book, struct error *err)
{
	_cleanup_(query_end) struct query q = {};

	query_begin(&q, book,
		"DELETE FROM profile WHERE retired_ns IS NOT NULL"
		" AND NOT EXISTS (SELECT 1 FROM run WHERE profile_id = profile.id)",
		err);
	return query_run(&q, err);
}

/* 1: done; 0: there is none. */
static int retire_profile(struct book *book, const char *name, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r, n;

	query_begin(&q, book, "UPDATE profile SET retired_ns = ? WHERE name = ? AND retired_ns IS NULL", err);
	query_int(&q, clock_ns(CLOCK_REALTIME));
	query_text(&q, name);
	r = query_run(&q, err);
	n = sqlite3_changes(book->db);
	if (r >= 0)
		r = book_prune_profiles(book, err);
	return r < 0 ? r : n;
}

static int put(struct book *book, const struct profile *profile, bool replace, struct error *err)
{
	int64_t id = 0;
	int r = 0;

	if (replace)
		r = retire_profile(book, profile->name, err);
	if (r >= 0)
		r = query_add(book, &profile_table, profile, &id, err);
	if (r < 0 && sqlite3_extended_errcode(book->db) == SQLITE_CONSTRAINT_UNIQUE)
		return error_say(err, -EEXIST,
			"the lab book '%s' has a profile '%s' already; choose another name", book->path,
			profile->name);
	if (r >= 0)
		r = put_half(book, id, "short", &profile->short_run, err);
	if (r >= 0)
		r = put_half(book, id, "long", &profile->long_run, err);
	if (r >= 0)
		r = put_cutoffs(book, id, profile, err);
	if (r >= 0)
		r = put_resolving(book, id, profile, err);
	return r < 0 ? r : put_in_environment(book, profile, err);
}

int book_put_profile(struct book *book, const struct profile *profile, bool replace, struct error *err)
{
	return BOOK_ATOMIC(book, put(book, profile, replace, err), err);
}

static int get_l_samples(
	struct book *book, int64_t id, const char *which, struct profile_run *half, struct error *err)
{
	_cleanup_(query_end) struct query q = {};

	query_select(&q, book, &l_sample_table, "WHERE profile = ? AND which = ? ORDER BY n", err);
	query_int(&q, id);
	query_text(&q, which);
	return query_rows(&q, &l_sample_table, &half->l_samples, &half->n_l_samples, err);
}

static int get_half(
	struct book *book, int64_t id, const char *which, struct profile_run *half, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_select(&q, book, &profile_run_table, "WHERE profile = ? AND which = ?", err);
	query_int(&q, id);
	query_text(&q, which);
	r = query_row(&q, &profile_run_table, half, err);
	return r < 0 ? r : get_l_samples(book, id, which, half, err);
}

/* All but the head. */
static int get_rest(struct book *book, struct profile *profile, struct error *err)
{
	int r = get_half(book, profile->id, "short", &profile->short_run, err);

	if (r >= 0)
		r = get_half(book, profile->id, "long", &profile->long_run, err);
	if (r >= 0)
		r = get_resolving(book, profile->id, profile, err);
	return r < 0 ? r
		     : query_all(book, &cutoff_table, "WHERE profile = ? ORDER BY daemon", profile->id,
			       &profile->cutoffs, &profile->n_cutoffs, err);
}

/* The current one of that name, or, if `name` is NULL, that with the id. */
static int get(struct book *book, const char *name, int64_t id, struct profile *profile, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_select(&q, book, &profile_table, "WHERE iif(?1 IS NULL, id = ?2, name = ?1 AND retired_ns IS NULL)",
		err);
	query_text(&q, name);
	query_int(&q, id);
	r = query_row(&q, &profile_table, profile, err);
	if (r == 0 && name)
		return profile_not_there(book, name, err);
	if (r == 0)
		return error_say(err, -ENOENT, "the lab book '%s' has no profile %" PRId64, book->path, id);
	return r < 0 ? r : get_rest(book, profile, err);
}

static int get_profile(struct book *book, const char *name, int64_t id, struct profile *ret, struct error *err)
{
	_cleanup_(profile_clear) struct profile profile = {};
	int r = BOOK_AT_ONCE(book, get(book, name, id, &profile, err), err);

	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(profile);
	return 0;
}

int book_get_profile(struct book *book, const char *name, struct profile *ret, struct error *err)
{
	return get_profile(book, name, 0, ret, err);
}

int book_get_run_profile(struct book *book, int64_t id, struct profile *ret, struct error *err)
{
	return get_profile(book, NULL, id, ret, err);
}

int book_profile_ids(struct book *book, const char *name, int64_t **ret, size_t *ret_n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(freep) int64_t *ids = NULL;
	size_t n = 0;
	int r;

	query_begin(&q, book, "SELECT id FROM profile WHERE name = ? ORDER BY retired_ns IS NOT NULL, id", err);
	query_text(&q, name);
	while ((r = query_step(&q, err)) > 0) {
		int64_t *id = array_add(ids, n);

		*id = query_column(&q, 0);
	}
	if (r < 0)
		return r;
	*ret = TAKE(ids);
	*ret_n = n;
	return 0;
}

struct profiles {
	struct profile *items;
	size_t n;
};

static void profiles_clear(struct profiles *profiles)
{
	for (size_t i = 0; i < profiles->n; i++)
		profile_clear(&profiles->items[i]);
	free(profiles->items);
}

static int get_all(struct book *book, struct profiles *all, struct error *err)
{
	int r = query_all(book, &profile_table, "WHERE retired_ns IS NULL ORDER BY name", 0, &all->items, &all->n, err);

	for (size_t i = 0; r >= 0 && i < all->n; i++)
		r = get_rest(book, &all->items[i], err);
	return r;
}

int book_profiles(struct book *book, struct profile **ret, size_t *ret_n, struct error *err)
{
	_cleanup_(profiles_clear) struct profiles all = {};
	int r = BOOK_AT_ONCE(book, get_all(book, &all, err), err);

	if (r < 0)
		return r;
	*ret_n = all.n;
	*ret = TAKE(all.items);
	all.n = 0;
	return 0;
}

int book_remove_profile(struct book *book, const char *name, struct error *err)
{
	int r = BOOK_ATOMIC(book, retire_profile(book, name, err), err);

	if (r == 0)
		return profile_not_there(book, name, err);
	return r < 0 ? r : 0;
}
