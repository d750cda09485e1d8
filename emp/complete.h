/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be typed next on a command line of EMP's: asked by the completions of bash, zsh and
 * fish, which are a few lines each. */
#pragma once

#include "lib/base/base.h"

/* Prints how a shell goes on: a line "words", "files", "directories" or "commands", which says what
 * it adds itself; then a line for each word, with a tab and a description behind some. `words` are
 * those of the command line from the command to the word at the cursor, which may be empty. What
 * cannot be found out is left out: nothing is an error. */
int complete_print(char *const *words, struct error *err);
