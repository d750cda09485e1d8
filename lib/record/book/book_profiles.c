/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cutoff profiles in the lab book: the head, the two runs it was made of, their L-samples, the cutoffs. */
#include "lib/record/book/query.h"

#include <errno.h>

/* Names those that there are: a name is easily mistyped. */
static int profile_not_there(struct book *book, const char *name, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(freep) char *others = NULL;
	int r;

	r = query_begin(&q, book,
		"SELECT group_concat(name, ''', ''') FROM (SELECT name FROM profile ORDER BY name)", err);
	if (r < 0)
		return r;
	r = query_step(&q, err);
	if (r < 0)
		return r;
	others = query_column_text(&q, 0);
	if (!others)
		return error_say(err, -ENOENT,
			"there is no profile '%s' in the lab book '%s', which has none yet: emp-calibrate makes them",
			name, book->path);
	return error_say(err, -ENOENT, "there is no profile '%s' in the lab book '%s'; it has '%s'", name,
		book->path, others);
}

static int put_head(struct book *book, const struct profile *profile, int64_t *ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book,
		"INSERT INTO profile(name, resolution_ns, made_ns, environment_digest) VALUES (?, ?, ?, ?)",
		err);
	if (r < 0)
		return r;
	query_text(&q, profile->name);
	query_int(&q, profile->resolution_ns);
	query_unless(&q, profile->made_ns, 0);
	query_text(&q, profile->environment_digest);
	r = query_run(&q, err);
	if (r < 0)
		return r;
	*ret = sqlite3_last_insert_rowid(book->db);
	return 0;
}

static int put_half(
	struct book *book, int64_t id, const char *which, const struct profile_run *half, struct error *err)
{
	_cleanup_(query_end) struct query head = {}, row = {};
	int r;

	r = query_begin(&head, book,
		"INSERT INTO profile_run(profile, which, program, run, samples) VALUES (?, ?, ?, ?, ?)", err);
	if (r < 0)
		return r;
	query_int(&head, id);
	query_text(&head, which);
	query_text(&head, half->program);
	query_unless(&head, half->run, 0);
	query_int(&head, half->samples);
	r = query_run(&head, err);
	if (r < 0)
		return r;
	r = query_begin(&row, book, "INSERT INTO profile_l_sample(profile, which, n) VALUES (?, ?, ?)", err);
	for (size_t i = 0; r >= 0 && i < half->n_l_samples; i++) {
		query_int(&row, id);
		query_text(&row, which);
		query_int(&row, half->l_samples[i]);
		r = query_run(&row, err);
	}
	return r;
}

static int put_cutoffs(struct book *book, int64_t id, const struct profile *profile, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book,
		"INSERT INTO cutoff(profile, daemon, unit, short_ns, long_ns, period_ns, firm, task_time_ns,"
		" below_ns, atleast_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		err);
	for (size_t i = 0; r >= 0 && i < profile->n_cutoffs; i++) {
		const struct cutoff *cutoff = &profile->cutoffs[i];

		query_int(&q, id);
		query_text(&q, cutoff->daemon);
		query_text(&q, cutoff->unit);
		query_unless(&q, cutoff->short_ns, -1);
		query_unless(&q, cutoff->long_ns, -1);
		query_unless(&q, cutoff->period_ns, 0);
		query_int(&q, cutoff->firm);
		query_unless(&q, cutoff->task_time_ns, 0);
		query_unless(&q, cutoff->below_ns, -1);
		query_unless(&q, cutoff->atleast_ns, -1);
		r = query_run(&q, err);
	}
	return r;
}

/* 1: there was one. */
static int remove_profile(struct book *book, const char *name, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book, "DELETE FROM profile WHERE name = ?", err);
	if (r < 0)
		return r;
	query_text(&q, name);
	r = query_run(&q, err);
	return r < 0 ? r : sqlite3_changes(book->db) > 0;
}

static int put(struct book *book, const struct profile *profile, bool replace, struct error *err)
{
	int64_t id = 0;
	int r = 0;

	if (replace)
		r = remove_profile(book, profile->name, err);
	if (r >= 0)
		r = put_head(book, profile, &id, err);
	if (r < 0 && sqlite3_extended_errcode(book->db) == SQLITE_CONSTRAINT_UNIQUE)
		return error_say(err, -EEXIST,
			"the lab book '%s' has a profile '%s' already; choose another name", book->path,
			profile->name);
	if (r >= 0)
		r = put_half(book, id, "short", &profile->short_run, err);
	if (r >= 0)
		r = put_half(book, id, "long", &profile->long_run, err);
	return r < 0 ? r : put_cutoffs(book, id, profile, err);
}

int book_put_profile(struct book *book, const struct profile *profile, bool replace, struct error *err)
{
	bool own;
	int r;

	r = book_join(book, &own, err);
	if (r < 0)
		return r;
	return book_leave(book, own, put(book, profile, replace, err), err);
}

static int get_head(
	struct book *book, const char *name, int64_t *ret_id, struct profile *profile, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book,
		"SELECT id, name, resolution_ns, made_ns, environment_digest FROM profile WHERE name = ?",
		err);
	if (r < 0)
		return r;
	query_text(&q, name);
	r = query_step(&q, err);
	if (r < 0)
		return r;
	if (r == 0)
		return profile_not_there(book, name, err);
	*ret_id = query_column(&q, 0);
	profile->name = query_column_text(&q, 1);
	profile->resolution_ns = query_column(&q, 2);
	profile->made_ns = query_column(&q, 3);
	profile->environment_digest = query_column_text(&q, 4);
	return query_done(&q, err);
}

