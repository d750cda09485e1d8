/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb apply: a plan, the journal, the changes, and with --for a command and restore. */
#include "lib/base/terminal.h"
#include "lib/base/tool.h"
#include "lib/host/cpu/cpupower.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/subprocess.h"
#include "lib/host/system/lock.h"
#include "setup/apply/block.h"
#include "setup/apply/change.h"
#include "setup/apply/changed.h"
#include "setup/apply/crash_point.h"
#include "setup/apply/journal.h"
#include "setup/apply/limits.h"
#include "setup/apply/owners.h"
#include "setup/apply/plan.h"
#include "setup/apply/reached.h"
#include "setup/apply/report.h"
#include "setup/apply/request.h"
#include "setup/apply/restore.h"
#include "setup/apply/snapshot.h"
#include "setup/apply/waiting.h"
#include "setup/audit/checks.h"
#include "setup/audit/facts.h"
#include "setup/options.h"

#include <linux/magic.h>
#include <sys/vfs.h>

/* Loads what is applied already. */
static int load_journal(struct journal *journal, struct error *err)
{
	int r = journal_load(journal, err);

	/* a plan is also for those who may not read what is applied */
	if (r == -EACCES && options.dry_run) {
		fprintf(stderr, "emp-setup: %s; the plan starts from the present values\n",
			err->text);
		*err = (struct error){};
	} else if (r < 0)
		return r;
	if (journal->incomplete)
		return error_say(err, -EINVAL,
			"the journal of what is applied is damaged; "
			"'emp-setup restore' restores what can be read, "
			"and with --forget drops the rest");
	/* a reboot has undone those: their present values are the ones to restore */
	journal_drop_stale(journal);
	return 0;
}

/* Whether an owner has it, even one that was killed. */
static bool is_owned(const struct entry *e)
{
	return entry_is_applied(e) || entry_needed_by(e) > 0 || entry_is_abandoned(e);
}

static int apply_prepare(struct plan *plan, struct error *err)
{
	struct journal *journal = &plan->journal;
	struct error why = {};
	int r = load_journal(journal, err);

	if (r < 0)
		return r;
	plan->n_open = journal->n;
	if (!options.dry_run)
		journal_set_others_limits(journal);
	r = facts_read(&plan->facts, err);
	if (r < 0)
		return r;
	journal_find_changed(journal);
	for (size_t i = 0; i < plan->n_open; i++)
		plan->continued |= is_owned(&journal->entries[i]);

	if (plan->facts.locked)
		return error_say(err, -EBUSY,
			"a package manager is running (it has locked %s); wait until it is done",
			plan->facts.locked);
	if (plan->facts.has_units && units_open_direct(&plan->units, &why) < 0)
		plan->units = NULL;
	if (plan->units)
		journal_find_unreached(journal, plan->units);
	return plan_make(plan, err);
}

/* Whether this process has another root directory than the first one. A container that sees the
 * processes of its host (docker run --pid=host) shows in no other way. */
static bool has_own_root(void)
{
	struct stat own, first;

	return stat("/", &own) == 0 && stat("/proc/1/root/", &first) == 0 &&
	       (own.st_dev != first.st_dev || own.st_ino != first.st_ino);
}

/* Whether a file is the kernel's. */
static bool is_of_kernel(const char *path)
{
	struct statfs st;

	return statfs(path, &st) == 0 &&
	       (st.f_type == SYSFS_MAGIC || st.f_type == PROC_SUPER_MAGIC);
}

/* In a container that may write the host's settings: the journal, the only record of what they
 * were, goes with the container. A container with a systemd of its own may have files that are
 * not the kernel's. */
static bool changes_host(const struct plan *plan)
{
	const struct machine *m = &plan->facts.machine;
	const bool apart = m->container || has_own_root();

	for (size_t i = 0; apart && i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);

		if (e->kind == ENTRY_FILE && strcmp(e->old, e->want) != 0 &&
			(!m->systemd || is_of_kernel(e->name)))
			return true;
	}
	return false;
}

/* Whether the plan records limits while turbo is off: the kernel shows no limit then that only
 * turbo could reach. */
