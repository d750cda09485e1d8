/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line on standard error that names the unit which apply or restore waits for. */
#pragma once

#include "lib/host/systemd/units.h"

/* From now on, standard error shows which unit apply or restore waits for, and for how long: on a
 * terminal one line that counts, elsewhere a line now and then. on_interrupt: INT, TERM and HUP end
 * the wait with -EINTR, see signals.h, and what that does ("undoes all"); NULL: they do not. */
void waiting_begin(struct units *units, const char *on_interrupt);
/* Clears the line, so that the next one takes its place. */
void waiting_end(void);
