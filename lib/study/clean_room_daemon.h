/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The planted daemon of the study clean-room: a process that takes a known share of a CPU. It
 * sleeps, and then computes for `busy_ns` of CPU time, again and again, with the priority that any
 * daemon has. How long it sleeps is drawn from half to one and a half times the mean that the share
 * needs, so that it does not keep time with the program. */
#pragma once

#include "lib/base/base.h"

#include <sys/types.h>

struct room_daemon {
	pid_t pid; /* 0: there is none */
	int64_t started_ns;
};

/* It ends with this process. */
int room_daemon_start(struct room_daemon *ret, int cpu, double share, int64_t busy_ns,
	uint64_t seed, struct error *err);

/* Ends it. The share of the time since its start that it took; NAN: there is none. */
double room_daemon_stop(struct room_daemon *daemon);
