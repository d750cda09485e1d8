/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The owners of an entry: it is restored when the last one is gone. A plain apply owns what it
 * sets until a restore, and a process of apply --for as long as it runs, however it ends. What
 * is left alone has none. */
#pragma once

#include "setup/apply/journal.h"

/* This process as an owner; the caller frees it. */
char *owner_new(void);
bool entry_has_owner(const struct entry *entry, const char *owner);
void entry_add_owner(struct entry *entry, const char *owner);
void entry_add_owners(struct entry *entry, const struct entry *of);
/* Also removes those that have ended. */
void entry_remove_owner(struct entry *entry, const char *owner);
/* Whether a plain apply owns it; a process of apply --for that owns it and runs (0: none);
 * whether all owners were killed. */
bool entry_is_applied(const struct entry *entry);
pid_t entry_needed_by(const struct entry *entry);
bool entry_is_abandoned(const struct entry *entry);
