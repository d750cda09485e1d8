/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The planted daemon: see clean_room_daemon.h. */
#include "lib/study/clean_room_daemon.h"

#include "lib/host/process/pinning.h"

#include <math.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

static _Noreturn void room_daemon_main(double share, int64_t busy_ns, uint64_t seed)
{
	int64_t mean_ns = (int64_t)((double)busy_ns * (1 - share) / share);

	for (;;) {
		int64_t sleep_ns = (int64_t)((0.5 + random_unit(&seed)) * (double)mean_ns);
		struct timespec sleep = {sleep_ns / NS_PER_S, sleep_ns % NS_PER_S};
		int64_t until_ns;

		clock_nanosleep(CLOCK_MONOTONIC, 0, &sleep, NULL);
		until_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + busy_ns;
		while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until_ns)
			;
	}
}

int room_daemon_start(struct room_daemon *ret, int cpu, double share, int64_t busy_ns,
	uint64_t seed, struct error *err)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return error_os(err, -errno, "cannot start the planted daemon");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "planted-daemon");
		if (getppid() != parent || pinning_pin(cpu) < 0)
			_exit(1);
		room_daemon_main(share, busy_ns, seed);
	}
	*ret = (struct room_daemon){pid, clock_ns(CLOCK_MONOTONIC)};
	return 0;
}

double room_daemon_stop(struct room_daemon *daemon)
{
	int64_t elapsed_ns = clock_ns(CLOCK_MONOTONIC) - daemon->started_ns;
	struct rusage used = {};
	pid_t pid = daemon->pid;

	if (pid == 0)
		return NAN;
	*daemon = (struct room_daemon){};
	kill(pid, SIGKILL);
	while (wait4(pid, NULL, 0, &used) < 0 && errno == EINTR)
		;
	return ((double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e9 +
		       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e3) /
	       (double)elapsed_ns;
}
