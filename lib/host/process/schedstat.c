/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/schedstat: see schedstat.h. */
#include "lib/host/process/schedstat.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

bool schedstat_parse(const char *text, struct schedstat *ret)
{
	int64_t n_turns; /* 0: the kernel does not count, since whoever can be read has had a turn */
	struct schedstat s;

	if (sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64, &s.run_ns, &s.wait_ns, &n_turns) != 3)
		return false;
	if (s.run_ns < 0 || s.wait_ns < 0 || n_turns <= 0)
		return false;
	*ret = s;
	return true;
}

bool schedstat_read(pid_t pid, struct schedstat *ret)
{
	_cleanup_(freep) char *text = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	return text_read_file(AT_FDCWD, path, &text) == 0 && schedstat_parse(text, ret);
}
