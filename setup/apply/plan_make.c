/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a plan: see plan_make.h. */
#include "setup/apply/plan_make.h"

#include "lib/base/clock.h"
#include "setup/apply/plan_units.h"

#include <errno.h>
#include <string.h>

static int plan_file(struct plan *plan, const struct check *check, const struct setting_file *file,
	const struct facts *facts, struct report *report, struct error *err)
{
	_cleanup_(freep) char *want = setting_want(&check->setting, facts, file->path);
	struct entry entry = {.kind = ENTRY_FILE, .file_kind = check->setting.kind};

	if (!file->value) {
		if (file->error != -ENOENT)
			report_add(report, check->id, file->path, OUTCOME_REFUSED, NULL, NULL,
				strerror(-file->error));
		return 0;
	}
	if (!want) {
		report_add(report, check->id, file->path, OUTCOME_ABSENT, file->value, NULL,
			"the kernel does not report the base frequency");
		return 0;
	}
	entry.id = strdup(check->id);
	entry.name = strdup(file->path);
	entry.old = strdup(file->value);
	entry.want = TAKE(want);
	return plan_add(plan, &entry, err);
}

static int plan_setting(struct plan *plan, size_t row, const struct setting_files *files,
	const struct facts *facts, struct report *report, struct error *err)
{
	const struct check *check = &check_rows[row];
	int r = 0;

	if (files[row].n == 0)
		report_add(report, check->id, "-", OUTCOME_ABSENT, NULL, NULL, NULL);
	for (size_t i = 0; r == 0 && i < files[row].n; i++)
		r = plan_file(plan, check, &files[row].items[i], facts, report, err);
	return r;
}

/* Settings of one order stay in the order of the rows. */
static int plan_settings(struct plan *plan, const struct facts *facts, const struct setting_files *files,
	const struct request *request, struct report *report, struct error *err)
{
	enum { ORDERS = 16 };
	int r = 0;

	for (int order = 0; order < ORDERS; order++)
		for (size_t i = 0; r == 0 && i < n_check_rows; i++)
			if (check_rows[i].setting.pattern && check_rows[i].setting.order == order &&
				request_takes(request, &check_rows[i]))
				r = plan_setting(plan, i, files, facts, report, err);
	return r;
}

int plan_make(struct plan *ret, struct journal *open, const struct facts *facts,
	const struct setting_files *files, const struct request *request, struct units *units,
	struct report *report, struct error *err)
{
	_cleanup_(plan_clear) struct plan plan = {.journal = *open};
	int r;

	*open = (struct journal){};
	if (!plan.journal.since_ns)
		plan.journal.since_ns = clock_ns(CLOCK_REALTIME);
	if (!plan.journal.boot_id)
		plan.journal.boot_id = journal_boot_id();
	r = plan_units(&plan, facts, request, units, report, err);
	if (r == 0)
		r = plan_settings(&plan, facts, files, request, report, err);
	if (r < 0)
		return r;
	*ret = plan;
	plan = (struct plan){};
	return 0;
}
