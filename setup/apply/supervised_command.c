/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command of "apply --for": see supervised_command.h. */
#include "setup/apply/supervised_command.h"

#include "lib/base/cleanup.h"
#include "lib/host/process/process.h"
#include "lib/host/process/subprocess.h"

#include <fcntl.h>

/* A request that no CPU takes longer than 0 us to wake up; it ends when the file is closed. */
static int hold_latency(void)
{
	_cleanup_(closep) int fd = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
	int32_t none = 0;

	return fd >= 0 && write(fd, &none, sizeof(none)) == sizeof(none) ? TAKE_FD(fd) : -1;
}

int supervised_command_run(char *const *argv, int *ret_status, struct error *err)
{
	_cleanup_(closep) int latency = hold_latency();
	const struct subprocess command = {.argv = argv, .forward_signals = true};
	int status, r = subprocess_run(&command, NULL, &status, err);

	if (r == 0)
		*ret_status = process_exit_status(status);
	return r;
}
