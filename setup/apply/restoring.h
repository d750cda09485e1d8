/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A restore on its way: its entries, and what became of each of them. */
#pragma once

#include "setup/apply/journal.h"
#include "setup/apply/report.h"

/* One restore: the entries that are taken, and what becomes of them. An entry that is done with
 * is cleared. */
struct restore {
	struct journal journal;
	struct units *units; /* NULL: systemd does not answer */
	struct report report;
	size_t n_needed; /* entries that a process of apply --for still needs */
	pid_t needed_by; /* one of these */
};

/* What became of an entry. */
struct settlement {
	enum outcome outcome;
	const char *before, *now; /* NULL: not known */
	const char *note;         /* why; NULL: there is nothing to say */
	const char *ways;         /* to treat it, said behind the note; --forget is one of them */
};

/* Reports what became of an entry, and clears it. One that failed or is left alone stays for the
 * next restore; with --forget it is cleared, too, and no way to treat it is named. */
void restore_settle(struct restore *restore, struct entry *entry, struct settlement settlement);

/* The same for one that somebody else has changed. */
void restore_leave_changed(struct restore *restore, struct entry *entry);
