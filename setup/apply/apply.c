/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb apply: a plan, the journal, the changes, and with --for a command and restore. */
#include "lib/base/json.h"
#include "lib/base/tool.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "lib/host/systemd/units.h"
#include "setup/apply/apply.h"
#include "setup/options.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* One run of the verb. */
struct applying {
	struct facts facts;
	struct plan plan;
	struct units *units;
	struct report *report;
	size_t n_open; /* entries that were applied before */
	struct lock lock;
	char *command; /* the file of the command of --for */
};

static void applying_clear(struct applying *a)
{
	facts_clear(&a->facts);
	plan_clear(&a->plan);
	units_free(a->units);
	report_free(a->report);
	lock_release(&a->lock);
	free(a->command);
}

static int apply_prepare(struct applying *a, const struct request *request, struct error *err)
{
	_cleanup_(journal_clear) struct journal open = {};
	struct error why = {};
	int r = facts_read(&a->facts, AT_FDCWD, options.policy, options.cpu, options.within_ns, err);

	a->report = report_new();
	if (r == 0) {
		/* A plan is also for those who may not read what is applied: then it starts from the
		 * values of now. */
		r = journal_load(&open, err);
		if (r == -EACCES && options.dry_run) {
			fprintf(stderr, "emp-setup: %s; the plan starts from the present values\n",
				err->text);
			*err = (struct error){};
			r = 0;
		}
	}
	if (r < 0)
		return r;
	if (journal_is_incomplete(&open))
		return error_say(err, -EINVAL,
			"the journal of what is applied is damaged; 'emp-setup restore' restores what can be read, and with --forget drops the rest");
	journal_drop_stale(&open); /* a reboot undid it: the values of now are the ones to restore */
	if (a->facts.locked)
		return error_say(err, -EBUSY,
			"a package manager is running (it has locked %s); wait until it is done",
			a->facts.locked);
	a->n_open = open.n;
	if (a->facts.has_units && units_open(&a->units, &why) < 0)
		a->units = NULL;
	return plan_make(&a->plan, &open, &(struct planning){&a->facts, request, a->units, a->report}, err);
}

/* The standard output of apply --for belongs to its command. */
static FILE *apply_output(void)
{
	return options.run_for ? stderr : stdout;
}

static int apply_show(const struct applying *a, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;

	if (!options.json) {
		size_t changed = report_count(a->report, OUTCOME_CHANGED),
		       differ = report_count(a->report, OUTCOME_CLAMPED);
		FILE *file = apply_output();

		if (report_print(a->report, file, options.verbose))
			fprintf(file, "\n");
		if (options.dry_run) {
			fprintf(file, "%zu will change, %zu already set. Nothing was changed (--dry-run).\n",
				report_count(a->report, OUTCOME_WILL_CHANGE),
				report_count(a->report, OUTCOME_STAYS));
			return 0;
		}
		fprintf(file, "%zu changed, %zu already set, %zu refused", changed,
			report_count(a->report, OUTCOME_ALREADY), report_count(a->report, OUTCOME_REFUSED));
		if (differ)
			fprintf(file, ", %zu differ%s from the request", differ, differ == 1 ? "s" : "");
		fprintf(file, ".%s\n",
			changed && !options.run_for ? " 'emp-setup restore' undoes everything." : "");
		return 0;
	}
	document = json_pack("{s:s, s:i, s:b, s:o}", "format", "emp-changes", "version", 1, "dry_run",
		options.dry_run, "changes", report_json(a->report));
	return json_print(document, apply_output(), err);
}

/* What was changed before a failure is restored at once. */
static int undo(const struct applying *a, int r, struct error *err)
{
	struct error why = {};
	int back = change_restore_locked(a->n_open, &why);

	if (back < 0)
		return error_prefix(err, r,
			"stopped half-way, and could not undo it (%s); 'emp-setup restore' tries again",
			why.text);
	error_prefix(err, r,
		back == STATUS_DONE ? "stopped half-way, and undone"
				    : "stopped half-way, and not all was undone; see 'emp-setup status'");
	return r == -EINTR && back == STATUS_DONE ? STATUS_INTERRUPTED : r;
}

/* Everything is on disk before the first write. */
static int carry_out(struct applying *a, struct error *err)
{
	int r;

	if (a->plan.n_order == 0)
		return 0;
	r = a->n_open == 0 ? snapshot_save(a->facts.has_units ? &a->facts.units : NULL, err) : 0;
	crash_point();
	if (r == 0)
		r = journal_save(&a->plan.journal, err);
	if (r < 0)
		return error_prefix(err, r, "nothing was changed");
	crash_point();
	action_log(ACTION_APPLY, "emp-setup apply: %zu settings and units, policy %s", a->plan.n_order,
		a->facts.policy->name);
	r = change_apply(&a->plan, a->units, a->report, err);
	if (r == 0 && interrupt_pending())
		r = error_say(err, -EINTR, "interrupted");
	return r < 0 ? undo(a, r, err) : 0; /* positive: interrupted */
}

int apply_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(applying_clear) struct applying a = {.lock = {.fd = -1}};
	struct request request = {options.only, options.skip, options.isolate >= 0, options.persistent};
	int r;

	if (options.isolate >= 0)
		options.cpu = options.isolate;
	argv[argc] = NULL; /* options may follow the operands */
	if (options.run_for && argc == 0)
		r = error_say(err, -EINVAL, "--for needs a command: emp-setup apply --for -- COMMAND");
	else if (!options.run_for && argc > 0)
		r = error_say(err, -EINVAL, "a command needs --for: emp-setup apply --for -- COMMAND");
	else if (options.run_for && options.persistent) {
		r = error_say(err, -EINVAL, "--for and --persistent exclude each other: use one of them");
	} else {
		r = request_validate(&request, err);
		r = r == 0 && options.run_for ? run_for_find(argv[0], &a.command, err) : r;
	}
	if (r == 0 && !options.dry_run)
		r = privilege_keep_for_settings(err);
	if (r == 0 && !options.dry_run)
		r = journal_lock(&a.lock, err);
	if (r == 0)
		r = apply_prepare(&a, &request, err);
	if (r != 0)
		return r;
	if (options.dry_run) {
		for (size_t i = 0; i < a.plan.n_order; i++) {
			const struct entry *e = plan_entry(&a.plan, i);
			enum outcome outcome = strcmp(e->old, e->want) ? OUTCOME_WILL_CHANGE : OUTCOME_STAYS;

			if (!entry_is_kept(e))
				report_entry(a.report, e, outcome, e->old, e->want, e->loses);
		}
		return apply_show(&a, err);
	}
	interrupt_init(); /* only KILL ends this process before all is done */
	interrupt_block_others();
	crash_point_kill_after(options.kill_after);
	r = carry_out(&a, err);
	if (r == 0 && options.run_for) {
		struct error ignored;

		/* Where the screen cannot be written to, the command runs and everything is restored all
		 * the same. */
		apply_show(&a, &ignored);
		lock_release(&a.lock);
		return run_for(argv, a.command, a.n_open, err);
	}
	if (r == 0)
		r = apply_show(&a, err);
	if (r != 0)
		return r;
	return report_count(a.report, OUTCOME_REFUSED) || report_count(a.report, OUTCOME_CLAMPED)
		       ? STATUS_NOT_FIT
		       : STATUS_DONE;
}
