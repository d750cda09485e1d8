/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helper programs, as opposed to programs under test (program.h): hooks, other tools of the suite, programs of the
 * system that answer a question, gnuplot. Processes that a helper leaves running are not waited for.
 * Capabilities of an executable's file (privilege.h) do not pass on to them. */
#pragma once

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct subprocess {
	char *const *argv;                  /* ends with NULL */
	const char *path;                   /* the file; NULL: argv[0], looked up in PATH */
	char *const *environment;           /* NULL: the user's */
	int stdin_fd, stdout_fd, stderr_fd; /* 0: as ours; -1: /dev/null */
	size_t output_max;                  /* how much standard output may be, where it is asked for */
	int timeout_ms;                     /* 0: none */
	bool forward_signals; /* HUP, INT and TERM that other processes send to this one go to it: see interrupt_init */
};

/* Runs it to its end. ret_output NULL: its standard output is not captured; else the caller frees it. A status as
 * wait(2) gives it. -ENOENT, -EACCES and others: it cannot be started; -EMSGSIZE: it wrote more than output_max;
 * -ETIMEDOUT: it ran longer than timeout_ms. It was killed in the last two cases. */
int subprocess_run(
	const struct subprocess *subprocess, char **ret_output, int *ret_wait_status, struct error *err);

/* Asks a program of the system, looked up in the system's own directories: no shell, no PATH of the caller's, no
 * input, no standard error, 1 MiB of output at most. *ret_status is an exit status as a shell gives it. -ENOENT: it
 * is not installed. The caller frees the output. */
int subprocess_ask(
	const char *const *argv, int timeout_ms, char **ret_output, int *ret_status, struct error *err);
