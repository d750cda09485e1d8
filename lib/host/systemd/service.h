/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tools tell systemd: their status as services (sd_notify), which "systemctl status" shows; and what they have changed on
 * this machine, for the system's journal. Failures are ignored. */
#pragma once

/* Startup is complete, and the work begins. */
void notify_ready(void);
void notify_stopping(void);
void notify_status(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Each kind of action has a message id of its own (journalctl MESSAGE_ID=…). */
enum action { ACTION_APPLY, ACTION_SET, ACTION_STOP, ACTION_RESTORE, ACTION_RESTORE_ONE };

/* Does nothing where no journal runs. */
void action_log(enum action action, const char *format, ...) __attribute__((format(printf, 2, 3)));
