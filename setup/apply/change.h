/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrying out a plan: its units, then its files. The journal has each change before it is made,
 * and what was set after it. */
#pragma once

#include "setup/apply/plan.h"

/* A unit that runs and is to be stopped, or the other way; another is only kept from being
 * started. */
bool entry_is_switched(const struct entry *entry);

/* An error only if it was interrupted, or if the journal cannot be written: what systemd or the
 * kernel refuses is in the report. */
int change_units(struct plan *plan, struct error *err);
int change_files(struct plan *plan, struct error *err);
