/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs and options of the other tools, as they were when this was built: tables.py asks them,
 * because one binary must not have the libraries of all (lib/host/process/subprocess.h). */
#pragma once

#include <stdbool.h>

struct known_option {
	const char *letter, *name; /* letter: "" if none */
	const char *value;         /* its name in help; NULL: a flag */
	int values;                /* how many it takes */
	bool optional;             /* --name or --name=VALUE */
	bool listed;               /* the value is a list of `words`, with commas */
	const char *const *words;  /* that the value can be, ends with NULL; NULL: any */
	const char *summary;
};

struct known_verb {
	const char *name; /* "": the tool has no verbs */
	const char *args, *summary;
	const struct known_option *options; /* ends with {} */
};

struct known_tool {
	const char *name, *summary;
	const struct known_verb *verbs; /* ends with {} */
};

extern const struct known_tool known_tools[]; /* ends with {} */

/* The tool whose name is `name`, or "emp-" and `name`; NULL: there is none. */
const struct known_tool *known_tool_find(const char *name);
