/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carries out a plan, and restores what the journal holds. After a stop at any crash point, what the journal holds can
 * be restored. */
#pragma once

#include "lib/host/systemd/units.h"
#include "setup/apply/plan.h"

/* Carries out plan->order and reports what became of it. Only a failure to write the journal is
 * an error, and -EINTR: the caller undoes it. */
int change_apply(struct plan *plan, struct units *units, struct report *report, struct error *err);

/* Restores all entries but the `first` ones, and shows the result; the caller holds the host's lock. A status of
 * tool.h. */
int change_restore_locked(size_t first, struct error *err);

/* Its part for settings: entries that are restored, or that --forget drops, are cleared. Fails without memory only. */
int change_restore_files(struct journal *journal, size_t first, struct report *report, struct error *err);

/* Reports an entry that failed or is left alone, with its value before apply. It stays for the next restore; with --forget it
 * is cleared, and `note` ends before "; --", the ways to treat it. */
void change_keep(
	struct entry *entry, enum outcome outcome, const char *now, const char *note, struct report *report);

/* Keeps a unit from being started by anybody, as entry->block says, or ends that. A failure is reported. */
void change_block(struct units *units, const struct entry *entry, bool blocked, struct report *report);
/* Whether it is so now. */
bool change_is_blocked(const struct entry *entry);
/* Needed after it. */
void change_reload(struct units *units, enum outcome failed, struct report *report);

/* For tests: kills the process at a chosen one of its crash points, which follow each change that the outside can
 * see. So a test can try all moments at which a power cut may come. */
void crash_point_kill_after(int n); /* 0: never */
void crash_point(void);
