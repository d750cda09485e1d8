/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-setup: audits a machine that is to time programs, and takes its fingerprint. The verbs and options as
 * tables; what they do is in the files of their names. */
#include "setup/setup.h"

#include "lib/base/tool.h"

#include <errno.h>
#include <fcntl.h>

struct options options;

static const struct option_row audit_options[] = {
	{0, "json", NULL, "print a JSON document", NULL, &options.json, false},
	{'d', "details", NULL, "why, how, undo and who advises it, for every check", NULL, &options.details,
		false},
	{'p', "policy", "NAME", "judge by this policy or file, not by this distribution's", NULL,
		&options.policy, false},
	{0, "root", "DIR", "look at a captured machine", NULL, &options.root, true},
	{},
};

static const struct option_row fingerprint_options[] = {
	{0, "json", NULL, "print a JSON document", NULL, &options.json, false},
	{0, "root", "DIR", "look at a captured machine", NULL, &options.root, true},
	{},
};

static const struct verb verbs[] = {
	{.name = "audit",
		.summary = "say whether this machine is fit for timing programs, and what to do",
		.options = audit_options,
		.run = verb_audit},
	{.name = "fingerprint",
		.summary = "say what this machine is and how it is set, with a digest to compare",
		.options = fingerprint_options,
		.run = verb_fingerprint},
	{},
};

static const struct tool tool = {
	.name = "emp-setup",
	.summary = "Audits a machine that is to time programs, and takes its fingerprint.",
	.notes = "Nothing is changed by these verbs. Exit status of audit: 0 fit, 2 not fit, 1 error.\n",
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

int main(int argc, char **argv)
{
	return tool_main(&tool, argc, argv);
}
