/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands to measure, out of what was typed: "-- COMMAND ARGUMENT..." is one command; without the dashes
 * every operand is a command line, as with hyperfine. Parameters are put in, names given. */
#pragma once

#include "measure/options.h"

struct command {
	char *name; /* what results call it */
	char *text; /* as it would be typed */
	char **argv;
	char *path;                                 /* of argv[0] */
	char *setup, *prepare, *conclude, *cleanup; /* NULL: none */
	char **values;                              /* of the parameters, in their order; NULL-terminated */
};

struct commands {
	struct command *items;
	size_t n;
};

int commands_make(const struct measure_options *options, int argc, char **argv, struct commands *ret,
	struct error *err);
void commands_clear(struct commands *commands);

static inline void commands_clearp(struct commands *commands)
{
	commands_clear(commands);
}
