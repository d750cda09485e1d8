/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A shell command of the user's that runs between samples (--prepare and others); it is not measured. */
#pragma once

#include "lib/base/error.h"

#include <stdbool.h>

/* Waits for it. -ECANCELED with a sentence that names `what` if it fails. Its standard output is shown on
 * request, its errors always. shell: its words, such as "bash", "--norc"; NULL: /bin/sh. Processes that it leaves
 * running (a server) keep running. */
int hook_run(const char *command, char *const *shell, bool show_output, const char *what, struct error *err);
