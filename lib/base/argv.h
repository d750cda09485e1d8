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

/* The words as one line, quoted where a shell needs it; the caller frees it. */
char *argv_join(char *const *words);

/* The caller frees it with argv_freep. */
char **argv_copy(char *const *words);

/* "/bin/sh -c LINE" or, with the words of another shell, "bash --norc -c LINE". Free with
 * argv_freep. */
char **argv_for_shell(char *const *shell, const char *line);
