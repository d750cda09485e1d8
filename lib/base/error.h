/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The error message: one sentence.
 *
 * Functions return 0 or a negative errno, and whoever meets the failure first writes the sentence
 * into a `struct error` that lives on main's stack. It names the thing, the cause and, where there
 * is one, the way out. Libraries never print it; tool_main does, once. NULL: the caller does not
 * need it. */
#pragma once

struct error {
	char text[768]; /* the sentence; "": there is none */
	/* printed below the sentence: what a program that failed wrote, or what to type; "":
	 * nothing */
	char lines[600];
};

/* Writes the sentence, drops what was there, and returns `r`. */
int error_say(struct error *err, int r, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, followed by ": " and the text of errno `r` (negative). */
int error_os(struct error *err, int r, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "<format>: " in front of the present sentence, and returns `r`. */
int error_prefix(struct error *err, int r, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