static int get_l_samples(
	struct book *book, int64_t id, const char *which, struct profile_run *half, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book,
		"SELECT n, (SELECT count(*) FROM profile_l_sample WHERE profile = ?1 AND which = ?2)"
		" FROM profile_l_sample WHERE profile = ?1 AND which = ?2 ORDER BY n",
		err);
	if (r < 0)
		return r;
	query_int(&q, id);
	query_text(&q, which);
	for (;;) {
		r = query_step(&q, err);
		if (r <= 0)
			return r;
		if (!half->l_samples) {
			half->l_samples = calloc(query_column(&q, 1), sizeof(*half->l_samples));
			if (!half->l_samples)
				return error_os(err, -ENOMEM, "cannot read a profile");
		}
		half->l_samples[half->n_l_samples++] = (uint32_t)query_column(&q, 0);
	}
}

static int get_half(
	struct book *book, int64_t id, const char *which, struct profile_run *half, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book,
		"SELECT program, run, samples FROM profile_run WHERE profile = ? AND which = ?", err);
	if (r < 0)
		return r;
	query_int(&q, id);
	query_text(&q, which);
	r = query_step(&q, err);
	if (r < 0)
		return r;
	if (r > 0) {
		half->program = query_column_text(&q, 0);
		half->run = query_column(&q, 1);
		half->samples = query_column(&q, 2);
	}
	r = query_done(&q, err);
	return r < 0 ? r : get_l_samples(book, id, which, half, err);
}

static struct cutoff read_cutoff(struct query *q)
{
	return (struct cutoff){
		.daemon = query_column_text(q, 0),
		.unit = query_column_text(q, 1),
		.short_ns = query_column_or(q, 2, -1),
		.long_ns = query_column_or(q, 3, -1),
		.period_ns = query_column(q, 4),
		.firm = query_column(q, 5),
		.task_time_ns = query_column(q, 6),
		.below_ns = query_column_or(q, 7, -1),
		.atleast_ns = query_column_or(q, 8, -1),
	};
}

static int get_cutoffs(struct book *book, int64_t id, struct profile *profile, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book,
		"SELECT daemon, unit, short_ns, long_ns, period_ns, firm, task_time_ns, below_ns, atleast_ns,"
		" (SELECT count(*) FROM cutoff WHERE profile = ?1) FROM cutoff WHERE profile = ?1 ORDER BY daemon",
		err);
	if (r < 0)
		return r;
	query_int(&q, id);
	for (;;) {
		r = query_step(&q, err);
		if (r <= 0)
			return r < 0 ? r : query_done(&q, err);
		if (!profile->cutoffs) {
			profile->cutoffs = calloc(query_column(&q, 9), sizeof(*profile->cutoffs));
			if (!profile->cutoffs)
				return error_os(err, -ENOMEM, "cannot read a profile");
		}
		profile->cutoffs[profile->n_cutoffs++] = read_cutoff(&q);
	}
}

static int get(struct book *book, const char *name, struct profile *profile, struct error *err)
{
	int64_t id = 0;
	int r;

	r = get_head(book, name, &id, profile, err);
	if (r >= 0)
		r = get_half(book, id, "short", &profile->short_run, err);
	if (r >= 0)
		r = get_half(book, id, "long", &profile->long_run, err);
	return r < 0 ? r : get_cutoffs(book, id, profile, err);
}

int book_get_profile(struct book *book, const char *name, struct profile *ret, struct error *err)
{
	_cleanup_(profile_clearp) struct profile profile = {};
	bool own;
	int r;

	r = book_view(book, &own, err);
	if (r < 0)
		return r;
	r = book_leave(book, own, get(book, name, &profile, err), err);
	if (r < 0)
		return r;
	*ret = profile;
	profile = (struct profile){};
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

/* The name that follows `after` ("" for the first); NULL: no more. The caller frees it. */
static int next_name(struct book *book, const char *after, char **ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	*ret = NULL;
	r = query_begin(&q, book, "SELECT name FROM profile WHERE name > ? ORDER BY name LIMIT 1", err);
	if (r < 0)
		return r;
	query_text(&q, after);
	r = query_step(&q, err);
	if (r > 0)
		*ret = query_column_text(&q, 0);
	return r < 0 ? r : query_done(&q, err);
}

static int get_all(struct book *book, struct profiles *all, struct error *err)
{
	for (;;) {
		_cleanup_(freep) char *name = NULL;
		struct profile *bigger;
		int r;

		r = next_name(book, all->n ? all->items[all->n - 1].name : "", &name, err);
		if (r < 0 || !name)
			return r;
		bigger = reallocarray(all->items, all->n + 1, sizeof(*bigger));
		if (!bigger)
			return error_os(err, -ENOMEM, "cannot list the profiles");
		all->items = bigger;
		bigger[all->n] = (struct profile){};
		r = get(book, name, &bigger[all->n++], err);
		if (r < 0)
			return r;
	}
}

int book_profiles(struct book *book, struct profile **ret, size_t *ret_n, struct error *err)
{
	_cleanup_(profiles_clear) struct profiles all = {};
	bool own;
	int r;

	r = book_view(book, &own, err);
	if (r < 0)
		return r;
	r = book_leave(book, own, get_all(book, &all, err), err);
	if (r < 0)
		return r;
	*ret_n = all.n;
	*ret = TAKE(all.items);
	all.n = 0;
	return 0;
}

int book_remove_profile(struct book *book, const char *name, struct error *err)
{
	int r = remove_profile(book, name, err);

	if (r == 0)
		return profile_not_there(book, name, err);
	return r < 0 ? r : 0;
}
