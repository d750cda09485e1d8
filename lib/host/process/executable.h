/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the file of a command. */
#pragma once

#include "lib/base/error.h"

/* The executable `name`, looked up in PATH as a shell would; the caller frees it. -ENOENT, -EACCES… with a
 * sentence. */
int executable_find(const char *name, char **ret, struct error *err);
