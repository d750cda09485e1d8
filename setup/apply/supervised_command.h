/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command of "apply --for": run while the settings hold. */
#pragma once

#include "lib/base/error.h"

/* Runs argv to its end, passes HUP and TERM on to it (the terminal gives it INT; the caller has called
 * interrupt_init), and keeps the CPUs out of deep idle states meanwhile, where this user may. *ret_status is an
 * exit status as a shell gives it. */
int supervised_command_run(char *const *argv, int *ret_status, struct error *err);