static bool may_hide_limit(const struct plan *plan)
{
	const struct frequency *q = &plan->facts.frequency;

	for (size_t i = 0; (q->no_turbo == 1 || q->boost == 0) && i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);

		if (plan->order[i] >= plan->n_open && e->file_kind == SETTING_LIMITS &&
			!entry_is_kept(e))
			return true;
	}
	return false;
}

/* Reports what would become of an entry. */
static void report_planned(struct report *report, const struct entry *e)
{
	const char *now = e->now ?: e->old;
	enum outcome outcome = OUTCOME_WILL_CHANGE;

	if (e->was_set)
		now = e->want;
	if (e->kind == ENTRY_UNIT && !entry_is_switched(e) && e->block != BLOCK_NONE) {
		if (e->was_blocked)
			outcome = OUTCOME_STAYS;
		report_entry(report, e, outcome, e->old, entry_blocked_word(e), NULL);
	} else if (!entry_is_kept(e)) {
		if (!strcmp(now, e->want))
			outcome = OUTCOME_STAYS;
		report_entry(report, e, outcome, now, e->want, e->loses);
	}
}

/* Shows what became of the plan, or with --dry-run the plan. */
static int apply_show(struct plan *plan, struct error *err)
{
	struct report *report = &plan->report;
	const size_t *count = report->count;
	const size_t n_differ = count[OUTCOME_CLAMPED];
	FILE *file = report_file();

	for (size_t i = 0; options.dry_run && i < plan->n_order; i++)
		report_planned(report, plan_entry(plan, i));
	if (options.json)
		return json_print(
			report_document(report, json_pack("{s:b}", "dry_run", options.dry_run)),
			file, err);

	report_print(report, file, options.verbose);
	if (may_hide_limit(plan))
		terminal_say(file, 2,
			"Turbo was off: a higher upper limit cannot be read, "
			"and restore lifts it.");
	if (options.dry_run) {
		terminal_say(file, 2,
			"%zu will change, %zu already set. Nothing was changed (--dry-run).",
			count[OUTCOME_WILL_CHANGE], count[OUTCOME_STAYS]);
		return 0;
	}
	fprintf(file, "%zu changed, %zu already set, %zu refused", count[OUTCOME_CHANGED],
		count[OUTCOME_ALREADY], count[OUTCOME_REFUSED]);
	if (n_differ)
		fprintf(file, ", %zu differ%s from the request", n_differ,
			n_differ == 1 ? "s" : "");
	fputs(".", file);
	if (count[OUTCOME_CHANGED] && !options.run_for)
		fputs(" 'emp-setup restore' undoes everything.", file);
	fputs("\n", file);
	return 0;
}

/* Stops and starts the units of a plan, or waits for what earlier ones have left. */
static int carry_out_units(struct plan *plan, struct error *err)
{
	int r;

	waiting_begin(plan->units, "undoes all");
	r = change_units(plan, err);
	waiting_end();
	return r;
}

/* Restores what was changed before the failure `r`; the outcome is that of carry_out(). */
static int undo(struct plan *plan, int r, struct error *err)
{
	struct error why = {};
	const int back = restore_locked(RESTORE_GAINED, &plan->journal, &why);

	if (back < 0)
		return error_prefix(err, r,
			"stopped half-way, and could not undo it (%s); "
			"'emp-setup restore' tries again",
			why.text);
	if (back != STATUS_DONE)
		return error_prefix(
			err, r, "stopped half-way, and not all was undone; see 'emp-setup status'");
	error_prefix(err, r, "stopped half-way, and undone");
	return r == -EINTR ? STATUS_INTERRUPTED : r;
}

/* Everything is on disk before the first write. What was changed before a failure is restored at
 * once. Positive: it was interrupted, and all is as before. */
static int carry_out(struct plan *plan, struct error *err)
{
	int r = 0;

	if (plan->n_order == 0) {
		if (plan->facts.left.n > 0) /* nothing but to wait */
			r = carry_out_units(plan, err);
		return r == -EINTR ? STATUS_INTERRUPTED : r;
	}

	if (!plan->continued)
		r = snapshot_save(plan->facts.has_units ? &plan->facts.units : NULL, err);
	crash_point();
	if (r == 0)
		r = journal_save(&plan->journal, err);
	if (r < 0)
		return error_prefix(err, r, "nothing was changed");
	crash_point();

	action_log(ACTION_APPLY, "emp-setup apply: %zu settings and units, policy %s",
		plan->n_order, plan->facts.policy->name);
	if (plan->units)
		r = carry_out_units(plan, err);
	if (r == 0)
		r = change_files(plan, err);
	if (r == 0 && interrupt_pending())
		r = error_say(err, -EINTR, "interrupted");
	return r == 0 ? 0 : undo(plan, r, err);
}

