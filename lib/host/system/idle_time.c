/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See idle_time.h. */
#include "lib/host/system/idle_time.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <string.h>
#include <unistd.h>

int64_t idle_time_ns(const cpu_set_t *cpus, int root_fd, int *ret_n)
{
	_cleanup_(freep) char *text = NULL;
	int64_t ticks = 0;

	*ret_n = 0;
	if (text_read_file(root_fd, "/proc/stat", &text) < 0)
		return -1;
	for (const char *line = text; *line; line = strchrnul(line, '\n'), line += *line == '\n') {
		long long idle, io_wait;
		int cpu;

		if (sscanf(line, "cpu%d %*d %*d %*d %lld %lld", &cpu, &idle, &io_wait) != 3 || cpu < 0 ||
			cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, cpus))
			continue;
		ticks += idle + io_wait;
		++*ret_n;
	}
	return *ret_n > 0 ? ticks * (NS_PER_S / sysconf(_SC_CLK_TCK)) : -1;
}
