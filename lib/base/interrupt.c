/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals as a descriptor, and files whose waits they end: see interrupt.h. */
#include "lib/base/interrupt.h"

#include "lib/base/base.h"

#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/signalfd.h>

int interrupt_fd = -1;
static atomic_int first; /* threads wait for helpers, too */

void interrupt_note(int signal)
{
	int none = 0;

	atomic_compare_exchange_strong(&first, &none, signal);
}

int interrupt_noted(void)
{
	return first;
}

int interrupt_pending(void)
{
	struct signalfd_siginfo info;

	if (!first && interrupt_fd >= 0 && read(interrupt_fd, &info, sizeof(info)) == sizeof(info))
		interrupt_note((int)info.ssi_signo);
	return first;
}

/* Until the descriptor is ready, or for so long (ms; -1: for ever). -1 with errno; EINTR: a signal
 * came, or has come before. */
static int wait_ready(int fd, short events, int ms)
{
	struct pollfd fds[] = {
		{.fd = fd, .events = events}, {.fd = interrupt_fd, .events = POLLIN}};

	do {
		if (interrupt_pending() && (fd < 0 || poll(fds, 1, 0) == 0)) {
			errno = EINTR;
			return -1;
		}
		if (poll(fds, ELEMENTS(fds), ms) < 0 && errno != EINTR)
			return -1;
	} while (fd >= 0 && !fds[0].revents);
	return 0;
}

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

int interrupt_open(int directory_fd, const char *path, int flags, mode_t mode)
{
	enum { RETRY_MS = 20 };
	const bool reads = (flags & O_ACCMODE) == O_RDONLY;
	struct stat st;
	int fd;

	/* without O_NONBLOCK, open would wait for the other end */
	while ((fd = openat(directory_fd, path, flags | O_NONBLOCK | O_CLOEXEC, mode)) < 0) {
		/* ENXIO: nobody reads the pipe yet */
		bool pipe = errno == ENXIO && fstatat(directory_fd, path, &st, 0) == 0 &&
			    S_ISFIFO(st.st_mode);

		if (!pipe || wait_ready(-1, 0, RETRY_MS) < 0)
			return -1;
	}
	if ((reads && is_pipe(fd) && wait_ready(fd, POLLIN, -1) < 0) ||
		fcntl(fd, F_SETFL, flags) < 0) {
		int held = errno;

		close(fd);
		errno = held;
		return -1;
	}
	return fd;
}

ssize_t interrupt_read(int fd, void *buffer, size_t size)
{
	return is_pipe(fd) && wait_ready(fd, POLLIN, -1) < 0 ? -1 : read(fd, buffer, size);
}

/* Streams. The descriptor is in the pointer. */

static ssize_t stream_read(void *data, char *buffer, size_t size)
{
	return interrupt_read((int)(intptr_t)data, buffer, size);
}

static ssize_t stream_write(void *data, const char *buffer, size_t size)
{
	int fd = (int)(intptr_t)data;
	size_t done = 0;

	/* a pipe that can be written to takes PIPE_BUF bytes at once */
	while (done < size) {
		size_t more = size - done < PIPE_BUF ? size - done : PIPE_BUF;
		ssize_t n = wait_ready(fd, POLLOUT, -1) < 0 ? -1 : write(fd, buffer + done, more);

		if (n < 0)
			return 0; /* as fopencookie(3) wants it */
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int stream_close(void *data)
{
	return close((int)(intptr_t)data);
}

FILE *interrupt_fdopen(int fd, const char *mode)
{
	if (!is_pipe(fd))
		return fdopen(fd, mode);
	return fopencookie((void *)(intptr_t)fd, mode,
		(cookie_io_functions_t){
			.read = stream_read, .write = stream_write, .close = stream_close});
}
