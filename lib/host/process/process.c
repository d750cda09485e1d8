/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running programs: see process.h. */
#include "lib/host/process/process.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { KERNEL_THREAD = 0x00200000 }; /* PF_KTHREAD */

int process_parse(const char *stat, struct process *ret)
{
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')'); /* names may contain both */
	struct process p = {.pid = (pid_t)strtol(stat, NULL, 10)};
	unsigned long flags;

	if (!open || !close || close < open || p.pid <= 0)
		return -EINVAL;
	if (sscanf(close + 1, " %*c %*d %*d %*d %*d %*d %lu", &flags) != 1)
		return -EINVAL;
	if (flags & KERNEL_THREAD)
		return 0;
	snprintf(p.name, sizeof(p.name), "%.*s", (int)(close - open - 1), open + 1);
	*ret = p;
	return 1;
}

/* The start is the 20th word after the name, which may contain blanks and parentheses. */
bool process_parse_start(const char *stat, unsigned long long *ret)
{
	const char *at = strrchr(stat, ')');

	if (!at || strlen(at) < 3 || strchr("ZX", at[2]))
		return false;
	at += 2;
	for (int i = 1; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%llu", ret) == 1;
}

static int by_pid(const void *a, const void *b)
{
	return ((const struct process *)a)->pid - ((const struct process *)b)->pid;
}

int processes_read(struct process **ret, size_t *ret_n, int root_fd, struct error *err)
{
	_cleanup_(freep) struct process *found = NULL;
	_cleanup_(closedirp) DIR *directory = NULL;
	struct dirent *entry;
	size_t n = 0, capacity = 0;
	int fd = openat(root_fd, root_fd == AT_FDCWD ? "/proc" : "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	directory = fd < 0 ? NULL : fdopendir(fd);
	while (directory && (entry = readdir(directory))) {
		_cleanup_(freep) char *stat = NULL;
		char path[300];

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		if (text_read_file(root_fd, path, &stat) < 0)
			continue; /* it has ended meanwhile */
		if (n == capacity) {
			struct process *bigger = xreallocarray(
				found, capacity = capacity * 2 + 64, sizeof(*found));

			if (!bigger)
				return error_os(err, -ENOMEM, "cannot list the processes");
			found = bigger;
		}
		n += process_parse(stat, &found[n]) == 1;
	}
	if (n > 0)
		qsort(found, n, sizeof(*found), by_pid);
	*ret = TAKE(found);
	*ret_n = n;
	return 0;
}

const char *process_end_text(char buffer[PROCESS_END_SIZE], int wait_status)
{
	if (WIFSIGNALED(wait_status))
		snprintf(buffer, PROCESS_END_SIZE, "was killed by signal %d (SIG%s)", WTERMSIG(wait_status),
			sigabbrev_np(WTERMSIG(wait_status)) ?: "RTMIN+");
	else
		snprintf(buffer, PROCESS_END_SIZE, "ended with exit status %d", WEXITSTATUS(wait_status));
	return buffer;
}
