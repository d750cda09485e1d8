/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child that holds something until it is killed. */
#pragma once

#include "tests/unit/check.h"

#include <signal.h>
#include <sys/wait.h>

/* The child takes it, and then waits. Returns once it has it. */
static inline pid_t holder_start(bool (*take)(const void *what), const void *what)
{
	int pipes[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		if (take(what) && write(pipes[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &c, 1), 1);
	close(pipes[0]);
	return pid;
}

static inline void holder_kill(pid_t pid)
{
	assert_true(pid > 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
