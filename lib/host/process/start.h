/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process of a program under test, from clone to execve. For program.c, and for the workers of a load, which start
 * commands and need no more. */
#pragma once

#include "lib/host/process/program.h"

struct started {
	pid_t pid;
	int pidfd;                     /* the caller's to close */
	int64_t real_ns, monotonic_ns; /* CLOCK_REALTIME and CLOCK_MONOTONIC_RAW just before execve */
	int64_t wait_ns;               /* that it had waited for a CPU until then; -1: not known */
	int64_t used_ns;               /* CPU time of its process until then, which is this process's work */
};

/* The program has been executed when this returns. */
int start_program(const struct spawn *spawn, struct started *ret, struct error *err);

/* The time slice that the scheduler gives a process of the fair class before another's turn. A process may choose its own
 * since Linux 6.12, without privileges (sched_setattr(2)); what it starts inherits it. */

/* Of the calling process, 0.1 to 100 ms; 0: the kernel's own again. System calls only, so that a child that shares its
 * parent's memory may call it. -ENOTSUP: the kernel has one slice for all, or the process is not of the fair class. */
int slice_set(int64_t slice_ns);

/* Whether it has an effect here: tried, and undone. */
bool slice_can_be_set(void);

/* The scheduler checks slices once a tick, so that none is shorter. */
int64_t slice_tick_ns(void);

/* A pipe whose other end discards everything: for programs that do less when they see /dev/null. A thread moves the
 * pages to /dev/null without reading them. *ret_fd: the end to write to, open until this process ends. */
int pipe_drain_new(int *ret_fd, struct error *err);
