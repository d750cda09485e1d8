/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A shell command that the user wants run between samples (--prepare and its kin): not measured. */
#pragma once

#include "lib/base/error.h"

#include <stdbool.h>

/* Waits for it. -ECANCELED with a sentence that names `what` if it fails. Shows its output where asked to,
 * its errors always. shell: its words, such as "bash", "--norc"; NULL: /bin/sh. Processes that it leaves
 * running (a server) go on. */
int hook_run(const char *command, char *const *shell, bool show_output, const char *what, struct error *err);
