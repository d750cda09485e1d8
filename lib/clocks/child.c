/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child process to observe: see child.h. */
#include "lib/clocks/child.h"

#include "lib/host/process/pinning.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { PAGE = 4096 };

int child_start(struct child *ret, int cpu, void (*run)(void *page, const void *data), const void *data,
	struct error *err)
{
	struct child child = {.page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
	pid_t parent = getpid();

	if (child.page == MAP_FAILED)
		return error_os(err, -errno, "cannot map a page");
	child.pid = fork();
	if (child.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent && pinning_pin(cpu) == 0)
			run(child.page, data);
		_exit(0);
	}
	if (child.pid < 0) {
		int r = -errno;

		munmap(child.page, PAGE);
		return error_os(err, r, "cannot start a process");
	}
	*ret = child;
	return 0;
}

int child_check(const struct child *child, struct error *err)
{
	siginfo_t ended = {};

	if (waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0)
		return 0;
	return error_say(err, -ECHILD, "the process that is measured has ended");
}

void child_end(struct child *child)
{
	if (child->pid <= 0)
		return;
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	munmap(child->page, PAGE);
	*child = (struct child){};
}
