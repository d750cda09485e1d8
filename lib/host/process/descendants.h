/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our own children, the orphans of the program under test among them (we are a child subreaper): for
 * where there is no cgroup to count and end them all at once. */
#pragma once

#include "lib/base/error.h"

int descendants_count(void);

/* SIGKILL to every child; those below them become ours as their parents die, so that a caller who repeats it
 * while it reaps reaches all of them. -EPERM if none may be ended (a setuid program). */
int descendants_kill(struct error *err);
