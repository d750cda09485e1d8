/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splits a command line into words as a shell does, and joins words. Only quotes and backslashes
 * are supported: whatever else needs a shell (pipes, redirections, variables, patterns) is refused
 * rather than passed on as plain text. */
#pragma once

#include "lib/base/base.h"

/* The words of `text`, NULL-terminated; free with argv_freep. -ENOEXEC: something that needs a
 * shell; -EINVAL: a quote that is not closed, or no word. */
int argv_split(const char *text, char ***ret, struct error *err);
void argv_freep(char ***words);

/* Whether only shells know the word, beside their operators: cd, or an assignment (FOO=1). */
bool argv_is_of_shell(const char *word);

/* Whether it is a program, and a builtin of shells whose output or time differs. Not `true` and
 * `false`, which do nothing in both. */
bool argv_is_builtin(const char *word);

/* The words as one line, quoted where a shell needs it; the caller frees it. */
char *argv_join(char *const *words);

/* The caller frees it with argv_freep. */
char **argv_copy(char *const *words);

/* "/bin/sh -c LINE" or, with the words of another shell, "bash --norc -c LINE", where they do not
 * end in -c already. Free with argv_freep. */
char **argv_for_shell(char *const *shell, const char *line);