/* The status that a shell would give to a command that cannot be executed. */
static int shell_status(int r)
{
	enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

	if (r == -ENOMEM)
		return r;
	return r == -ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}

/* Warns if somebody has restored settings before the command of --for has ended. */
static void check_lasted(const struct plan *plan)
{
	_cleanup_(journal_clear) struct journal now = {};
	size_t n = 0;

	if (plan->n_order == 0 || journal_load(&now, NULL) < 0)
		return;
	for (size_t i = 0; i < now.n; i++)
		n += entry_has_owner(&now.entries[i], plan->owner);
	if (n < plan->n_order)
		fprintf(stderr,
			"emp-setup: %zu of %zu changes did not last until the command ended: "
			"somebody has restored them\n",
			plan->n_order - n, plan->n_order);
}

/* Seconds that --for waits for the host's lock. Another emp-setup takes less to begin; a
 * measurement takes longer. */
enum { TO_APPLY = 20, FOR_EVER = INT32_MAX };

/* Takes the host's lock, and waits for it for so many seconds at most. -EBUSY: another process
 * still has it. */
static int lock_wait(int *ret_fd, int seconds, const char *purpose, struct error *err)
{
	enum { RETRIES = 10 }; /* a second */
	int r;

	for (int64_t i = 0; (r = lock_take(ret_fd, SETUP_LOCK, err)) == -EBUSY; i++) {
		if (i >= (int64_t)seconds * RETRIES)
			return r;
		if (i == 0)
			fprintf(stderr, "emp-setup: waiting to %s: %s\n", purpose, err->text);
		usleep(1000000 / RETRIES);
	}
	return r;
}

/* Runs the command of --for, then restores what only this process owns, which nothing but a kill -9
 * prevents. Meanwhile CPUs stay out of deep idle states, where the kernel allows to ask for that.
 * The caller holds no lock: the command may audit, or apply more. Returns the exit status of the
 * command; STATUS_ERROR if that is 0 and something could not be restored. */
static int run_for(char *const *argv, const char *path, const struct plan *plan, struct error *err)
{
	static const char latency[] = "/dev/cpu_dma_latency";
	const struct subprocess command = {.argv = argv, .path = path, .forward_signals = true};
	_cleanup_(closep) int lock_fd = -1;
	struct error why = {};
	int32_t us = idle_latency_us();
	/* A request that no CPU takes long to wake up; it ends when the file is closed. */
	int fd = open(latency, O_WRONLY | O_CLOEXEC), status, back, r;

	if (fd < 0 || write(fd, &us, sizeof(us)) != sizeof(us))
		fprintf(stderr, "emp-setup: CPUs may enter deep idle states: cannot %s %s: %s\n",
			fd < 0 ? "open" : "write", latency, strerror(errno));
	r = subprocess_run(&command, NULL, &status, err);
	status = r < 0 ? shell_status(r) : process_exit_status(status);
	closep(&fd);
	/* Waits for as long as another process has the lock. If there can be no lock file, restores
	 * without it. */
	r = lock_wait(&lock_fd, FOR_EVER, "restore", &why);
	if (r < 0)
		fprintf(stderr, "emp-setup: restoring without the host's lock: %s\n", why.text);
	check_lasted(plan);
	back = restore_locked(RESTORE_OWN, NULL, &why);
	if (back < 0)
		fprintf(stderr, "emp-setup: %s\n", why.text);
	return status == 0 && (back < 0 || back == STATUS_ERROR) ? STATUS_ERROR : status;
}

