/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A known handicap: see handicap.h. */
#include "lib/load/handicap.h"
#include "lib/base/xalloc.h"
#include "lib/load/real_time.h"

#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/host/process/pinning.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static const int64_t PERIOD_NS = 10 * NS_PER_MS;

struct handicap {
	pid_t *pids;
	size_t n;
	int64_t begun_ns;
};

/* Catches up with what it did not get. Half of a period's share is taken in advance, so that on average it has what it should. */
static _Noreturn void burn(double share, int64_t begun_ns)
{
	for (int64_t next_ns = begun_ns;; next_ns += PERIOD_NS) {
		struct timespec at = {next_ns / NS_PER_S, next_ns % NS_PER_S};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		while ((double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) <
			share * (double)(next_ns + PERIOD_NS / 2 - begun_ns))
			;
	}
}

static _Noreturn void take_share(int cpu, double share, int64_t begun_ns, pid_t parent)
{
	static const struct sched_param real_time = {.sched_priority = 1};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "emp-handicap");
	if (getppid() != parent || pinning_pin(cpu) < 0 || sched_setscheduler(0, SCHED_FIFO, &real_time) < 0)
		_exit(1);
	burn(share, begun_ns);
}

static int start_on(struct handicap *h, int cpu, double share, struct error *err)
{
	pid_t *pid = array_add(h->pids, h->n), parent = getpid();

	*pid = fork();
	if (*pid == 0)
		take_share(cpu, share, h->begun_ns, parent);
	return *pid < 0 ? error_os(err, -errno, "cannot start a process on CPU %d", cpu) : 0;
}

/* Whether this process could become one of real time. */
static int check(struct error *err)
{
	struct real_time real_time;
	int r = real_time_begin(&real_time);

	real_time_end(&real_time);
	return r < 0 ? error_os(err, r, "cannot run in real time (SCHED_FIFO), which needs root") : 0;
}

int handicap_begin(struct handicap **ret, const cpu_set_t *cpus, double share, struct error *err)
{
	_cleanup_(handicap_freep) struct handicap *h = xcalloc(1, sizeof(*h));
	int r = h ? check(err) : error_oom(err);

	if (r < 0)
		return r;
	h->begun_ns = clock_ns(CLOCK_MONOTONIC);
	for (int cpu = 0; r == 0 && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus))
			r = start_on(h, cpu, share, err);
	if (r < 0)
		return r;
	*ret = TAKE(h);
	return 0;
}

void handicap_end(struct handicap *h, double *ret_share)
{
	double available = (double)(clock_ns(CLOCK_MONOTONIC) - h->begun_ns) * (double)h->n, taken = 0;

	for (size_t i = 0; i < h->n; i++) {
		clockid_t used;

		/* its end, which takes time as well, disturbs nothing that is measured */
		if (clock_getcpuclockid(h->pids[i], &used) == 0)
			taken += (double)clock_ns(used);
		kill(h->pids[i], SIGKILL);
		waitpid(h->pids[i], NULL, 0);
	}
	h->n = 0;
	*ret_share = available > 0 ? taken / available : 0;
}

void handicap_free(struct handicap *h)
{
	double share;

	if (!h)
		return;
	handicap_end(h, &share);
	free(h->pids);
	free(h);
}
