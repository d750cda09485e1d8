/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Desktop sessions: see sessions.h. */
#include "lib/host/systemd/sessions.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/text.h"
#include "lib/host/systemd/units.h"

#include <pwd.h>
#include <string.h>
#include <systemd/sd-login.h>

static bool is_desktop(const char *session)
{
	_cleanup_(freep) char *type = NULL, *state = NULL;

	return sd_session_get_type(session, &type) >= 0 && sd_session_get_state(session, &state) >= 0 &&
	       (!strcmp(type, "x11") || !strcmp(type, "wayland") || !strcmp(type, "mir")) &&
	       strcmp(state, "closing") != 0;
}

/* The name of its user, or else the number; the caller frees it. NULL: it is over. */
static char *user_of(const char *session)
{
	const struct passwd *user;
	uid_t uid;

	if (sd_session_get_uid(session, &uid) < 0)
		return NULL;
	user = getpwuid(uid);
	return user ? xstrdup(user->pw_name) : text_format("%u", uid);
}

int sessions_desktops(char ***ret, struct error *err)
{
	_cleanup_(strings_freep) char **sessions = NULL, **users = NULL;
	size_t n = 0;

	if (sd_get_sessions(&sessions) < 0)
		sessions = NULL;
	for (char **session = sessions; session && *session; session++) {
		char *user = is_desktop(*session) ? user_of(*session) : NULL, **added;

		if (!user)
			continue;
		added = array_add(users, n);
		if (!added) {
			free(user);
			return error_oom(err);
		}
		*added = user;
	}
	if (!array_add(users, n)) /* the NULL at the end */
		return error_oom(err);
	*ret = TAKE(users);
	return 0;
}
