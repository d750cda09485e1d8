/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The path of the book: see paths.h. */
#include "lib/base/paths.h"

#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int paths_default_book(char **ret, struct error *err)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	char *path;

	if (geteuid() == 0)
		path = strdup("/var/lib/emp/emp.db");
	else if (data && data[0] == '/')
		path = text_format("%s/emp/emp.db", data);
	else if (home && home[0] == '/')
		path = text_format("%s/.local/share/emp/emp.db", home);
	else
		return error_say(err, -ENOENT,
			"HOME is not set to your home directory; name the lab book with --db or EMP_DB");
	if (!path)
		return error_oom(err);
	*ret = path;
	return 0;
}

int paths_book(const char *option, char **ret, struct error *err)
{
	const char *named = option && *option ? option : getenv("EMP_DB");
	if (!named || !*named)
		return paths_default_book(ret, err);
	*ret = strdup(named);
	return *ret ? 0 : error_oom(err);
}

int paths_inc_constant(const char *book, char **ret, struct error *err)
{
	*ret = text_format("%s.inc", book);
	return *ret ? 0 : error_oom(err);
}
