/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What emp-calibrate prints while it works, and the commands that it suggests. */
#pragma once

#include "lib/base/base.h"

/* " --db FILE" for commands that are suggested, as a shell needs it; "" if the option was not
 * given. */
const char *calibrate_db(void);

/* A name for commands that are suggested, as a shell needs it; the next call overwrites it. */
const char *calibrate_quoted(const char *name);

/* Standard output; with --json standard error. */
FILE *calibrate_screen(void);

/* Prints on calibrate_screen(). Whole lines are wrapped, unless they are commands to copy. */
void calibrate_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
