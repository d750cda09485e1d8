/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INT, TERM and HUP as something to poll: see interrupt.h. */
#include "lib/host/interrupt.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int signal_fd = -1, child_fd = -1;
static int first;
static sigset_t old_mask;

int interrupt_init(void)
{
	struct sigaction held;
	sigset_t mask, child;

	if (signal_fd >= 0)
		return 0;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	if (sigaction(SIGHUP, NULL, &held) == 0 && held.sa_handler != SIG_IGN)
		sigaddset(&mask,
			SIGHUP); /* else nohup started us: blocked signals come although they are ignored */
	if (sigprocmask(SIG_BLOCK, &mask, &old_mask) < 0)
		return -errno;
	if (sigprocmask(SIG_BLOCK, &child, NULL) < 0)
		return -errno;
	signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	child_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	return signal_fd < 0 || child_fd < 0 ? -errno : 0;
}

int interrupt_fd(void)
{
	return signal_fd;
}

int interrupt_child_fd(void)
{
	return child_fd;
}

void interrupt_child_clear(void)
{
	struct signalfd_siginfo info;

	while (child_fd >= 0 && read(child_fd, &info, sizeof(info)) == sizeof(info))
		;
}

const sigset_t *interrupt_old_mask(void)
{
	if (signal_fd < 0)
		sigprocmask(SIG_SETMASK, NULL, &old_mask);
	return &old_mask;
}

int interrupt_came(void)
{
	struct signalfd_siginfo info;

	if (!first && signal_fd >= 0 && read(signal_fd, &info, sizeof(info)) == sizeof(info))
		first = (int)info.ssi_signo;
	return first;
}
