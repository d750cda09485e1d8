/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The connection to emp-clock.service: the slots that it shows to this process. Without a
 * connection there are none. */
#pragma once

#include "lib/clock/slots.h"

#include <stdbool.h>
#include <sys/types.h>

/* NULL: there is none. */
const struct slot *slots_at(unsigned int cpu);

/* A thread that runs now, and its CPU time by the service. */
struct running_thread {
	pid_t tid, pid;
	uint64_t ns;
};

/* What is running on this CPU; false: no thread of the user. */
bool slots_read(unsigned int cpu, struct running_thread *ret);
