/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The patterns of this machine: see names_load.h. */
#include "lib/report/names_load.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *names_path(void)
{
	return getenv("EMP_NAMES") ?: "/etc/emp/policies/names.ini";
}

int names_text(char **ret, struct error *err)
{
	int r = text_read_file(AT_FDCWD, names_path(), ret);

	if (r == -ENOENT && !getenv("EMP_NAMES"))
		return (*ret = xstrdup("")) ? 0 : error_oom(err);
	return r < 0 ? error_os(err, r, "cannot read the names of processes in '%s'", names_path()) : 0;
}

int names_load(struct names *ret, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	int r = names_text(&text, err);

	return r < 0 ? r : names_parse(ret, text, names_path(), err);
}

int names_load_of(const struct run *run, struct names *ret, struct error *err)
{
	char where[64];

	if (!run->name_patterns)
		return names_load(ret, err);
	snprintf(where, sizeof(where), "the patterns of names of run %" PRId64, run->id);
	return names_parse(ret, run->name_patterns, where, err);
}
