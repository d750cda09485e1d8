/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands to measure: the reference, then the operands. "-- COMMAND ARGUMENT..." is one
 * command; without the dashes every operand is a command line, as with hyperfine. A command line
 * with parameters is one command for each combination of their values. */
#pragma once

#include "measure/options.h"

struct command {
	char *name; /* in results */
	/* by the user (--command-name, --reference-name), or with parameters that its line has not */
	bool named;
	char *text; /* as typed in a shell */
	char **argv;
	bool by_shell;                              /* argv is a shell, "-c", and the line */
	char *path;                                 /* of argv[0] */
	char *setup, *prepare, *conclude, *cleanup; /* NULL: none */
	const char *output;                         /* --output; NULL: not given */
	char **values; /* of the parameters, in their order; NULL-terminated. NULL: the reference */
};

struct commands {
	struct command *items;
	size_t n;
};

int commands_make(const struct measure_options *options, int argc, char **argv,
	struct commands *ret, struct error *err);
void commands_clear(struct commands *commands);
