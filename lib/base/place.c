/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the book lies: see place.h. */
#include "lib/base/place.h"

#include "lib/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int place_book(const char *option, char **ret, bool *ret_default, struct error *err)
{
	const char *chosen = option ?: getenv("EMP_DB"), *data = getenv("XDG_DATA_HOME"),
		   *home = getenv("HOME");
	char *path;

	if (chosen && !*chosen)
		return error_say(err, -EINVAL, "%s is empty: it must name the book, a file",
			option ? "--db" : "EMP_DB");
	if (chosen)
		path = strdup(chosen);
	else if (geteuid() == 0)
		path = strdup("/var/lib/emp/emp.db");
	else if (data && data[0] == '/')
		path = text_format("%s/emp/emp.db", data);
	else if (home && home[0] == '/')
		path = text_format("%s/.local/share/emp/emp.db", home);
	else
		return error_say(err, -ENOENT, "HOME is not set: name the book with --db FILE");
	if (!path)
		return error_os(err, -ENOMEM, "cannot find the book");
	if (ret_default)
		*ret_default = !chosen;
	*ret = path;
	return 0;
}

int place_inc_constant(const char *book, char **ret, struct error *err)
{
	char *path = text_format("%s.inc", book);

	if (!path)
		return error_os(err, -ENOMEM, "cannot find the constant of inc");
	*ret = path;
	return 0;
}
