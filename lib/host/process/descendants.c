/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our own children: see descendants.h. */
#include "lib/host/process/descendants.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

/* Calls kill(pid, signal) for each child that has not ended; signal 0 only counts. */
static int each_child(int signal, int *ret_refused)
{
	_cleanup_(freep) char *children = NULL;
	char path[64];
	char *at, *end;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	if (text_read_file(AT_FDCWD, path, &children) < 0)
		return 0;
	for (at = children;; at = end) {
		pid_t pid = (pid_t)strtol(at, &end, 10);

		if (end == at)
			return n;
		n++;
		if (kill(pid, signal) < 0 && errno == EPERM)
			(*ret_refused)++;
	}
}

int descendants_count(void)
{
	int refused = 0;

	return each_child(0, &refused);
}

int descendants_kill(struct error *err)
{
	int refused = 0, n = each_child(SIGKILL, &refused);

	if (n > 0 && refused == n)
		return error_say(err, -EPERM,
			"%d processes that the program left behind may not be ended by this user", n);
	return 0;
}
