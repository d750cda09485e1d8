/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tools tell systemd: see service.h. The only file that includes sd-journal. */
#include "lib/host/systemd/service.h"

#include <stdarg.h>
#include <stdio.h>
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <syslog.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

/* Random numbers (systemd-id128 new); they never change their meaning. */
static const char *const ACTION_IDS[] = {
	[ACTION_APPLY] = "39ed5289e048415bb66b259795e4518c",
	[ACTION_SET] = "38f6dd4d69e74c799304614ad703b7be",
	[ACTION_STOP] = "4528b6ce556b49c689e08c08e20da7cb",
	[ACTION_RESTORE] = "99736b756bc44bd3885547c49894405e",
	[ACTION_RESTORE_ONE] = "8272fd7e5bda4e76916de1683a63bcb9",
};

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

void action_log(enum action action, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sd_journal_send(
		"MESSAGE=%s", text, "MESSAGE_ID=%s", ACTION_IDS[action], "PRIORITY=%i", LOG_INFO, NULL);
}
