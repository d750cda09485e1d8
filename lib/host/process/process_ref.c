/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process as a text that can be stored: see process_ref.h. */
#include "lib/host/process/process_ref.h"

#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/host/process/process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

uint64_t process_ref_start_ticks(pid_t pid)
{
	_cleanup_(freep) char *stat = NULL;
	unsigned long long ticks;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return text_read_file(AT_FDCWD, path, &stat) == 0 && process_parse_start(stat, &ticks) ? ticks : 0;
}

int64_t process_ref_started_ns(pid_t pid)
{
	uint64_t ticks = process_ref_start_ticks(pid);

	if (!ticks)
		return 0;
	return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
	       (int64_t)ticks * (NS_PER_S / sysconf(_SC_CLK_TCK));
}

/* "" where there is no such process. */
static void describe(pid_t pid, char buffer[PROCESS_REF_SIZE])
{
	_cleanup_(freep) char *boot = NULL;
	uint64_t started = process_ref_start_ticks(pid);

	*buffer = '\0';
	if (text_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &boot) == 0 && started)
		snprintf(buffer, PROCESS_REF_SIZE, "%.36s %d %" PRIu64, boot, pid, started);
}

char *process_ref_self(char buffer[PROCESS_REF_SIZE])
{
	describe(getpid(), buffer);
	return buffer;
}

pid_t process_ref_pid(const char *ref)
{
	char now[PROCESS_REF_SIZE];
	int pid;

	if (!ref || sscanf(ref, "%*36s %d", &pid) != 1 || pid <= 0)
		return 0;
	describe(pid, now);
	return !strcmp(now, ref) ? pid : 0;
}
