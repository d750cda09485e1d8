/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What logind knows and does: see logind.h. */
#include "lib/host/systemd/logind.h"

#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/systemd/units.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-login.h>

enum { TIMEOUT_US = 5 * 1000 * 1000 };

char **sessions_desktops(void)
{
	_cleanup_(strings_freep) char **sessions = NULL;
	char **users = NULL;
	size_t n = 0;

	if (sd_get_sessions(&sessions) < 0)
		sessions = NULL;
	for (char **session = sessions; session && *session; session++) {
		_cleanup_(freep) char *type = NULL, *state = NULL;
		const struct passwd *user;
		uid_t uid;

		if (sd_session_get_type(*session, &type) < 0 || sd_session_get_state(*session, &state) < 0 ||
			(strcmp(type, "x11") != 0 && strcmp(type, "wayland") != 0 &&
				strcmp(type, "mir") != 0) ||
			!strcmp(state, "closing") || sd_session_get_uid(*session, &uid) < 0)
			continue;
		user = getpwuid(uid);
		*array_add(users, n) = user ? xstrdup(user->pw_name) : text_format("%u", uid);
	}
	array_add(users, n); /* the NULL at the end */
	return users;
}

int inhibit_sleep(const char *who, const char *why, struct error *err)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error cause = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int fd = -1, r;

	if (access("/run/systemd/seats/", F_OK) < 0)
		return error_say(err, -ENOTCONN, "logind does not run");
	r = sd_bus_open_system(&bus);
	if (r < 0)
		return error_os(err, r, "logind cannot be reached");
	sd_bus_set_method_call_timeout(bus, TIMEOUT_US);
	r = sd_bus_call_method(bus, "org.freedesktop.login1", "/org/freedesktop/login1",
		"org.freedesktop.login1.Manager", "Inhibit", &cause, &reply, "ssss",
		"shutdown:sleep:idle:handle-lid-switch", who, why, "block");
	if (r < 0)
		return error_say(err, r, "logind refuses: %s", cause.message ?: strerror(-r));
	r = sd_bus_message_read(reply, "h", &fd);
	if (r < 0)
		return error_os(err, r, "logind's answer cannot be read");
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* the reply closes its own */
	return fd >= 0 ? fd : error_os(err, -errno, "logind's answer cannot be kept");
}
