/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs what was changed on this machine to the system's journal. Each kind of action has a message id of its own
 * (journalctl MESSAGE_ID=…). */
#pragma once

enum action { ACTION_APPLY, ACTION_SET, ACTION_STOP, ACTION_RESTORE, ACTION_RESTORE_ONE };

/* Does nothing where no journal runs. */
void action_log(enum action action, const char *format, ...) __attribute__((format(printf, 2, 3)));
