/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-setup: prepares a machine for timing programs, restores it, and takes its fingerprint. The
 * verbs and options as tables; what they do is in the files of their names. */
#include "lib/base/tool.h"
#include "lib/host/process/pinning.h"
#include "setup/options.h"

static int option_root(const char *value, const char *name, void *into, struct error *err)
{
	int *fd = into;

	*fd = open(value, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *fd < 0 ? error_os(err, -errno, "cannot open %s", value) : 0;
}

// clang-format off
#define JSON_OPTION {0, "json", NULL, "print a JSON document", NULL, &options.json, .dash = true}
#define DB_OPTION \
	{0, "db", "FILE", "the lab book (default: EMP_DB, else the user's own)", NULL, &options.db}
#define POLICY_OPTION \
	{'p', "policy", "NAME", "use this policy or file, not this distribution's", NULL, \
		&options.policy}
#define CPU_OPTION \
	{0, "cpu", "N", "programs will be timed on this CPU", option_count0, &options.cpu}
#define ROOT_OPTION \
	{0, "root", "DIR", "look at a captured machine", option_root, &options.root_fd, true}
/* With an old name of --verbose. */
#define VERBOSE_OPTION(summary) \
	{'v', "verbose", NULL, summary, NULL, &options.verbose, .text = true}, \
	{'d', "details", NULL, "", NULL, &options.verbose, true, .text = true}
#define KILL_OPTION {0, "kill-after", "N", "for tests", option_count0, &options.kill_after, true}

static const struct option_row audit_options[] = {
	JSON_OPTION,
	{'a', "all", NULL, "optional checks too (level C)", NULL, &options.all},
	VERBOSE_OPTION("every check; why, how, undo of those that are not as wanted"),
	POLICY_OPTION,
	CPU_OPTION,
	{'w', "within", "TIME", "list timers that elapse within this time (24h)", option_duration,
		&options.within_ns},
	ROOT_OPTION,
	{},
};

static const struct option_row apply_options[] = {
	{'n', "dry-run", NULL, "print the plan, change nothing", NULL, &options.dry_run},
	{0, "only", "ID,ID...", "only these checks (optional ones need this)", NULL, &options.only},
	{0, "skip", "ID,ID...", "all checks but these", NULL, &options.skip},
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

static const struct option_row restore_options[] = {
	{0, "force", NULL, "also restore what somebody else has changed since", NULL,
		&options.force},
	{0, "wait", NULL, "wait for processes that a start would begin once more", NULL,
		&options.wait},
	{0, "forget", NULL, "drop what is left alone or cannot be restored", NULL, &options.forget},
	{0, "at-boot", NULL, "restore nothing, drop what a reboot has undone", NULL,
		&options.at_boot},
	JSON_OPTION,
	VERBOSE_OPTION("also list what was already set or does not exist"),
	KILL_OPTION,
	{},
};

static const struct option_row status_options[] = {
	JSON_OPTION,
	VERBOSE_OPTION("a line for each unit and file"),
	{},
};

static const struct option_row verify_options[] = {JSON_OPTION, DB_OPTION, {}};

static const struct option_row fingerprint_options[] = {
	JSON_OPTION,
	{0, "diff", NULL, "compare two documents of --json (NOW: this machine)", NULL,
		&options.diff},
	{0, "save", NULL, "also store it in the lab book", NULL, &options.save},
	DB_OPTION,
	ROOT_OPTION,
	{},
};

static const struct verb verbs[] = {
	{.name = "audit", .options = audit_options, .run = audit_verb,
		.summary = "report whether this machine is fit for timing"},
	{.name = "apply", .args = "[--for -- COMMAND...]", .max_args = -1, .options = apply_options,
		.run = apply_verb, .summary = "prepare this machine for timing (alias: tune)"},
	{.name = "restore", .options = restore_options, .run = restore_verb,
		.summary = "undo everything that apply has changed (alias: reset)"},
	{.name = "status", .options = status_options, .run = status_verb,
		.summary = "list what is applied, and since when"},
	{.name = "fingerprint", .args = "[--diff BEFORE [NOW]]", .max_args = 2,
		.options = fingerprint_options, .run = fingerprint_verb,
		.summary = "describe this machine and its settings, with a digest"},
	{.name = "verify", .args = "PROFILE", .min_args = 1, .max_args = 1,
		.options = verify_options, .run = fingerprint_verify_verb,
		.summary = "report whether a profile is still valid here"},
	{},
};
// clang-format on

static const struct tool tool = {
	.name = "emp-setup",
	.summary = "Prepares a machine for timing programs, and restores it.",
	.notes = "Exit status: 0 done (audit: fit), 1 error, 2 not fit, refused or left alone.\n",
	.verbs = verbs,
};

int main(int argc, char **argv)
{
	/* The names that other tools use for two of our verbs. */
	if (argc > 1 && !strcmp(argv[1], "tune"))
		argv[1] = (char *)"apply";
	if (argc > 1 && !strcmp(argv[1], "reset"))
		argv[1] = (char *)"restore";
	return tool_main(&tool, argc, argv);
}
