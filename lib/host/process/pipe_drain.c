/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pipe whose other end discards everything: see pipe_drain.h. */
#include "lib/host/process/pipe_drain.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

static void *drain(void *data)
{
	int from = (int)(intptr_t)data, null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	while (null >= 0 && splice(from, NULL, null, NULL, 1 << 20, SPLICE_F_MOVE) > 0)
		;
	return NULL;
}

int pipe_drain_new(int *ret_fd, struct error *err)
{
	pthread_t thread;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_os(err, -errno, "cannot make a pipe for the output");
	r = pthread_create(&thread, NULL, drain, (void *)(intptr_t)fds[0]);
	if (r != 0)
		return error_os(err, -r, "cannot drain the output");
	pthread_detach(thread);
	*ret_fd = fds[1];
	return 0;
}
