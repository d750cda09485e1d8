/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holds off sleep and shutdown with logind while something runs for days (systemd-inhibit --list shows it). The
 * kernel ends the hold with the process. */
#pragma once

#include "lib/base/error.h"

/* A descriptor to keep open as long as the hold is to last. Negative with a sentence if there is no logind or it
 * refuses. */
int inhibit_sleep(const char *who, const char *why, struct error *err);
