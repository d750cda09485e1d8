/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Status messages for the service manager: see notify.h. Failures are ignored. */
#include "lib/host/systemd/notify.h"

#include <stdarg.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>

void notify_ready(void)
{
	sd_notify(0, "READY=1");
}

void notify_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}

void notify_status(const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sd_notifyf(0, "STATUS=%s", text);
}
