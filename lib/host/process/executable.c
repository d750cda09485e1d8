/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the file of a command: see executable.h. */
#include "lib/host/process/executable.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

int executable_find(const char *name, char **ret, struct error *err)
{
	const char *path = getenv("PATH") ?: "/usr/local/bin:/usr/bin:/bin";
	int r = -ENOENT, found = -ENOENT;

	if (strchr(name, '/')) {
		r = check_executable(name);
		if (r < 0)
			return error_os(err, r, "cannot execute '%s'", name);
		*ret = xstrdup(name);
		return *ret ? 0 : error_os(err, -ENOMEM, "cannot execute '%s'", name);
	}
	while (*name) {
		size_t len = strcspn(path, ":");
		char *file = text_format("%.*s%s%s", (int)len, path, len ? "/" : "", name);

		if (!file)
			return error_os(err, -ENOMEM, "cannot execute '%s'", name);
		r = check_executable(file);
		if (r == 0) {
			*ret = file;
			return 0;
		}
		free(file);
		if (r == -EACCES)
			found = r;
		if (!path[len])
			break;
		path += len + 1;
	}
	if (found == -EACCES)
		return error_say(err, -EACCES, "command '%s' is in PATH, but is not executable", name);
	return error_say(err, -ENOENT, "command '%s' not found in PATH", name);
}
