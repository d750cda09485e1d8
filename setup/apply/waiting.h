/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows on standard error which unit apply or restore waits for, and for how long: on a terminal one line that counts,
 * elsewhere a line now and then. */
#pragma once

#include "lib/host/systemd/units.h"

struct waiting {
	bool interruptible; /* INT, TERM and HUP end the wait with -EINTR, see signals.h */
	bool drawn;
	int64_t next_ns; /* when the next line is due */
};

/* For units_set_waiting; data is a struct waiting. */
units_waiting waiting_step;

/* Clears the line, so that the next one takes its place. */
void waiting_end(struct waiting *waiting);
