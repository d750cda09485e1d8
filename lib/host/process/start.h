/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process of a program under test, from clone to execve. For program.c, and for the slaves of a
 * load, which start commands and need no more. */
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
