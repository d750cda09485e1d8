/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the start of a shell takes, without a command. It is part of the times of command lines that
 * a shell runs. hyperfine subtracts it; here it is printed beside them, because no run has taken
 * the difference, and because a shell does more for some lines than for others. */
#pragma once

#include "measure/session.h"

struct shell_start *shell_start_new(void);
void shell_start_free(struct shell_start *start);

/* Runs the shell of a task's command with an empty line, as the program of the task is run. Nothing
 * is done for a task without a shell. -EINTR without a sentence if a signal came. */
int shell_start_take(struct task *t, struct error *err);

/* "Run by sh -c (start alone: …)"; NULL: no shell runs the task's command. The caller frees
 * it. */
char *shell_start_text(const struct task *t);

/* The shell, and the times of its starts; NULL: no shell runs the task's command. */
json_t *shell_start_json(const struct task *t);
