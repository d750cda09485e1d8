/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which file a command means. */
#pragma once

#include "lib/base/error.h"

/* The executable that `name` means, by PATH as a shell would; the caller frees it. -ENOENT, -EACCES… with a
 * sentence. */
int executable_find(const char *name, char **ret, struct error *err);
