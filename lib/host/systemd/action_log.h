/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was changed on this machine, told to the system's journal, so that whoever looks there later finds it.
 * Every kind of action has a message id of its own (journalctl MESSAGE_ID=…). */
#pragma once

enum action { ACTION_APPLY, ACTION_SET, ACTION_STOP, ACTION_RESTORE, ACTION_PUT_BACK };

/* Where no journal runs, nothing happens. */
void action_log(enum action action, const char *format, ...) __attribute__((format(printf, 2, 3)));
