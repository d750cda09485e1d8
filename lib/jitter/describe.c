/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only the running system knows of a thread: see describe.h. */
#include "lib/jitter/describe.h"

#include "lib/base/text.h"

#include <fcntl.h>
#include <string.h>

enum { PF_KTHREAD = 0x00200000 };

void jitter_describe_thread(
	struct identity *identity, pid_t pid, const char *name, bool *ret_kernel, const char **ret_unit)
{
	_cleanup_(freep) char *stat = NULL;
	const char *after_name;
	unsigned int flags;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (text_read_file(AT_FDCWD, path, &stat) < 0)
		return;
	after_name = strrchr(stat, ')');
	if (!after_name || sscanf(after_name, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		return;
	*ret_kernel = flags & PF_KTHREAD;
	if (!*ret_kernel)
		*ret_unit = identity_of(identity, pid, 0, name).unit;
}
