/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of emp-setup's verbs: see options.h. */
#include "setup/options.h"

struct options options = {.isolate = -1, .cpu = -1, .within_ns = 86400 * NS_PER_S};

int options_root_open(int *ret, struct error *err)
{
	int fd = options.root ? open(options.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;

	if (fd < 0 && options.root)
		return error_os(err, -errno, "cannot open %s", options.root);
	*ret = fd;
	return 0;
}
