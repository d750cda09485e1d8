/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The attributes of the terminal: see tty.h. */
#include "lib/host/process/tty.h"

#include "lib/base/base.h"

#include <signal.h>
#include <termios.h>

static bool asked;
static int tty_fd = -1; /* -1: there is no terminal, or another job has it */
static struct termios kept;

void tty_keep(void)
{
	_cleanup_(closep) int fd = -1;

	if (asked)
		return;
	asked = true;
	fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && tcgetpgrp(fd) == getpgrp() && tcgetattr(fd, &kept) == 0)
		tty_fd = TAKE_FD(fd);
}

static bool is_changed(const struct termios *now)
{
	return now->c_iflag != kept.c_iflag || now->c_oflag != kept.c_oflag ||
	       now->c_cflag != kept.c_cflag || now->c_lflag != kept.c_lflag ||
	       memcmp(now->c_cc, kept.c_cc, sizeof(kept.c_cc)) != 0;
}

void tty_put_back(void)
{
	sigset_t stop, held;
	struct termios now;
	pid_t foreground;

	if (tty_fd < 0)
		return;
	foreground = tcgetpgrp(tty_fd);
	if (foreground != getpgrp() &&
		(foreground < 0 || kill(-foreground, 0) == 0 || errno != ESRCH))
		return;
	sigemptyset(&stop);
	sigaddset(&stop, SIGTTOU); /* as long as this process is in the background */
	sigprocmask(SIG_BLOCK, &stop, &held);
	if (foreground != getpgrp())
		tcsetpgrp(tty_fd, getpgrp());
	if (tcgetattr(tty_fd, &now) == 0 && is_changed(&now))
		tcsetattr(tty_fd, TCSANOW, &kept);
	sigprocmask(SIG_SETMASK, &held, NULL);
}
