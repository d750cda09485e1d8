/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a stream is a terminal, how wide it is, and colours. NO_COLOR and TERM=dumb are
 * honoured. */
#pragma once

#include "lib/base/base.h"

enum mark { MARK_NONE, MARK_GOOD, MARK_BAD, MARK_WARN, MARK_STRONG, MARK_FAINT, MARK_END };

bool terminal_is(FILE *file);

/* Columns of the terminal; elsewhere the value of COLUMNS, or 80. */
size_t terminal_width(FILE *file);

/* The same from 60 to 120, for screens whose lines are not wrapped. */
size_t terminal_columns(FILE *file);

/* The escape sequence for `mark` on `file`, "" without colour. */
const char *terminal_mark(FILE *file, enum mark mark);

/* --style: colour and interactive output (a progress bar) are on or off, whatever the streams
 * are. */
extern struct terminal_style {
	enum terminal_choice { TERMINAL_AUTO, TERMINAL_OFF, TERMINAL_ON } colour, interactive;
} terminal_style;

/* `text` from elsewhere, as a terminal may show it: a line break or a tab is a blank, other control
 * characters and those that change the direction of writing are "?", and a byte that is not UTF-8
 * is \xNN. Any user chooses names of processes, units and commands. NULL for NULL. It is valid
 * until the 16th call after this one. */
const char *terminal_text(const char *text);

/* How many columns the first bytes of `text` take, or all; and how many of its bytes fit into
 * `columns`. */
size_t terminal_bytes_width(const char *text, size_t bytes);
static inline size_t terminal_text_width(const char *text)
{
	return terminal_bytes_width(text, strlen(text));
}
size_t terminal_text_fit(const char *text, size_t columns);

/* A text from elsewhere, shortened with … to fit. The caller frees it. */
char *terminal_cut(const char *text, size_t columns);

void terminal_print_cut(FILE *file, const char *text, size_t columns);

/* Names as they are shown beside each other, each in at most so many columns. A name that is too
 * long has … in its middle, because two commands mostly differ at their ends. If two names would
 * look the same then, … stands for what the names have in common. If they still look the same, all
 * names are whole. The caller frees the array and its texts (argv_freep). */
char **terminal_short_names(const char *const *names, size_t n, size_t columns);

/* The names of a screen, and how each is shown everywhere on it. */
extern struct terminal_names {
	const char *const *items;
	char *const *shown;
	size_t n;
} terminal_names;

/* Prints a name in bold letters, as terminal_names shows it, or shortened in the middle to fit if
 * it is not among those. Returns its width. */
size_t terminal_print_name(FILE *file, const char *name, size_t columns);
const char *terminal_shown_name(const char *name);
static inline size_t terminal_name_width(const char *name)
{
	return terminal_text_width(terminal_shown_name(name));
}

/* Prints a paragraph and a newline: no line is wider than the terminal, or 120 columns. The first
 * line continues at column `at`, the others begin at column `indent`. */
void terminal_wrap(FILE *file, const char *text, size_t at, size_t indent);

/* The same for a line of its own; what follows the first line begins at `indent`. */
void terminal_say(FILE *file, size_t indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A sentence on standard error, with the name of the tool before it. It is one line where that is
 * no terminal. */
void terminal_remark(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Progress on standard error: on a terminal a bar as wide as fits; elsewhere a plain line for every
 * tenth of the total, at most one per second. Nothing is drawn while a sample runs: the caller
 * steps between samples. */

struct progress {
	const char *label;
	uint64_t total;
	bool terminal;
	bool drawn;
	int tenths_said;
	int64_t started_ns, said_ns;
};

/* quiet: draws nothing at all. The label must outlive the work. */
void progress_begin(struct progress *p, const char *label, uint64_t total, bool quiet);

/* Whether a step would be shown now; if not, no estimate need be made for it. */
bool progress_is_due(const struct progress *p, uint64_t done);

/* `estimate`: the result so far, "127.9 ms"; NULL: none. */
void progress_step(struct progress *p, uint64_t done, const char *estimate);

/* Clears the bar, so that the next line takes its place. */
void progress_end(struct progress *p);
