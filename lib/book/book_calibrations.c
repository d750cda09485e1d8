/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibrations: see book_calibrations.h. */
#include "lib/book/book_calibrations.h"

#include "lib/base/json.h"
#include "lib/book/book_internal.h"
#include "lib/book/sql.h"
#include "lib/record/run.h"

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
		"UPDATE calibration SET state = ?, owner = ?, short_run = ?, long_run = ?"
		" WHERE id = ? RETURNING 1",
		"ttuui", calibration_state_names[c->state], c->owner, c->phases[SHORT_PHASE].run,
		c->phases[LONG_PHASE].run, c->id);
	if (r != 0)
		return r < 0 ? r : 0;
	return error_say(err, -ENOENT,
		"the calibration for '%s' is not in the lab book '%s' any more: its short run was "
		"removed",
		c->profile, book->path);
}

int book_find_calibration(struct book *book, int64_t run, const char *profile, bool any,
	struct calibration_plan *ret, struct error *err)
{
	return sql_one(book, err, &calibration_table,
		"WHERE CASE ?1 WHEN 0 THEN (?2 IS NULL OR profile = ?2) AND (?3 OR state = 'open')"
		" ELSE ?1 IN (short_run, long_run) END ORDER BY ?1 = 0"
		" AND state = 'open' DESC, id DESC LIMIT 1",
		ret, "iti", run, profile, (int64_t)any);
}
