/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scheduler tells of one thread in /proc/PID/schedstat, without privileges. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SCHEDSTAT_SIZE = 64 };

struct schedstat {
	int64_t run_ns;  /* up to the thread's last context switch, or a tick ago */
	int64_t wait_ns; /* ready to run and not running, so far */
};

/* False: not known, because the kernel does not count it (without CONFIG_SCHED_INFO) or the text is another. */
bool schedstat_parse(const char *text, struct schedstat *ret);

/* Of the first thread of a process, which may be a zombie. */
bool schedstat_read(pid_t pid, struct schedstat *ret);
