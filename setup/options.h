/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of emp-setup's verbs, and the rows of options that several of them have. */
#pragma once

#include "lib/base/tool.h"

struct options {
	bool json;
	bool verbose;
	const char *policy; /* a name or a file; NULL: this distribution's */
	bool all;           /* checks of level C too */
	bool dry_run, persistent, run_for, force, forget;
	bool in_container; /* apply changes the host of this container */
	bool abandoned;    /* restore only what a killed apply --for has left */
	bool at_boot;      /* only forget what the reboot undid */
	bool diff, save;
	const char *db;          /* the book; NULL: the user's own */
	const char *only, *skip; /* comma-separated ids */
	/* comma-separated units to stop that policies only stop if they are named */
	const char *stop;
	bool wait;         /* for what stopped units have left behind */
	int kill_after;    /* for tests: see crash_point(); 0: never */
	int isolate;       /* this CPU gets its core for itself; -1: none */
	int cpu;           /* that programs will be timed on; -1: not known */
	int64_t within_ns; /* how far ahead timers matter */
	int root_fd;       /* of a captured machine to look at; AT_FDCWD: this one */
};

extern struct options options;

option_parser option_root; /* into int: a folder that is opened */

/* Rows of options that several verbs have. */
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
// clang-format on
