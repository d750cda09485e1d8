/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs what was changed: see action_log.h. The only file that includes sd-journal. */
#include "lib/host/systemd/action_log.h"

#include <stdarg.h>
#include <stdio.h>
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <syslog.h>
#include <systemd/sd-journal.h>

/* Random numbers (systemd-id128 new); they never change their meaning. */
static const char *const IDS[] = {
	[ACTION_APPLY] = "39ed5289e048415bb66b259795e4518c",
	[ACTION_SET] = "38f6dd4d69e74c799304614ad703b7be",
	[ACTION_STOP] = "4528b6ce556b49c689e08c08e20da7cb",
	[ACTION_RESTORE] = "99736b756bc44bd3885547c49894405e",
	[ACTION_RESTORE_ONE] = "8272fd7e5bda4e76916de1683a63bcb9",
};

void action_log(enum action action, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	sd_journal_send("MESSAGE=%s", text, "MESSAGE_ID=%s", IDS[action], "PRIORITY=%i", LOG_INFO, NULL);
}
