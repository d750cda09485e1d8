/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command-line tool as tables of verbs and options.
 *
 * Help, argument limits, parsing and dispatch come from the rows. A verb is a file with its
 * options, its function and its row; main.c lists the rows. The exit status of every tool of the
 * suite is one of the values below. */
#pragma once

#include "lib/base/base.h"

/* A command-line option as a row of a table, and the kinds of values that options take. */

/* Parses the value of an option into `into`; 0 or -EINVAL with a sentence. `name` is the option's,
 * with dashes. */
typedef int option_parser(const char *value, const char *name, void *into, struct error *err);

/* The same for an option that takes several values: values[0] to values[n_values - 1]. */
typedef int option_parser_many(
	char *const *values, const char *name, void *into, struct error *err);

/* The values of an option that may be given more than once, in order. */
struct option_list {
	const char **items;
	size_t n;
};

struct option_row {
	char letter;          /* short name, 0 if none */
	const char *name;     /* long name */
	const char *value;    /* name of its value in help; NULL: a flag, `into` is a bool */
	const char *summary;  /* behind a colon at its end, help lists the choices */
	option_parser *parse; /* of a value; NULL: the text itself, `into` is a const char * */
	void *into;
	bool hidden;  /* an old name or a switch for tests: it works, and help does not show it */
	int n_values; /* more than one: parse_many gets them */
	/* may be given more than once; so may option_append, and flags */
	option_parser_many *parse_many;
	/* --name or --name=VALUE; the letter has no value; without one, parse gets NULL */
	bool optional;
	const char *group; /* of the first option of a group: the heading above it in help */
	/* CHOICES("auto", "never"): the index is put into an int, or an enum */
	const char *const *choices;
	/* of an option with `parse`: what its value may be besides others, ends with NULL; only
	 * for completions */
	const char *const *words;
	/* its value is a list, with commas, of these: the i-th, NULL after the last */
	const char *(*listed)(size_t i);
	bool text; /* changes the text that is printed, and nothing else: refused beside --json */
	const char *operand; /* of a flag: it stands for this operand */
	/* of a flag: "-" may follow it, for standard output, where its result goes in any case */
	bool dash;
};

#define CHOICES(...)                     \
	.choices = (const char *const[]) \
	{                                \
		__VA_ARGS__, NULL        \
	}

/* The index of `value` in `choices`, which end with NULL; for parsers of options and of files. */
int option_choice(const char *value, const char *name, const char *const *choices, int *ret,
	struct error *err);

option_parser option_count;    /* into int: 1 and up */
option_parser option_count0;   /* into int: 0 and up */
option_parser option_duration; /* into int64_t: ns */
option_parser option_percent;  /* into double: "2", "0.5%" */
option_parser option_limit;    /* the same, above 0 and at most 100 % */
option_parser option_share;    /* from 0 to 100 %, in parts per million into int64_t */
option_parser option_append;   /* into struct option_list */

/* What options may not say together, or need beside them: the sentence for the first rule that is
 * broken. */
struct option_rule {
	bool broken;
	const char *sentence;
};
int option_check_rules(const struct option_rule *rules, size_t n, struct error *err);

/* "Did you mean": which of the known words a mistyped one is most like. */

struct nearest {
	const char *typed, *found; /* found: NULL if none is close */
	size_t edits;
};

void nearest_try(struct nearest *nearest, const char *word);

/* " (did you mean 'WORD'?)", with `before` in front of the word; "" if none is close. */
static inline const char *nearest_hint(const struct nearest *nearest, const char *before)
{
	return nearest->found ? text_brief(" (did you mean '%s%s'?)", before, nearest->found) : "";
}

enum status {
	STATUS_DONE = 0,
	STATUS_ERROR = 1,
	STATUS_NOT_FIT = 2,     /* not fit, refused, regression found */
	STATUS_TOO_FEW = 3,     /* too few clean samples */
	STATUS_CANNOT_TELL = 4, /* --strict: the verdict is not known */
	STATUS_TIME_OUT = 124,
	STATUS_INTERRUPTED = 130,
};

/* Whether "--" came before the operands: "-- COMMAND ARGUMENT..." is one command. */
extern bool tool_after_dashes;

/* argv has the verb's operands only. Returns a status above, or a negative errno with a sentence. A
 * sentence written with a positive status is printed too. */
typedef int verb_function(int argc, char **argv, struct error *err);

struct verb {
	const char *name; /* NULL: the tool has no verbs, this row is the tool */
	const char *args; /* as shown in help */
	const char *summary;
	int min_args, max_args;           /* max_args -1: any number */
	const struct option_row *options; /* ends with {}; NULL if none */
	verb_function *run;
	bool reads_stdin; /* an operand may be "-" */
	/* Names of options of the tool that this verb has not, with blanks between; NULL: none. */
	const char *without;
};

/* verb NULL: none lacks it. */
bool verb_lacks(const struct verb *verb, const char *option);

struct tool {
	const char *name;
	const char *summary;
	const char *notes;                /* lines at the end of help: examples */
	const struct option_row *options; /* of every verb; ends with {}; NULL if none */
	const struct verb *const *verbs;  /* in the order of help; ends with NULL */
};

/* Makes up for what the caller may have left: closed standard descriptors, an ignored SIGCHLD.
 * tool_main does it, too; a main that opens files or starts processes before calls it first. */
void tool_start(void);

/* The tool's verbs and options as JSON, which "TOOL --dump-options" prints: what emp completes. */
int tool_dump_options(const struct tool *tool, struct error *err);

/* What main returns; STATUS_INTERRUPTED for -EINTR. -h, --help, -V and --version need no row; a row
 * may take the letters. */
int tool_main(const struct tool *tool, int argc, char **argv);
