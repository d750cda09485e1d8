/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The moments at which tests kill apply and restore. */
#pragma once

#include "lib/base/base.h"

/* Kills the process if this is the crash point that --kill-after chooses. A crash point follows
 * each change that others can see, so that a test can try all moments at which a power cut may
 * come. After any of them, what the journal holds can be restored. */
void crash_point(void);
