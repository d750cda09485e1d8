/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Status messages for the service manager (sd_notify), which "systemctl status" shows. */
#pragma once

/* Startup is complete, and the work begins. */
void notify_ready(void);
void notify_stopping(void);
void notify_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
