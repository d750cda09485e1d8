/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units that apply had planned to stop or start, and was killed before it came to them. */
#pragma once

#include "setup/apply/journal.h"

/* For units that apply was killed before: sets changed_externally where somebody else
 * has stopped them, or started them, meanwhile. */
void journal_find_unreached(struct journal *journal, struct units *units);
/* Names of properties, which end with NULL: what a unit needs. */
extern const char *const units_needs[];
