/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restores what a journal holds. */
#pragma once

#include "lib/host/systemd/units.h"
#include "setup/apply/journal.h"
#include "setup/apply/report.h"

struct restore_options {
	bool force;   /* also what somebody else has changed since */
	bool forget;  /* drop what is left alone or cannot be restored */
	size_t first; /* entries before this one stay applied */
};

/* Restores what it can, and drops it from the journal in memory; what could not be restored or was left alone
 * stays in it. units may be NULL. */
void restore_entries(struct journal *journal, const struct restore_options *how, struct units *units,
	struct report *report);
