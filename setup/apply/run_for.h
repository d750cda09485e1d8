/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command of apply --for, and the restore after it, which nothing but a kill -9 prevents. */
#pragma once

#include "lib/base/error.h"
#include "lib/host/systemd/units.h"

#include <stddef.h>

/* Finds the file of a command; the caller frees it. Positive with a sentence: it cannot be executed, and this is the
 * status that a shell would give (127: it does not exist, 126). */
int run_for_find(const char *name, char **ret_path, struct error *err);

/* Runs it, then restores all entries but the `first` ones. Meanwhile CPUs stay out of deep idle states, where the
 * kernel allows to ask for that. The caller holds no lock: the command may audit, or apply more. The exit status of
 * the command, or of the restore if that is not STATUS_DONE. */
int run_for(char *const *argv, const char *path, size_t first, struct error *err);

/* Shows on standard error which unit apply or restore waits for, and for how long: on a terminal one line that counts,
 * elsewhere a line now and then. */

struct waiting {
	bool interruptible; /* INT, TERM and HUP end the wait with -EINTR, see signals.h */
	bool drawn;
	int64_t next_ns; /* when the next line is due */
};

/* For units_set_waiting; data is a struct waiting. */
units_waiting waiting_step;

/* Clears the line, so that the next one takes its place. */
void waiting_end(struct waiting *waiting);
