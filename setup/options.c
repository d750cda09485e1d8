/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of emp-setup's verbs: see options.h. */
#include "setup/options.h"

struct options options = {
	.isolate = -1, .cpu = -1, .within_ns = 86400 * NS_PER_S, .root_fd = AT_FDCWD};

int option_root(const char *value, const char *name, void *into, struct error *err)
{
	int *fd = into;

	*fd = open(value, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *fd < 0 ? error_os(err, -errno, "cannot open %s", value) : 0;
}
