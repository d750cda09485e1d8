/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the service manager is told (sd_notify): nothing where there is none. "systemctl status" shows it. */
#pragma once

/* The work has begun: what takes time before it is done. */
void notify_ready(void);
void notify_stopping(void);
void notify_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
