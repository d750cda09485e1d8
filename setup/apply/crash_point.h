/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The moments at which tests kill apply and restore. */
#pragma once

#include "lib/base/base.h"

/* Kills the process at the crash point that --kill-after chooses. They follow each
 * change that the outside can see, so that a test can try all moments at which a power cut may
 * come. What the journal holds can be restored after any. */
void crash_point(void);
