/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The patterns of this machine: see names_load.h. */
#include "lib/report/names_load.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>

int names_load(struct names *ret, struct error *err)
{
	const char *named = getenv("EMP_NAMES"), *path = named ?: "/etc/emp/policies/names.ini";
	_cleanup_(freep) char *text = NULL;
	int r = text_read_file(AT_FDCWD, path, &text);

	if (r == -ENOENT && !named)
		return names_parse(ret, "", path, err);
	if (r < 0)
		return error_os(err, r, "cannot read the names of processes in '%s'", path);
	return names_parse(ret, text, path, err);
}
