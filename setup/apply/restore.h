/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restoring what a journal holds: for the verb restore, and for an apply that ends or fails. */
#pragma once

#include "setup/apply/journal.h"

/* The host's lock, which emp-calibrate takes too: settings do not change while samples are
 * taken. */
#define SETUP_LOCK "/run/emp-setup"

enum restore_scope {
	RESTORE_ALL,
	RESTORE_OWN,    /* what only this process of apply --for owns, or others that were killed */
	RESTORE_ABANDONED, /* what processes of apply --for owned that were killed */
	RESTORE_GAINED, /* what only this apply owns: it fails */
};

/* Restores entries of the journal, and shows the result; the caller holds the host's lock.
 * `applied`: for RESTORE_GAINED, the journal as it was saved last. A status of tool.h. */
int restore_locked(enum restore_scope scope, const struct journal *applied, struct error *err);
