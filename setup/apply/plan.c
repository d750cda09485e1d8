/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply will change: see plan.h. */
#include "setup/apply/plan.h"

#include "lib/base/text.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static bool lists(const char *list, const char *id)
{
	size_t len = strlen(id);

	for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == len && !strncmp(p, id, len))
			return true;
	return false;
}

static bool can_be_applied(const struct check *check)
{
	return check->applied || check->setting.pattern;
}

/* Whether a check that the list names takes this one along. */
static bool is_taken_along(const char *list, const char *id)
{
	for (const struct check *c = checks; c->id; c++)
		if (c->setting.along && !strcmp(c->setting.along, id) && lists(list, c->id))
			return true;
	return false;
}

bool request_takes(const struct request *request, const struct check *check)
{
	if (!can_be_applied(check) || lists(request->skip, check->id))
		return false;
	if (request->only)
		return lists(request->only, check->id) || is_taken_along(request->only, check->id);
	return !check->setting.on_request;
}

static int check_list(const char *list, const char *option, struct error *err)
{
	for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',') {
		int len = (int)strcspn(p, ",");
		const struct check *c = checks;

		while (c->id && (strlen(c->id) != (size_t)len || strncmp(c->id, p, (size_t)len) != 0))
			c++;
		if (!c->id)
			return error_say(err, -EINVAL,
				"%s: there is no check '%.*s'; 'emp-setup audit --all' lists them", option,
				len, p);
		if (!can_be_applied(c))
			return error_say(err, -EINVAL, "%s: %s cannot be applied; the way there: %s", option,
				c->id, c->how ?: "none");
	}
	return 0;
}

int request_check(const struct request *request, struct error *err)
{
	int r = check_list(request->only, "--only", err);

	return r < 0 ? r : check_list(request->skip, "--skip", err);
}

void report_file(struct report *report, const struct entry *e, const char *outcome, const char *before,
	const char *now, const char *note)
{
	_cleanup_(freep) char *before_words = kernel_setting_description(e->knob, before),
			      *now_words = kernel_setting_description(e->knob, now);

	report_add(report, e->id, e->name, outcome, before_words, now_words, note);
}

int plan_add(struct plan *plan, struct entry *entry, struct error *err)
{
	struct entry *there = journal_find(&plan->journal, entry->name);
	size_t *bigger = reallocarray(plan->order, plan->n_order + 1, sizeof(*bigger));
	int r;

	if (bigger)
		plan->order = bigger;
	if (!bigger || !entry->id || !entry->name || !entry->old || !entry->want) {
		entry_clear(entry);
		return error_os(err, -ENOMEM, "cannot make a plan");
	}
	if (there) { /* what was first found stays what is gone back to */
		free(there->want);
		there->want = TAKE(entry->want);
		freep(&there->held);
		there->held = NULL;
		there->for_good = there->for_good || entry->for_good;
		if (there->block == BLOCK_NONE)
			there->block = entry->block;
		entry_clear(entry);
	} else {
		r = journal_add(&plan->journal, entry, err);
		if (r < 0)
			return r;
		there = &plan->journal.entries[plan->journal.n - 1];
	}
	plan->order[plan->n_order++] = (size_t)(there - plan->journal.entries);
	return 0;
}

static int plan_file(struct plan *plan, const struct check *check, const struct analysis *reading,
	const struct facts *facts, struct report *report, struct error *err)
{
	_cleanup_(freep) char *want = setting_want(&check->setting, facts, reading->path);
	struct entry entry = {.kind = ENTRY_FILE, .knob = check->setting.kind};

	if (!reading->value) {
		if (reading->error != -ENOENT)
			report_add(report, check->id, reading->path, "refused", NULL, NULL,
				strerror(-reading->error));
		return 0;
	}
	if (!want) {
		report_add(report, check->id, reading->path, "absent", reading->value, NULL,
			"the kernel does not tell the base frequency");
		return 0;
	}
	entry.id = strdup(check->id);
	entry.name = strdup(reading->path);
	entry.old = strdup(reading->value);
	entry.want = TAKE(want);
	return plan_add(plan, &entry, err);
}

/* Settings of one order stay in the order of the rows. */
static int plan_settings(struct plan *plan, const struct facts *facts, const struct request *request,
	struct report *report, struct error *err)
{
	enum { ORDERS = 16 };
	int r = 0;

	for (int order = 0; order < ORDERS; order++)
		for (size_t i = 0; i < n_checks; i++) {
			const struct readings *readings = &facts->readings[i];

			if (!checks[i].setting.pattern || checks[i].setting.order != order ||
				!request_takes(request, &checks[i]))
				continue;
			if (readings->n == 0)
				report_add(report, checks[i].id, "-", "absent", NULL, NULL, NULL);
			for (size_t j = 0; r == 0 && j < readings->n; j++)
				r = plan_file(plan, &checks[i], &readings->items[j], facts, report, err);
		}
	return r;
}

int plan_make(struct plan *ret, struct journal *open, const struct facts *facts,
	const struct request *request, struct units *units, struct report *report, struct error *err)
{
	_cleanup_(plan_clear) struct plan plan = {.journal = *open};
	struct timespec now;
	int r;

	*open = (struct journal){};
	clock_gettime(CLOCK_REALTIME, &now);
	if (!plan.journal.since_ns)
		plan.journal.since_ns = now.tv_sec * NS_PER_S + now.tv_nsec;
	if (!plan.journal.boot_id)
		plan.journal.boot_id = journal_boot_id();
	r = plan_units(&plan, facts, request, units, report, err);
	if (r == 0)
		r = plan_settings(&plan, facts, request, report, err);
	if (r < 0)
		return r;
	*ret = plan;
	plan = (struct plan){};
	return 0;
}

void plan_clear(struct plan *plan)
{
	journal_clear(&plan->journal);
	free(plan->order);
	*plan = (struct plan){};
}
