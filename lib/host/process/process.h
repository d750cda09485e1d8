/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running programs, by the kernel's names: enough to find known daemons without systemd. accounting.h has their
 * CPU time. */
#pragma once

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/wait.h>

struct process {
	pid_t pid;
	char name[16];
};

/* All processes below root_fd's /proc but kernel threads, in order of pid; the caller frees the array. */
int processes_read(struct process **ret, size_t *ret_n, int root_fd, struct error *err);

/* The exit status that a shell would give: 0 to 255, 128 + signal. */
static inline int process_exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

enum { PROCESS_END_SIZE = 48 };

/* "ended with exit status 3", "was killed by signal 11 (SIGSEGV)". Returns `buffer`. */
const char *process_end_text(char buffer[PROCESS_END_SIZE], int wait_status);

/* One line of /proc/PID/stat. 1: a process, 0: a kernel thread, -EINVAL: it is no such line. */
int process_parse(const char *stat, struct process *ret);

/* When it started, in ticks since the boot. False for a zombie. */
bool process_parse_start(const char *stat, unsigned long long *ret);
