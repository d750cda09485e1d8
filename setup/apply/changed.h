/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files of a journal somebody else has changed since apply set them. */
#pragma once

#include "setup/apply/journal.h"

/* Reads what the files of a journal hold now, and sets changed_externally. */
void journal_find_changed(struct journal *journal);
/* Without --force, what apply has not touched stays. A journal that has lost its end looks
 * alike. */
bool entry_is_left(const struct entry *entry);
/* Whether the kernel changes `entry` along with the setting `with`: both belong to one policy, or
 * one of them to none. */
bool entry_is_coupled(const struct entry *entry, const struct entry *with);
