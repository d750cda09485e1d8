/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb apply: a plan, the journal, the changes, and with --for a command and restore. */
#include "setup/apply/apply.h"

#include "lib/base/tool.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "setup/options.h"

static int apply_prepare(struct plan *plan, struct error *err)
{
	struct error why = {};
	int r = facts_read(&plan->facts, AT_FDCWD, options.policy, options.cpu, options.within_ns, err);

	if (r < 0)
		return r;
	r = journal_load(&plan->journal, err);
	if (r == -EACCES && options.dry_run) { /* a plan is also for those who may not read what is applied */
		fprintf(stderr, "emp-setup: %s; the plan starts from the present values\n", err->text);
		*err = (struct error){};
	} else if (r < 0)
		return r;
	if (plan->journal.incomplete)
		return error_say(err, -EINVAL,
			"the journal of what is applied is damaged; 'emp-setup restore' restores what can be read, and with --forget drops the rest");
	journal_drop_stale(&plan->journal); /* a reboot undid it: the values of now are the ones to restore */
	plan->n_open = plan->journal.n;
	if (plan->facts.locked)
		return error_say(err, -EBUSY,
			"a package manager is running (it has locked %s); wait until it is done",
			plan->facts.locked);
	if (plan->facts.has_units && units_open(&plan->units, &why) < 0)
		plan->units = NULL;
	return plan_make(plan, err);
}

/* Shows what became of the plan, or with --dry-run the plan. */
static int apply_show(struct plan *plan, struct error *err)
{
	struct report *report = &plan->report;
	size_t n_changed = report->count[OUTCOME_CHANGED], n_differ = report->count[OUTCOME_CLAMPED];
	FILE *file = report_file();

	for (size_t i = 0; options.dry_run && i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);

		if (!entry_is_kept(e))
			report_entry(report, e, strcmp(e->old, e->want) ? OUTCOME_WILL_CHANGE : OUTCOME_STAYS,
				e->old, e->want, e->loses);
	}

	if (options.json)
		return report_print_json(report, json_pack("{s:b}", "dry_run", options.dry_run), err);
	report_print(report, file, options.verbose);
	if (options.dry_run) {
		fprintf(file, "%zu will change, %zu already set. Nothing was changed (--dry-run).\n",
			report->count[OUTCOME_WILL_CHANGE], report->count[OUTCOME_STAYS]);
		return 0;
	}
	fprintf(file, "%zu changed, %zu already set, %zu refused", n_changed, report->count[OUTCOME_ALREADY],
		report->count[OUTCOME_REFUSED]);
	if (n_differ)
		fprintf(file, ", %zu differ%s from the request", n_differ, n_differ == 1 ? "s" : "");
	fprintf(file, ".%s\n",
		n_changed && !options.run_for ? " 'emp-setup restore' undoes everything." : "");
	return 0;
}

/* Everything is on disk before the first write. Positive: it was interrupted. */
static int carry_out(struct plan *plan, struct error *err)
{
	struct error why = {};
	int r = 0, back;

	if (plan->n_order == 0)
		return 0;
	if (plan->n_open == 0)
		r = snapshot_save(plan->facts.has_units ? &plan->facts.units : NULL, err);
	crash_point();
	if (r == 0)
		r = journal_save(&plan->journal, err);
	if (r < 0)
		return error_prefix(err, r, "nothing was changed");
	crash_point();
	action_log(ACTION_APPLY, "emp-setup apply: %zu settings and units, policy %s", plan->n_order,
		plan->facts.policy->name);
	r = change_apply(plan, err);
	if (r == 0)
		return 0;
	/* What was changed before a failure is restored at once. */
	back = change_restore_locked(plan->n_open, &why);
	if (back < 0)
		return error_prefix(err, r,
			"stopped half-way, and could not undo it (%s); 'emp-setup restore' tries again",
			why.text);
	error_prefix(err, r,
		back == STATUS_DONE ? "stopped half-way, and undone"
				    : "stopped half-way, and not all was undone; see 'emp-setup status'");
	return r == -EINTR && back == STATUS_DONE ? STATUS_INTERRUPTED : r;
}

/* Looks at the command line: the file of the command of --for, if there is one. */
static int check_request(const struct request *request, char **argv, char **ret_command, struct error *err)
{
	int r;

	if (options.run_for && !argv[0])
		return error_say(err, -EINVAL, "--for needs a command: emp-setup apply --for -- COMMAND");
	if (!options.run_for && argv[0])
		return error_say(err, -EINVAL, "a command needs --for: emp-setup apply --for -- COMMAND");
	if (options.run_for && options.persistent)
		return error_say(err, -EINVAL, "--for and --persistent exclude each other: use one of them");
	r = request_validate(request, err);
	return r == 0 && options.run_for ? run_for_find(argv[0], ret_command, err) : r;
}

int apply_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(plan_clear) struct plan plan = {
		.request = {options.only, options.skip, options.isolate >= 0, options.persistent}};
	_cleanup_(lock_release) struct lock lock = {.fd = -1};
	_cleanup_(freep) char *command = NULL;
	struct error err2;
	int r;

	if (options.isolate >= 0)
		options.cpu = options.isolate;
	argv[argc] = NULL; /* options may follow the operands */
	r = check_request(&plan.request, argv, &command, err);
	if (r == 0 && !options.dry_run)
		r = privilege_keep_for_settings(err);
	if (r == 0 && !options.dry_run)
		r = lock_take(&lock, SETUP_LOCK, err);
	if (r == 0)
		r = apply_prepare(&plan, err);
	if (r != 0)
		return r;
	if (options.dry_run)
		return apply_show(&plan, err);
	interrupt_init(); /* only KILL ends this process before all is done */
	interrupt_block_others();
	r = carry_out(&plan, err);
	if (r == 0 && options.run_for) {
		apply_show(&plan,
			&err2); /* its command runs, and all is restored, even if nobody can see this */
		lock_release(&lock);
		return run_for(argv, command, plan.n_open, err);
	}
	if (r == 0)
		r = apply_show(&plan, err);
	if (r != 0)
		return r;
	return plan.report.count[OUTCOME_REFUSED] || plan.report.count[OUTCOME_CLAMPED] ? STATUS_NOT_FIT
											: STATUS_DONE;
}
