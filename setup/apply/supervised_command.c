/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command of "apply --for": see supervised_command.h. */
#include "setup/apply/supervised_command.h"

#include "lib/base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static sigset_t ours, callers;

void child_shield(void)
{
	sigemptyset(&ours);
	sigaddset(&ours, SIGHUP);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ours, &callers);
}

/* The promise that nobody needs to wait longer than 0 us for a CPU to wake up; it ends when the file is
 * closed. */
static int hold_latency(void)
{
	int fd = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
	int32_t none = 0;

	if (fd >= 0 && write(fd, &none, sizeof(none)) != sizeof(none)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int start(char *const *argv, pid_t *ret)
{
	posix_spawnattr_t attributes;
	int r;

	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &callers);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	r = -posix_spawnp(ret, argv[0], NULL, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	return r;
}

int child_run(char *const *argv, int *ret_status, struct error *err)
{
	_cleanup_(closep) int latency = hold_latency();
	pid_t pid;
	int status, r = start(argv, &pid);

	if (r < 0)
		return error_os(err, r, "cannot run %s", argv[0]);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		int signal = sigwaitinfo(&ours, NULL);

		if (signal == SIGHUP || signal == SIGTERM)
			kill(pid, signal);
	}
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}
