/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeping units from being started by anybody. By a mask: a link to /dev/null with the unit's name,
 * which systemd makes. For a unit whose own file is in /etc, a mask in /run has no effect, and the
 * name in /etc is taken: a drop-in gives it a condition that never holds. */
#pragma once

#include "setup/apply/journal.h"
#include "setup/apply/report.h"

/* Keeps the units of some entries from being started, as their `block` says, or ends
 * that; failures are reported. */
void entries_block(struct units *units, struct entry *const *entries, size_t n, bool blocked,
	struct report *report);
/* How a unit is described that is only kept from being started. */
static inline const char *entry_blocked_word(const struct entry *e)
{
	return e->block == BLOCK_DROP_IN ? "blocked" : "masked";
}
/* Whether it is so now; whether a file is a mask; and the name of our drop-ins. */
bool entry_is_blocked(const struct entry *entry);
bool path_is_mask(const char *path);
#define DROP_IN_NAME "90-emp-setup.conf"
