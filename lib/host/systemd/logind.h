/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What logind knows and does: desktop sessions, and holding off sleep and shutdown. */
#pragma once

#include "lib/base/error.h"

/* The users of sessions with a display (login screens too); a user with two is there twice. Ends with NULL; freed with
 * strings_free. None where logind does not run. */
char **sessions_desktops(void);

/* Holds off sleep and shutdown while something runs for days (systemd-inhibit --list shows it): a descriptor to keep open as long
 * as the hold is to last; the kernel ends it with the process. Negative with a sentence if there is no logind or it refuses. */
int inhibit_sleep(const char *who, const char *why, struct error *err);
