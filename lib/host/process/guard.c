/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See guard.h. It reads from a socket whose other end this process has: at its end, this process has ended. */
#include "lib/host/process/guard.h"

#include "lib/base/xalloc.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct guard {
	int socket;
};

static void wait_for_end(int socket)
{
	char byte;

	while (read(socket, &byte, 1) < 0 && errno == EINTR)
		;
}

/* Signals of the terminal and of a process group do not reach it. Of the descriptors it keeps only these two: locks and
 * pipes of this process end with it. */
static _Noreturn void run_guard(int socket, int fd, guard_act *act, const void *data)
{
	int kept[2] = {dup(socket), dup(fd)}; /* the two may be 0 and 1 in the other order */
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "emp-guard");
	if (kept[0] < 0 || kept[1] < 0 || dup2(kept[0], 0) < 0 || dup2(kept[1], 1) < 0)
		_exit(1);
	syscall(SYS_close_range, 2, ~0U, 0);
	wait_for_end(0);
	act(1, data);
	_exit(0);
}

/* Its parent ends at once: a child of this process would be taken for one of a program under test. */
int guard_new(struct guard **ret, guard_act *act, int fd, const void *data, struct error *err)
{
	_cleanup_(freep) struct guard *g = xmalloc(sizeof(*g));
	int sockets[2], status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_os(err, -errno, "cannot make a socket");
	pid = fork();
	if (pid == 0) {
		pid = fork();
		if (pid == 0)
			run_guard(sockets[1], fd, act, data);
		_exit(pid < 0);
	}
	close(sockets[1]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		close(sockets[0]);
		return error_os(err, -EAGAIN, "cannot start a process that cleans up if this one is killed");
	}
	g->socket = sockets[0];
	*ret = TAKE(g);
	return 0;
}

void guard_free(struct guard *g)
{
	if (!g)
		return;
	shutdown(g->socket, SHUT_WR);
	wait_for_end(g->socket);
	close(g->socket);
	free(g);
}
