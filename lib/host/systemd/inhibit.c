/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holds off sleep and shutdown: see inhibit.h. */
#include "lib/host/systemd/inhibit.h"

#include "lib/base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <systemd/sd-bus.h>

enum { TIMEOUT_US = 5 * 1000 * 1000 };

int inhibit_sleep(const char *who, const char *why, struct error *err)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error said = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int fd = -1, r;

	if (access("/run/systemd/seats/", F_OK) < 0)
		return error_say(err, -ENOTCONN, "logind does not run");
	r = sd_bus_open_system(&bus);
	if (r < 0)
		return error_os(err, r, "logind cannot be reached");
	sd_bus_set_method_call_timeout(bus, TIMEOUT_US);
	r = sd_bus_call_method(bus, "org.freedesktop.login1", "/org/freedesktop/login1",
		"org.freedesktop.login1.Manager", "Inhibit", &said, &reply, "ssss",
		"shutdown:sleep:idle:handle-lid-switch", who, why, "block");
	if (r < 0)
		return error_say(err, r, "logind refuses: %s", said.message ?: strerror(-r));
	r = sd_bus_message_read(reply, "h", &fd);
	if (r < 0)
		return error_os(err, r, "logind's answer cannot be read");
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* the reply closes its own */
	return fd >= 0 ? fd : error_os(err, -errno, "logind's answer cannot be kept");
}
