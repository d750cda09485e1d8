/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibrations in the lab book: see book_calibrations.h. */
#include "lib/record/book/book_calibrations.h"

#include "lib/base/clock.h"
#include "lib/record/book/query.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

void calibration_plan_clear(struct calibration_plan *c)
{
	free(c->profile);
	free(c->state);
	free(c->owner);
	free(c->backend);
	*c = (struct calibration_plan){};
}

static void bind_part(struct query *q, const struct calibration_phase *phase)
{
	query_int(q, phase->length_ns);
	query_int(q, phase->samples);
	query_unless(q, phase->central_max_ns, 0);
	query_unless(q, phase->run, 0);
}

int book_begin_calibration(struct book *book, struct calibration_plan *c, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int64_t started_ns = c->started_ns ?: clock_ns(CLOCK_REALTIME);
	char *state = strdup("open");
	int r;

	if (!state)
		return error_os(err, -ENOMEM, "cannot begin a calibration");
	free(c->state);
	c->state = state;
	r = query_begin(&q, book,
		"INSERT INTO calibration(profile, state, owner, started_ns, short_length_ns, short_samples,"
		" short_central_max_ns, short_run, long_length_ns, long_samples, long_central_max_ns,"
		" long_run, backend, cpu, anyway, force, replace_profile)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		err);
	if (r < 0)
		return r;
	query_text(&q, c->profile);
	query_text(&q, c->state);
	query_text(&q, c->owner);
	query_int(&q, started_ns);
	for (int i = 0; i < CALIBRATION_PHASES; i++)
		bind_part(&q, &c->phases[i]);
	query_text(&q, c->backend);
	query_unless(&q, c->cpu, -1);
	query_int(&q, c->anyway);
	query_int(&q, c->force);
	query_int(&q, c->replace);
	r = query_run(&q, err);
	if (r < 0)
		return r;
	c->id = sqlite3_last_insert_rowid(book->db);
	c->started_ns = started_ns;
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
	query_text(&q, c->state);
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

static struct calibration_phase read_phase(struct query *q, int column)
{
	return (struct calibration_phase){
		.length_ns = query_column(q, column),
		.samples = (uint32_t)query_column(q, column + 1),
		.central_max_ns = query_column(q, column + 2),
		.run = query_column(q, column + 3),
	};
}

static int read_calibration(struct query *q, struct calibration_plan *ret, struct error *err)
{
	*ret = (struct calibration_plan){
		.id = query_column(q, 0),
		.profile = query_column_text(q, 1),
		.state = query_column_text(q, 2),
		.owner = query_column_text(q, 3),
		.started_ns = query_column(q, 4),
		.phases = {read_phase(q, 5), read_phase(q, 9)},
		.backend = query_column_text(q, 13),
		.cpu = (int)query_column_or(q, 14, -1),
		.anyway = query_column(q, 15),
		.force = query_column(q, 16),
		.replace = query_column(q, 17),
	};
	return query_done(q, err);
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

	r = query_begin(&q, book,
		"SELECT id, profile, state, owner, started_ns, short_length_ns, short_samples,"
		" short_central_max_ns, short_run, long_length_ns, long_samples, long_central_max_ns,"
		" long_run, backend, cpu, anyway, force, replace_profile FROM calibration ORDER BY id",
		err);
	if (r < 0)
		return r;
	while ((r = query_step(&q, err)) > 0) {
		struct calibration_plan *bigger = reallocarray(list.items, list.n + 1, sizeof(*bigger));

		if (!bigger)
			return error_os(err, -ENOMEM, "cannot list the calibrations");
		list.items = bigger;
		r = read_calibration(&q, &list.items[list.n++], err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	*ret_n = list.n;
	*ret = TAKE(list.items);
	list.n = 0;
	return 0;
}

/* In words: "open" is what a process leaves that had no time to say anything. */
static const char *why_of(const char *state)
{
	return strcmp(state, "open") ? state : "cut off";
}

static int mark_resume_point(struct book *book, const struct run *run, int64_t environment, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book,
		"INSERT INTO seam VALUES (?, ?, ?, ?, ?) ON CONFLICT(run, n) DO UPDATE"
		" SET at_ns = excluded.at_ns, why = excluded.why, environment = excluded.environment",
		err);
	if (r < 0)
		return r;
	query_int(&q, run->id);
	query_int(&q, run->n_samples + 1);
	query_int(&q, clock_ns(CLOCK_REALTIME));
	query_text(&q, why_of(run->state));
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

int book_resume_points(
	struct book *book, int64_t run, struct resume_point **ret, size_t *ret_n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	struct resume_point *resume_points = NULL;
	size_t n = 0;
	int r;

	r = query_begin(
		&q, book, "SELECT n, at_ns, why, environment FROM seam WHERE run = ? ORDER BY n", err);
	if (r < 0)
		return r;
	query_int(&q, run);
	while ((r = query_step(&q, err)) > 0) {
		struct resume_point *bigger = reallocarray(resume_points, n + 1, sizeof(*bigger));

		if (!bigger) {
			r = error_os(err, -ENOMEM, "cannot read the seams of run %" PRId64, run);
			break;
		}
		resume_points = bigger;
		resume_points[n++] = (struct resume_point){(uint32_t)query_column(&q, 0), query_column(&q, 1),
			query_column_text(&q, 2), query_column(&q, 3)};
	}
	if (r >= 0)
		r = query_done(&q, err);
	if (r < 0) {
		resume_points_free(resume_points, n);
		return r;
	}
	*ret = resume_points;
	*ret_n = n;
	return 0;
}
