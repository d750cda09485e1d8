/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See duet_guard.h. It reads from a pipe whose other end this process has: at its end, this process has ended. */
#include "lib/host/process/duet_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct duet_guard {
	pid_t pid;
	int alive_fd;
};

static void thaw_below(int parent_fd)
{
	_cleanup_(closedirp) DIR *dir = fdopendir(parent_fd);
	struct dirent *entry;
	char path[320];

	while (dir && (entry = readdir(dir))) {
		int fd;

		snprintf(path, sizeof(path), "%s/cgroup.freeze", entry->d_name);
		fd = strcmp(entry->d_name, "..") ? openat(dirfd(dir), path, O_WRONLY | O_CLOEXEC) : -1;
		if (fd < 0)
			continue;
		if (write(fd, "0", 1) == 1)
			close(fd);
	}
}

/* Signals of the terminal and of a process group do not reach it. Of the descriptors it keeps only these two: locks and
 * pipes of this process end with it. */
static _Noreturn void guard(int end_fd, int parent_fd)
{
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	dup2(end_fd, 0);
	dup2(parent_fd, 1);
	syscall(SYS_close_range, 2, ~0U, 0);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	thaw_below(1);
	_exit(0);
}

int duet_guard_new(struct duet_guard **ret, const struct cgroup *parent, struct error *err)
{
	_cleanup_(duet_guard_freep) struct duet_guard *g = calloc(1, sizeof(*g));
	_cleanup_(closep) int end_fd = -1;
	int fds[2];

	if (!g)
		return error_oom(err);
	*g = (struct duet_guard){-1, -1};
	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_os(err, -errno, "cannot make a pipe");
	end_fd = fds[0];
	g->alive_fd = fds[1];
	g->pid = fork();
	if (g->pid < 0)
		return error_os(err, -errno, "cannot start a process that thaws the programs");
	if (g->pid == 0)
		guard(end_fd, cgroup_fd(parent));
	*ret = TAKE(g);
	return 0;
}

void duet_guard_free(struct duet_guard *g)
{
	if (!g)
		return;
	closep(&g->alive_fd);
	if (g->pid > 0)
		waitpid(g->pid, NULL, 0);
	free(g);
}
