/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A daemon that disturbs: takes BUSY milliseconds of CPU time every PERIOD milliseconds, on the CPU
 * that it was started on (taskset). Ends with its parent.
 *
 *   noisy BUSY PERIOD */
#include "lib/base/number.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int64_t busy_ns, period_ns;

	if (argc != 3)
		return 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	busy_ns = atoll(argv[1]) * NS_PER_MS;
	period_ns = atoll(argv[2]) * NS_PER_MS;
	for (;;) {
		int64_t next_ns = clock_ns(CLOCK_MONOTONIC) + period_ns;
		int64_t until_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + busy_ns, left_ns;

		while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until_ns)
			;
		left_ns = next_ns - clock_ns(CLOCK_MONOTONIC);
		if (left_ns > 0)
			usleep((useconds_t)(left_ns / NS_PER_US));
	}
}
