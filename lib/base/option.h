/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command-line option as a row of a table, and the kinds of values that options take. */
#pragma once

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses the value of an option into `into`; 0 or -EINVAL with a sentence. `name` is the option's, with
 * dashes. */
typedef int option_parser(const char *value, const char *name, void *into, struct error *err);

/* The same for an option that takes several values: values[0] to values[n_values - 1]. */
typedef int option_parser_many(char *const *values, const char *name, void *into, struct error *err);

/* The values of an option that may be given more than once, in order. */
struct option_list {
	const char **items;
	size_t n;
};

struct option_row {
	char letter;       /* short name, 0 if none */
	const char *name;  /* long name */
	const char *value; /* name of its value in help; NULL: a flag, `into` is a bool */
	const char *summary;
	option_parser *parse; /* of a value; NULL: the text itself, `into` is a const char * */
	void *into;
	bool hidden;  /* an old name or a switch for tests: it works, and help does not show it */
	int n_values; /* more than one: parse_many gets them */
	option_parser_many *parse_many;
	bool optional; /* --name or --name=VALUE; the letter has no value; without one, parse gets NULL */
	bool list; /* may be given more than once; so may flags, and rows with option_append or parse_many */
	const char *group; /* of the first option of a group: the heading above it in help */
	bool dash; /* of a flag: "-" may follow it, for standard output, where its result goes in any case */
};

/* Whether the option may be given more than once. */
bool option_is_list(const struct option_row *row);

/* The index of `value` in `choices`, which end with NULL; for parsers of options and of files. */
int option_choice(
	const char *value, const char *name, const char *const *choices, int *ret, struct error *err);

option_parser option_count;    /* into int: 1 and up */
option_parser option_count0;   /* into int: 0 and up */
option_parser option_duration; /* into int64_t: ns */
option_parser option_percent;  /* into double: "2", "0.5%" */
option_parser option_share;    /* the same, at most 100 %, in parts per million into int64_t */
option_parser option_append;   /* into struct option_list */
