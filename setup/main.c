/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-setup: makes a machine fit for timing programs, puts it back, and takes its fingerprint. The verbs and
 * options as tables; what they do is in the files of their names. */
#include "setup/setup.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "lib/host/system/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct options options = {.within_ns = 86400 * NS_PER_S};

#define JSON_OPTION                                                                  \
	{                                                                            \
		0, "json", NULL, "print a JSON document", NULL, &options.json, false \
	}
#define DB_OPTION                                                                                            \
	{                                                                                                    \
		0, "db", "FILE", "the book (default: EMP_DB, else the user's own)", NULL, &options.db, false \
	}
#define POLICY_OPTION                                                                                 \
	{                                                                                             \
		'p', "policy", "NAME", "go by this policy or file, not by this distribution's", NULL, \
			&options.policy, false                                                        \
	}
static const struct option_row audit_options[] = {
	JSON_OPTION,
	{'a', "all", NULL, "optional checks too (level C)", NULL, &options.all, false},
	{'d', "details", NULL, "why, how, undo and who advises it, for every check", NULL, &options.details,
		false},
	POLICY_OPTION,
	{'w', "within", "TIME", "name the timers that elapse in this time (24h)", option_duration,
		&options.within_ns, false},
	{0, "root", "DIR", "look at a captured machine", NULL, &options.root, true},
	{},
};

static const struct option_row apply_options[] = {
	{'n', "dry-run", NULL, "print the plan, change nothing", NULL, &options.dry_run, false},
	{0, "only", "ID,ID...", "these checks and no others; optional ones only so", NULL, &options.only,
		false},
	{0, "skip", "ID,ID...", "all but these", NULL, &options.skip, false},
	{0, "for", NULL, "apply, run the command, restore", NULL, &options.run_for, false},
	{0, "persistent", NULL, "services and timers stay silent after a reboot, too", NULL,
		&options.for_good, false},
	POLICY_OPTION,
	JSON_OPTION,
	{'d', "details", NULL, "what was so already or is not there, too", NULL, &options.details, false},
	{0, "kill-after", "N", "for tests", option_count0, &options.kill_after, true},
	{},
};

static const struct option_row restore_options[] = {
	{0, "force", NULL, "put back also what somebody else has set since", NULL, &options.force, false},
	{0, "forget", NULL, "forget what is left alone or cannot be put back", NULL, &options.forget, false},
	{0, "at-boot", NULL, "only forget what a reboot has undone", NULL, &options.at_boot, false},
	JSON_OPTION,
	{'d', "details", NULL, "what was so already or is not there, too", NULL, &options.details, false},
	{0, "kill-after", "N", "for tests", option_count0, &options.kill_after, true},
	{},
};

static const struct option_row status_options[] = {
	JSON_OPTION,
	{},
};

static const struct option_row verify_options[] = {
	JSON_OPTION,
	DB_OPTION,
	{},
};

static const struct option_row fingerprint_options[] = {
	JSON_OPTION,
	{0, "diff", NULL, "compare two: files of --json, or \"now\"; alone, with now", NULL, &options.diff,
		false},
	{0, "save", NULL, "store it in the book, too", NULL, &options.save, false},
	DB_OPTION,
	{0, "root", "DIR", "look at a captured machine", NULL, &options.root, true},
	{},
};

static const struct verb verbs[] = {
	{.name = "audit",
		.summary = "say whether this machine is fit for timing, and what to do",
		.options = audit_options,
		.run = verb_audit},
	{.name = "apply",
		.args = "[--for -- COMMAND...]",
		.summary = "make this machine quiet; also called tune",
		.max_args = -1,
		.options = apply_options,
		.run = verb_apply},
	{.name = "restore",
		.summary = "put everything back as it was; also called reset",
		.options = restore_options,
		.run = verb_restore},
	{.name = "status",
		.summary = "show what is applied, and since when",
		.options = status_options,
		.run = verb_status},
	{.name = "fingerprint",
		.args = "[--diff BEFORE [NOW]]",
		.max_args = 2,
		.summary = "say what this machine is and how it is set, with a digest",
		.options = fingerprint_options,
		.run = verb_fingerprint},
	{.name = "verify",
		.args = "PROFILE",
		.min_args = 1,
		.max_args = 1,
		.summary = "say what has changed since a profile was made, and whether it stands",
		.options = verify_options,
		.run = verb_verify},
	{},
};

static const struct tool tool = {
	.name = "emp-setup",
	.summary = "Makes a machine fit for timing programs, and puts it back as it was.",
	.notes = "Exit status: 0 done (audit: fit), 1 error, 2 not fit, refused or left alone.\n",
	.verbs = verbs,
};

int root_open(int *ret, struct error *err)
{
	int fd;

	if (!options.root) {
		*ret = AT_FDCWD;
		return 0;
	}
	fd = open(options.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_os(err, -errno, "cannot open %s", options.root);
	*ret = fd;
	return 0;
}

int setup_lock(struct lock *ret, const char *what, struct error *err)
{
	_cleanup_(freep) char *path = NULL;
	int r = lock_path("/run/emp-setup", &path, err);

	return r < 0 ? r : lock_take(ret, path, what, err);
}

/* The names that other tools have for two of our verbs. */
static void translate(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "tune"))
		argv[1] = (char *)"apply";
	if (argc > 1 && !strcmp(argv[1], "reset"))
		argv[1] = (char *)"restore";
}

int main(int argc, char **argv)
{
	translate(argc, argv);
	return tool_main(&tool, argc, argv);
}
