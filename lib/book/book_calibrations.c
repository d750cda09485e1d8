/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibrations in the lab book: see book_calibrations.h. */
#include "lib/book/book_calibrations.h"

#include "lib/base/clock.h"
#include "lib/base/json_fields.h"
#include "lib/host/process/process.h"
#include "lib/book/query.h"

#include <errno.h>

const char *const calibration_state_names[N_CALIBRATION_STATES] = {
	[CALIBRATION_OPEN] = "open",
	[CALIBRATION_DONE] = "done",
	[CALIBRATION_REFUSED] = "refused",
};

#define PLAN(type, member) FIELD(calibration_plan, type, member)
#define PHASE(which, name, type, member)                                     \
	name, type, offsetof(struct calibration_plan, phases[which].member), \
		sizeof(((struct calibration_plan *)NULL)->phases[which].member)
#define OPTIONAL .presence = FIELD_OPTIONAL
#define LENGTH .min = 1, .max = JSON_TIME_MAX

static const struct field fields[] = {
	{PLAN(FIELD_INT64, id), .min = 1, .expression = "id"},
	{PLAN(FIELD_TEXT, profile)},
	{PLAN(FIELD_ENUM, state), .words = calibration_state_names, .n_words = N_CALIBRATION_STATES},
	{PLAN(FIELD_TEXT, owner), OPTIONAL},
	{PLAN(FIELD_INT64, started_ns), .max = JSON_MOMENT_MAX},
	{PHASE(SHORT_PHASE, "short_length_ns", FIELD_INT64, length_ns), LENGTH},
	{PHASE(SHORT_PHASE, "short_samples", FIELD_UINT32, samples), .min = 1},
	{PHASE(SHORT_PHASE, "short_central_max_ns", FIELD_INT64, central_max_ns), OPTIONAL, LENGTH},
	{PHASE(SHORT_PHASE, "short_run", FIELD_INT64, run), OPTIONAL, .min = 1},
	{PHASE(LONG_PHASE, "long_length_ns", FIELD_INT64, length_ns), LENGTH},
	{PHASE(LONG_PHASE, "long_samples", FIELD_UINT32, samples), .min = 1},
	{PHASE(LONG_PHASE, "long_central_max_ns", FIELD_INT64, central_max_ns), OPTIONAL, LENGTH},
	{PHASE(LONG_PHASE, "long_run", FIELD_INT64, run), OPTIONAL, .min = 1},
	{PLAN(FIELD_TEXT, backend)},
	{PLAN(FIELD_INT, cpu), OPTIONAL, .unknown = -1},
	{PLAN(FIELD_BOOL, anyway)},
	{PLAN(FIELD_BOOL, force)},
	{.name = "replace_profile", FIELD_BOOL, offsetof(struct calibration_plan, replace), sizeof(bool)},
	{PLAN(FIELD_BOOL, by_et)},
	{PLAN(FIELD_BOOL, other_cpus)},
	{PLAN(FIELD_INT64, material_ppm), .max = PPM},
};
static const struct field_table table = {
	"calibration", "", fields, ELEMENTS(fields), sizeof(struct calibration_plan)};

void calibration_plan_clear(struct calibration_plan *c)
{
	fields_clear(&table, c);
	*c = (struct calibration_plan){};
}

int book_begin_calibration(struct book *book, struct calibration_plan *c, struct error *err)
{
	c->state = CALIBRATION_OPEN;
	c->started_ns = c->started_ns ?: clock_ns(CLOCK_REALTIME);
	return query_add(book, &table, c, &c->id, err);
}

int book_update_calibration(struct book *book, const struct calibration_plan *c, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(&q, book,
		"UPDATE calibration SET state = ?, owner = ?, short_run = ?, long_run = ? WHERE id = ?", err);
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

int book_calibrations(struct book *book, struct calibration_plan **ret, size_t *ret_n, struct error *err)
{
	return query_all(book, &table, "ORDER BY id", 0, ret, ret_n, err);
}

#define POINT(type, member) FIELD(resume_point, type, member)

static const struct field point_fields[] = {
	{POINT(FIELD_UINT32, n), .min = 2},
	{POINT(FIELD_INT64, at_ns), .max = JSON_MOMENT_MAX},
	{POINT(FIELD_TEXT, why)},
	{POINT(FIELD_INT64, environment), OPTIONAL, .min = 1},
};
const struct field_table resume_point_table = {
	"resume_point", "run, ", point_fields, ELEMENTS(point_fields), sizeof(struct resume_point)};

static int mark_resume_point(struct book *book, const struct run *run, int64_t environment, struct error *err)
{
	const struct resume_point point = {
		.n = run->n_samples + 1,
		.at_ns = clock_ns(CLOCK_REALTIME),
		/* a process that is killed leaves the run open */
		.why = (char *)(run->ended_ns ? run_state_names[run->state] : "cut off"),
		.environment = environment,
	};
	_cleanup_(query_end) struct query q = {};

	query_insert(&q, book, &resume_point_table,
		"ON CONFLICT(run, n) DO UPDATE"
		" SET at_ns = excluded.at_ns, why = excluded.why, environment = excluded.environment",
		err);
	query_int(&q, run->id);
	query_bind_fields(&q, &resume_point_table, &point);
	return query_run(&q, err);
}

static int reopen(struct book *book, int64_t id, int64_t environment, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(run_clear) struct run run = {};
	char self[PROCESS_REF_SIZE];
	int r;

	r = book_get_run(book, id, &run, err);
	if (r >= 0 && run.n_samples > 0)
		r = mark_resume_point(book, &run, environment, err);
	if (r < 0)
		return r;
	query_begin(&q, book, "UPDATE run SET state = 'open', ended_ns = NULL, owner = ? WHERE id = ?", err);
	query_text(&q, process_ref_self(self));
	query_int(&q, id);
	return query_run(&q, err);
}

int book_reopen_run(struct book *book, int64_t run, int64_t environment, struct error *err)
{
	return BOOK_ATOMIC(book, reopen(book, run, environment, err), err);
}

void resume_points_free(struct resume_point *resume_points, size_t n)
{
	fields_free(&resume_point_table, resume_points, n);
}

int book_resume_points(
	struct book *book, int64_t run, struct resume_point **ret, size_t *ret_n, struct error *err)
{
	return query_all(book, &resume_point_table, "WHERE run = ? ORDER BY n", run, ret, ret_n, err);
}