/* Says so if this would change the host of a container, which is asked for by an option. */
static bool refuse_host(const struct plan *plan, struct error *err)
{
	const struct machine *m = &plan->facts.machine;

	if (options.run_for || options.in_container || !changes_host(plan))
		return false;
	error_say(err, STATUS_NOT_FIT,
		"in %s, apply would change the host, and what it was would be known only here, "
		"until the container is removed: use --for, or --in-container, "
		"or run emp-setup on the host",
		m->container ? machine_description(m) : "a container or another root");
	return true;
}

static int check_apply_options(int argc, struct error *err)
{
	const struct option_rule rules[] = {
		{options.run_for && argc == 0,
			"--for needs a command: emp-setup apply --for -- COMMAND"},
		{!options.run_for && argc > 0,
			"a command needs --for: emp-setup apply --for -- COMMAND"},
		{options.isolate >= 0 && options.cpu >= 0 && options.cpu != options.isolate,
			"--isolate and --cpu name different CPUs: "
			"programs are timed on the isolated one"},
		{options.run_for && options.persistent,
			"--for and --persistent exclude each other: use one of them"},
	};
	int r = option_check_rules(rules, ELEMENTS(rules), err);

	if (options.isolate >= 0)
		options.cpu = options.isolate;
	return r < 0 ? r : request_validate(err);
}

static const struct option_row apply_options[] = {
	{'n', "dry-run", NULL, "print the plan, change nothing", NULL, &options.dry_run},
	{0, "only", "ID,ID...", "only these checks (optional ones need this)", NULL, &options.only,
		.listed = check_rows_id},
	{0, "skip", "ID,ID...", "all checks but these", NULL, &options.skip,
		.listed = check_rows_id},
	{0, "stop", "UNIT,UNIT...", "also these, which are not stopped unless they are named", NULL,
		&options.stop},
	{0, "wait", NULL, "wait for processes that stopped units leave behind", NULL,
		&options.wait},
	{0, "isolate", "N", "nothing else runs on this CPU's core (cgroup v2)", pinning_option,
		&options.isolate},
	{0, "for", NULL, "apply, run COMMAND, restore", NULL, &options.run_for},
	{0, "in-container", NULL, "change the settings of this container's host", NULL,
		&options.in_container},
	{0, "persistent", NULL, "services and timers stay stopped after a reboot", NULL,
		&options.persistent},
	CPU_OPTION,
	POLICY_OPTION,
	JSON_OPTION,
	VERBOSE_OPTION("also list what was already set or does not exist"),
	KILL_OPTION,
	{},
};

static int apply_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(plan_clear) struct plan plan = {};
	_cleanup_(closep) int lock_fd = -1;
	_cleanup_(freep) char *command = NULL;
	int r = check_apply_options(argc, err);
	bool refused;

	argv[argc] = NULL; /* options may follow the operands */
	if (r < 0)
		return r;
	if (options.run_for)
		r = executable_find(argv[0], &command, err);
	if (r < 0)
		return shell_status(r);
	if (!options.dry_run)
		r = privilege_keep_for_settings(err);
	if (r == 0 && !options.dry_run)
		r = lock_wait(&lock_fd, options.run_for ? TO_APPLY : 0, "apply", err);
	if (r == 0)
		r = apply_prepare(&plan, err);
	if (r != 0)
		return r;

	refused = refuse_host(&plan, err);
	if (options.dry_run)
		return apply_show(&plan, err);
	if (refused)
		return STATUS_NOT_FIT;
	interrupt_init(); /* only KILL ends this process before all is done */
	interrupt_block_others();
	r = carry_out(&plan, err);
	if (r == 0 && options.run_for) {
		/* even if the table cannot be printed, the command runs, and all is restored */
		apply_show(&plan, NULL);
		close(TAKE_FD(lock_fd));
		return run_for(argv, command, &plan, err);
	}
	if (r == 0)
		r = apply_show(&plan, err);
	if (r != 0)
		return r;
	return plan.report.count[OUTCOME_REFUSED] || plan.report.count[OUTCOME_CLAMPED]
		       ? STATUS_NOT_FIT
		       : STATUS_DONE;
}

const struct verb setup_apply = {
	.name = "apply",
	.args = "[--for -- COMMAND...]",
	.summary = "prepare this machine for timing (alias: tune)",
	.max_args = -1,
	.options = apply_options,
	.run = apply_verb,
};
