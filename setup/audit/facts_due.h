/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What starts soon and is no timer of the system: a part of facts.h. */
#pragma once

#include "setup/audit/facts.h"

/* Adds to facts->due, and puts it in order: jobs of cron, if it runs; timers of users ("user-1000/backup.timer"); desktop
 * sessions ("desktop-session:alice"), which are at work all the time. What this user may not see is left out. */
int facts_read_due(struct facts *facts, struct error *err);
