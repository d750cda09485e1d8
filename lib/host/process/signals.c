/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INT, TERM, HUP and CONT as something to poll: see signals.h. */
#include "lib/host/process/signals.h"

#include <sys/signalfd.h>

int interrupt_child_fd = -1, interrupt_continued_fd = -1;
static sigset_t old_mask;

/* Blocks one signal and makes a descriptor for it; -errno. */
static int signal_fd_for(int signal)
{
	sigset_t mask;
	int fd;

	sigemptyset(&mask);
	sigaddset(&mask, signal);
	if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

bool interrupt_drain(int fd)
{
	struct signalfd_siginfo info;
	bool any = false;

	while (fd >= 0 && read(fd, &info, sizeof(info)) == sizeof(info))
		any = true;
	return any;
}

int interrupt_init(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction held;
	sigset_t mask, blocked;

	if (interrupt_fd >= 0)
		return 0;
	sigemptyset(&mask);
	/* not those that are ignored: a signal that is blocked would come all the same */
	for (size_t i = 0; i < ELEMENTS(signals); i++)
		if (sigaction(signals[i], NULL, &held) == 0 && held.sa_handler != SIG_IGN)
			sigaddset(&mask, signals[i]);

	blocked = mask;
	sigaddset(&blocked, SIGPIPE); /* writing fails instead, so that nothing is left behind */
	sigaddset(&blocked, SIGXFSZ);
	if (sigprocmask(SIG_BLOCK, &blocked, &old_mask) < 0)
		return -errno;

	interrupt_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (interrupt_fd < 0)
		return -errno;
	interrupt_child_fd = signal_fd_for(SIGCHLD);
	interrupt_continued_fd = signal_fd_for(SIGCONT);
	if (interrupt_child_fd < 0)
		return interrupt_child_fd;
	return interrupt_continued_fd < 0 ? interrupt_continued_fd : 0;
}

const sigset_t *interrupt_old_mask(void)
{
	if (interrupt_fd < 0)
		sigprocmask(SIG_SETMASK, NULL, &old_mask);
	return &old_mask;
}

void interrupt_block_others(void)
{
	static const int others[] = {
		SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR};
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < ELEMENTS(others); i++)
		sigaddset(&mask, others[i]);
	sigprocmask(SIG_BLOCK, &mask, NULL);
}
