/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restoring the units of a journal: they may be started again, and those that run or ran before are
 * as they were. */
#pragma once

#include "setup/apply/restoring.h"

void restore_units(struct restore *restore);
