/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-setup: prepares a machine for timing programs, restores it, and takes its fingerprint. */
#include "lib/base/tool.h"

/* A verb has a file of its own, with its options. */
extern const struct verb setup_audit, setup_apply, setup_restore, setup_status, setup_fingerprint,
	setup_verify;

/* In the order of help. */
static const struct verb *const verbs[] = {&setup_audit, &setup_apply, &setup_restore,
	&setup_status, &setup_fingerprint, &setup_verify, NULL};

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
