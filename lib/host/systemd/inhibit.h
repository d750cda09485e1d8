/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sleep and shutdown held off while something runs for days, as logind offers it (systemd-inhibit --list
 * shows it). The kernel ends the hold with the process. */
#pragma once

#include "lib/base/error.h"

/* A descriptor to keep open as long as the hold shall last. Negative with a sentence where there is no
 * logind, or it refuses: nothing that should stop anybody. */
int inhibit_sleep(const char *who, const char *why, struct error *err);
