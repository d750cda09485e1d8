/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command-line tool as tables of verbs and options.
 *
 * Help, argument limits, parsing and dispatch come from the rows, so that a new verb is a row and a
 * function. The exit status of every tool of the suite is one of the values below. */
#pragma once

#include "lib/base/option.h"

enum status {
	STATUS_DONE = 0,
	STATUS_ERROR = 1,
	STATUS_NOT_FIT = 2, /* not fit, refused, regression found */
	STATUS_TOO_FEW = 3, /* too few clean samples */
	STATUS_TIME_OUT = 124,
	STATUS_INTERRUPTED = 130,
};

/* Whether "--" came before the operands: "-- COMMAND ARGUMENT..." is one command. */
bool tool_after_dashes(void);

struct verb {
	const char *name; /* NULL: the tool has no verbs, this row is the tool */
	const char *args; /* as shown in help */
	const char *summary;
	int min_args, max_args;           /* max_args -1: any number */
	const struct option_row *options; /* ends with {}; NULL if none */
	/* argv has the verb's operands only. Returns a status above, or a negative errno with a sentence.
	 * A sentence written with a positive status is printed too. */
	int (*run)(int argc, char **argv, struct error *err);
	bool reads_stdin; /* an operand may be "-" */
};

struct tool {
	const char *name;
	const char *summary;
	const char *notes;                /* lines at the end of help: examples */
	const struct option_row *options; /* of every verb; ends with {} */
	const struct verb *verbs;         /* ends with {} */
};

/* What main returns. -h, --help, -V and --version need no row; a row may take the letters. */
int tool_main(const struct tool *tool, int argc, char **argv);

/* Prints a sentence to standard error, after the tool's name: what the user must know though nothing failed. */
void tool_notice(const char *sentence);
