/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb apply: a plan, the journal, the changes, and with --for a command and the way back. */
#include "lib/base/json.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "lib/host/systemd/action_log.h"
#include "lib/host/system/lock.h"
#include "lib/host/process/privilege.h"
#include "setup/apply/change.h"
#include "setup/apply/supervised_command.h"
#include "setup/setup.h"
#include "setup/apply/crash_point.h"

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
};

static void applying_clear(struct applying *a)
{
	facts_clear(&a->facts);
	plan_clear(&a->plan);
	units_free(a->units);
	report_free(a->report);
	lock_release(&a->lock);
}

static int load_open(struct journal *ret, struct error *err)
{
	int r = journal_load(ret, err);

	if (r < 0)
		return r == -ENOENT && !err->text[0] ? 0 : r;
	journal_drop_stale(ret); /* a reboot undid it: what is there now is where to go back to */
	return 0;
}

static int prepare(struct applying *a, const struct request *request, struct error *err)
{
	_cleanup_(journal_clear) struct journal open = {};
	struct error why = {};
	int r = facts_read(&a->facts, AT_FDCWD, options.policy, options.within_ns, err);

	if (r == 0)
		r = report_new(&a->report, err);
	if (r == 0)
		r = load_open(&open, err);
	if (r < 0)
		return r;
	if (a->facts.system_state.locked)
		return error_say(err, -EBUSY,
			"a package manager is at work (it holds %s): wait until it is done",
			a->facts.system_state.locked);
	a->n_open = open.n;
	if (a->facts.has_units && units_open(&a->units, &why) < 0)
		a->units = NULL;
	return plan_make(&a->plan, &open, &a->facts, request, a->units, a->report, err);
}

static void show_plan(struct applying *a)
{
	for (size_t i = 0; i < a->plan.n_order; i++) {
		const struct entry *e = &a->plan.journal.entries[a->plan.order[i]];
		bool same = !strcmp(e->old, e->want);

		report_file(a->report, e, same ? "stays" : "will change", e->old, e->want, NULL);
	}
}

static int show(struct applying *a, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;

	if (!options.json)
		return report_print(a->report, options.run_for ? stderr : stdout, options.details, err);
	document = json_pack("{s:s, s:i, s:b, s:o}", "format", "emp-changes", "version", 1, "dry_run",
		options.dry_run, "changes", report_json(a->report));
	return document ? json_print(document, stdout, err)
			: error_os(err, -ENOMEM, "cannot print the changes");
}

/* Everything is on disk before the first write. */
static int carry_out(struct applying *a, struct error *err)
{
	int r;

	if (a->plan.n_order == 0)
		return 0;
	r = journal_save(&a->plan.journal, err);
	if (r < 0)
		return error_prefix(err, r, "nothing was changed");
	crash_point();
	action_log(ACTION_APPLY, "emp-setup apply: %zu settings and units, policy %s", a->plan.n_order,
		policy_name(a->facts.policy));
	r = change_apply(&a->plan, a->units, a->report, err);
	if (r < 0)
		return error_prefix(
			err, r, "stopped half-way, \"emp-setup restore\" takes back what was done");
	return 0;
}

static void say_summary(const struct applying *a)
{
	size_t changed = report_count(a->report, "changed"), already = report_count(a->report, "already"),
	       refused = report_count(a->report, "refused"), clamped = report_count(a->report, "clamped");

	if (options.json)
		return;
	fprintf(options.run_for ? stderr : stdout,
		"%s%zu changed, %zu were so already, %zu refused, %zu came out otherwise.%s\n",
		changed + refused + clamped || options.details ? "\n" : "", changed, already, refused,
		clamped, changed && !options.run_for ? " \"emp-setup restore\" puts everything back." : "");
}

static int run_and_restore(struct applying *a, char **argv, struct error *err)
{
	struct taking_back how = {.first = a->n_open};
	int status = STATUS_ERROR, r, back;

	lock_release(&a->lock); /* the command may want to audit, or to apply more */
	r = child_run(argv, &status, err);
	back = restore_journal(&how, err);
	if (r < 0 || back < 0)
		return r < 0 ? r : back;
	return back == STATUS_DONE ? status : back;
}

static int check_operands(int argc, const struct request *request, struct error *err)
{
	if (options.run_for && argc == 0)
		return error_say(err, -EINVAL, "--for needs a command: emp-setup apply --for -- COMMAND");
	if (!options.run_for && argc > 0)
		return error_say(
			err, -EINVAL, "a command belongs behind --for: emp-setup apply --for -- COMMAND");
	if (options.run_for && options.for_good)
		return error_say(err, -EINVAL, "--for ends with its command, --persistent never: choose one");
	return request_check(request, err);
}

static int outcome(const struct applying *a)
{
	return report_count(a->report, "refused") || report_count(a->report, "clamped") ? STATUS_NOT_FIT
											: STATUS_DONE;
}

int verb_apply(int argc, char **argv, struct error *err)
{
	_cleanup_(applying_clear) struct applying a = {.lock = {.fd = -1}};
	struct request request = {options.only, options.skip, options.for_good};
	int r;

	argv[argc] = NULL; /* behind the operands, options may be left */
	r = check_operands(argc, &request, err);

	if (r == 0 && !options.dry_run)
		r = privilege_keep_for_settings(err);
	if (r == 0 && !options.dry_run)
		r = setup_lock(&a.lock, "emp-setup apply", err);
	if (r == 0)
		r = prepare(&a, &request, err);
	if (r < 0)
		return r;
	if (options.dry_run) {
		show_plan(&a);
		return show(&a, err);
	}
	child_shield();
	crash_point_kill_after(options.kill_after);
	r = carry_out(&a, err);
	if (r == 0)
		r = show(&a, err);
	if (r < 0)
		return r;
	say_summary(&a);
	return options.run_for ? run_and_restore(&a, argv, err) : outcome(&a);
}
