/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How soon idle CPUs should wake up: see idle.h. The only file that includes libcpupower's idle states. */
#include "lib/host/cpu/idle.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <cpuidle.h>
#include <fcntl.h>
#include <string.h>

/* The latency of the first state of CPU 0 that is not polling; 0: it has none. Names tell them apart: on some machines
 * state 0 is not POLL. */
static int32_t first_halting_us(void)
{
	unsigned int n = cpuidle_state_count(0);

	for (unsigned int state = 0; state < n; state++) {
		_cleanup_(freep) char *name = cpuidle_state_name(0, state);

		if (name && strcmp(name, "POLL") != 0)
			return (int32_t)cpuidle_state_latency(0, state);
	}
	return 0;
}

int32_t idle_latency_us(void)
{
	int64_t smt;

	if (text_read_int(AT_FDCWD, "/sys/devices/system/cpu/smt/active", &smt) < 0 || smt == 0)
		return 0;
	return first_halting_us();
}
