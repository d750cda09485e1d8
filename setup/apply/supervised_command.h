/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command of "apply --for": run while the settings hold. */
#pragma once

#include "lib/base/error.h"

/* Keeps HUP, INT and TERM from ending this process, from before the first change to after the last. */
void child_shield(void);

/* Runs argv with the signals of the caller, passes HUP and TERM on to it (the terminal gives it INT), and
 * waits. Holds the CPUs out of deep idle states meanwhile, where it may. *ret_status is an exit status as a
 * shell gives it. */
int child_run(char *const *argv, int *ret_status, struct error *err);
