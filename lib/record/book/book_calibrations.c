/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibrations in the lab book: see book_calibrations.h. */
#include "lib/record/book/book_calibrations.h"

#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/record/book/query.h"

#include <errno.h>

const char *const calibration_state_names[N_CALIBRATION_STATES] = {
	[CALIBRATION_OPEN] = "open",
	[CALIBRATION_DONE] = "done",
	[CALIBRATION_REFUSED] = "refused",
};

#define PLAN(type, member) FIELD(calibration_plan, type, member)
#define PHASE(which, name, type, member)                                                                \
	{                                                                                               \
		name, type, offsetof(struct calibration_plan, phases[which].member),                    \
			sizeof(((struct calibration_plan *)NULL)->phases[which].member), FIELD_OPTIONAL \
	}

static const struct field fields[] = {
	{PLAN(FIELD_INT64, id), .expression = "id"},
	{PLAN(FIELD_TEXT, profile)},
	{PLAN(FIELD_ENUM, state), .words = calibration_state_names, .n_words = N_CALIBRATION_STATES},
	{PLAN(FIELD_TEXT, owner)},
	{PLAN(FIELD_INT64, started_ns)},
	PHASE(SHORT_PHASE, "short_length_ns", FIELD_INT64, length_ns),
	PHASE(SHORT_PHASE, "short_samples", FIELD_UINT32, samples),
	PHASE(SHORT_PHASE, "short_central_max_ns", FIELD_INT64, central_max_ns),
	PHASE(SHORT_PHASE, "short_run", FIELD_INT64, run),
	PHASE(LONG_PHASE, "long_length_ns", FIELD_INT64, length_ns),
	PHASE(LONG_PHASE, "long_samples", FIELD_UINT32, samples),
	PHASE(LONG_PHASE, "long_central_max_ns", FIELD_INT64, central_max_ns),
	PHASE(LONG_PHASE, "long_run", FIELD_INT64, run),
	{PLAN(FIELD_TEXT, backend)},
	{PLAN(FIELD_INT, cpu), .presence = FIELD_OPTIONAL, .unknown = -1},
	{PLAN(FIELD_BOOL, anyway)},
	{PLAN(FIELD_BOOL, force)},
	{.name = "replace_profile", FIELD_BOOL, offsetof(struct calibration_plan, replace), sizeof(bool)},
};
static const struct field_table table = {"calibration", "", fields, ELEMENTS(fields)};

void calibration_plan_clear(struct calibration_plan *c)
{
	fields_clear(&table, c);
	*c = (struct calibration_plan){};
}

int book_begin_calibration(struct book *book, struct calibration_plan *c, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	c->state = CALIBRATION_OPEN;
	c->started_ns = c->started_ns ?: clock_ns(CLOCK_REALTIME);
	r = query_insert(&q, book, &table, "", err);
	if (r < 0)
		return r;
	query_bind_fields(&q, &table, c);
	r = query_run(&q, err);
	if (r < 0)
		return r;
	c->id = sqlite3_last_insert_rowid(book->db);
	return 0;
}

int book_update_calibration(struct book *book, const struct calibration_plan *c, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book,
		"UPDATE calibration SET state = ?, owner = ?, short_run = ?, long_run = ? WHERE id = ?", err);
	if (r < 0)
		return r;
	query_text(&q, calibration_state_names[c->state]);
	query_text(&q, c->owner);
	query_unless(&q, c->phases[SHORT_PHASE].run, 0);
	query_unless(&q, c->phases[LONG_PHASE].run, 0);
	query_int(&q, c->id);
	r = query_run(&q, err);
	if (r < 0)
		return r;
	if (sqlite3_changes(book->db) == 0)
		return error_say(err, -ENOENT,
			"the calibration for '%s' is not in the lab book '%s' any more: its short run was removed",
			c->profile, book->path);
	return 0;
}

struct list {
	struct calibration_plan *items;
	size_t n;
};

static void list_clear(struct list *list)
{
	for (size_t i = 0; i < list->n; i++)
		calibration_plan_clear(&list->items[i]);
	free(list->items);
}

int book_calibrations(struct book *book, struct calibration_plan **ret, size_t *ret_n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(list_clear) struct list list = {};
	int r;

	r = query_select(&q, book, &table, "ORDER BY id", err);
	while (r >= 0 && (r = query_step(&q, err)) > 0) {
		struct calibration_plan *plan = array_add(list.items, list.n);

		if (!plan)
			return error_oom(err);
		r = query_read_fields(&q, &table, plan, err);
	}
	if (r < 0)
		return r;
	*ret_n = list.n;
	*ret = TAKE(list.items);
	list.n = 0;
	return 0;
}

static int mark_resume_point(struct book *book, const struct run *run, int64_t environment, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book,
		"INSERT INTO resume_point VALUES (?, ?, ?, ?, ?) ON CONFLICT(run, n) DO UPDATE"
		" SET at_ns = excluded.at_ns, why = excluded.why, environment = excluded.environment",
		err);
	if (r < 0)
		return r;
	query_int(&q, run->id);
	query_int(&q, run->n_samples + 1);
	query_int(&q, clock_ns(CLOCK_REALTIME));
	/* "open" is what a process leaves that was killed */
	query_text(&q, run->state == RUN_OPEN ? "cut off" : run_state_names[run->state]);
	query_unless(&q, environment, 0);
	return query_run(&q, err);
}

static int reopen(struct book *book, int64_t id, int64_t environment, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(run_clearp) struct run run = {};
	int r;

	r = book_get_run(book, id, &run, err);
	if (r >= 0 && run.n_samples > 0)
		r = mark_resume_point(book, &run, environment, err);
	if (r >= 0)
		r = query_begin(&q, book, "UPDATE run SET state = 'open', ended_ns = NULL WHERE id = ?", err);
	if (r < 0)
		return r;
	query_int(&q, id);
	return query_run(&q, err);
}

int book_reopen_run(struct book *book, int64_t run, int64_t environment, struct error *err)
{
	bool own;
	int r;

	r = book_join(book, &own, err);
	return r < 0 ? r : book_leave(book, own, reopen(book, run, environment, err), err);
}

void resume_points_free(struct resume_point *resume_points, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(resume_points[i].why);
	free(resume_points);
}

static int read_resume_points(
	struct book *book, int64_t run, struct resume_point **points, size_t *n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book,
		"SELECT n, at_ns, why, environment FROM resume_point WHERE run = ? ORDER BY n", err);
	if (r < 0)
		return r;
	query_int(&q, run);
	while ((r = query_step(&q, err)) > 0) {
		struct resume_point *point = array_add(*points, *n);

		if (!point)
			return error_oom(err);
		*point = (struct resume_point){(uint32_t)query_column(&q, 0), query_column(&q, 1),
			query_column_text(&q, 2), query_column(&q, 3)};
	}
	return r < 0 ? r : query_done(&q, err);
}

int book_resume_points(
	struct book *book, int64_t run, struct resume_point **ret, size_t *ret_n, struct error *err)
{
	struct resume_point *points = NULL;
	size_t n = 0;
	int r;

	r = read_resume_points(book, run, &points, &n, err);
	if (r < 0) {
		resume_points_free(points, n);
		return r;
	}
	*ret = points;
	*ret_n = n;
	return 0;
}
