/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibrations in the lab book: which short and which long run belong together and what was requested, so that
 * another process can resume a calibration; and where runs were interrupted and resumed. */
#include "lib/book/book_internal.h"

#include "lib/base/number.h"
#include "lib/base/json.h"
#include "lib/host/process/process.h"

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

static const struct field calibration_fields[] = {
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
static const struct field_table calibration_table = {
	"calibration", "", calibration_fields, ELEMENTS(calibration_fields), sizeof(struct calibration_plan)};

void calibration_plan_clear(struct calibration_plan *c)
{
	fields_clear(&calibration_table, c);
	*c = (struct calibration_plan){};
}

int book_begin_calibration(struct book *book, struct calibration_plan *c, struct error *err)
{
	int r;

	c->state = CALIBRATION_OPEN;
	c->started_ns = c->started_ns ?: clock_ns(CLOCK_REALTIME);
	r = sql_insert(book, err, &calibration_table, "", c, 1, "");
	if (r == 0)
		c->id = sqlite3_last_insert_rowid(book->db);
	return r;
}

int book_update_calibration(struct book *book, const struct calibration_plan *c, struct error *err)
{
	int r = sql_row(book, err,
		"UPDATE calibration SET state = ?, owner = ?, short_run = ?, long_run = ? WHERE id = ? RETURNING 1",
		"ttuui", calibration_state_names[c->state], c->owner, c->phases[SHORT_PHASE].run,
		c->phases[LONG_PHASE].run, c->id);

	if (r != 0)
		return r < 0 ? r : 0;
	return error_say(err, -ENOENT,
		"the calibration for '%s' is not in the lab book '%s' any more: its short run was removed",
		c->profile, book->path);
}

int book_calibrations(struct book *book, struct calibration_plan **ret, size_t *ret_n, struct error *err)
{
	return sql_all(book, err, &calibration_table, "ORDER BY id", ret, ret_n, "");
}

static const struct field resume_point_fields[] = {
	{FIELD(resume_point, FIELD_UINT32, n), .min = 2},
	{FIELD(resume_point, FIELD_INT64, at_ns), .max = JSON_MOMENT_MAX},
	{FIELD(resume_point, FIELD_TEXT, why)},
	{FIELD(resume_point, FIELD_INT64, environment), OPTIONAL, .min = 1, .refers = FIELD_TO_ENVIRONMENT},
};
const struct field_table resume_point_table = {"resume_point", "run, ", resume_point_fields,
	ELEMENTS(resume_point_fields), sizeof(struct resume_point)};

static int reopen_run(struct book *book, int64_t id, int64_t environment, struct error *err)
{
	_cleanup_(run_clear) struct run run = {};
	char self[PROCESS_REF_SIZE];
	int r;

	r = book_get_run(book, id, &run, err);
	if (r >= 0 && run.n_samples > 0) {
		const struct resume_point point = {
			.n = run.n_samples + 1,
			.at_ns = clock_ns(CLOCK_REALTIME),
			/* a process that is killed leaves the run open */
			.why = (char *)(run.ended_ns ? run_state_names[run.state] : "cut off"),
			.environment = environment,
		};

		r = sql_insert(book, err, &resume_point_table,
			"ON CONFLICT(run, n) DO UPDATE"
			" SET at_ns = excluded.at_ns, why = excluded.why, environment = excluded.environment",
			&point, 1, "i", id);
	}
	if (r < 0)
		return r;
	return sql_row(book, err, "UPDATE run SET state = 'open', ended_ns = NULL, owner = ? WHERE id = ?",
		"ti", process_ref_self(self), id);
}

int book_reopen_run(struct book *book, int64_t run, int64_t environment, struct error *err)
{
	return BOOK_ATOMIC(book, reopen_run(book, run, environment, err), err);
}

void resume_points_free(struct resume_point *resume_points, size_t n)
{
	fields_free(&resume_point_table, resume_points, n);
}

int book_resume_points(
	struct book *book, int64_t run, struct resume_point **ret, size_t *ret_n, struct error *err)
{
	return sql_all(book, err, &resume_point_table, "WHERE run = ? ORDER BY n", ret, ret_n, "i", run);
}
