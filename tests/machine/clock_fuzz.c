/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that sleep, yield, spin, migrate, fork, begin and end threads, and are hit by signals,
 * for SECONDS. Each reading of libemp-clock is taken between two of the kernel, and must agree with
 * them and never go backwards. Prints how far they were apart and how they were made. Usage:
 * clock_fuzz SECONDS [open]; "open": with emp-clock.service. Exit status 1: a reading was wrong. */
#include "tests/machine/clock_open.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N_THREADS = 6, NS_PER_SWITCH = 1000, AHEAD_NS = 110000, N_BINS = 40 };

static _Atomic(uint64_t) n_readings, n_faults, fast, system_calls, missed, n_switches, n_signals;
static _Atomic(uint64_t) behind_bins[N_BINS], ahead_bins[N_BINS]; /* by powers of two, in ns */
static _Atomic(uint64_t) most_behind, most_ahead;
static int64_t end_ns;

static uint64_t read_kernel(clockid_t clock)
{
	struct timespec now;

	syscall(SYS_clock_gettime, clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t switches(void)
{
	struct rusage usage;

	syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
	return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

static void fault(const char *what, uint64_t a, uint64_t b)
{
	if (n_faults++ < 5)
		fprintf(stderr, "%d: %s: %" PRIu64 " %" PRIu64 "\n", (int)syscall(SYS_gettid), what,
			a, b);
}

static void note(_Atomic(uint64_t) *bins, _Atomic(uint64_t) *most, uint64_t ns)
{
	int bin = 0;

	while (bin < N_BINS - 1 && ns >> bin)
		bin++;
	bins[bin]++;
	for (uint64_t old = *most; ns > old && !atomic_compare_exchange_weak(most, &old, ns);)
		;
}

/* `allowed_ns`: how far the reading may be behind. */
static void check(
	clockid_t clock, uint64_t (*read_it)(void), _Atomic(uint64_t) *last, uint64_t allowed_ns)
{
	uint64_t floor = *last, before = read_kernel(clock), ns = read_it(),
		 after = read_kernel(clock);

	n_readings++;
	note(behind_bins, &most_behind, ns < before ? before - ns : 0);
	note(ahead_bins, &most_ahead, ns > after ? ns - after : 0);
	if (ns + allowed_ns < before)
		fault("behind the kernel's", ns, before);
	if (ns > after + AHEAD_NS)
		fault("ahead of the kernel's", ns, after);
	if (ns < floor)
		fault("backwards", floor, ns);
	if (*last < ns)
		*last = ns;
}

static _Thread_local _Atomic(uint64_t) last_ns, last_process_ns;

static void check_all(void)
{
	uint64_t allowed_ns = 1000 + NS_PER_SWITCH * switches();

	check(CLOCK_THREAD_CPUTIME_ID, emp_clock_thread_ns, &last_ns, allowed_ns);
	check(CLOCK_THREAD_CPUTIME_ID, emp_clock_thread_ns, &last_ns, allowed_ns);
	check(CLOCK_PROCESS_CPUTIME_ID, emp_clock_process_ns, &last_process_ns, allowed_ns);
}

static void on_signal(int number)
{
	int error = errno;

	n_signals++;
	check(CLOCK_THREAD_CPUTIME_ID, emp_clock_thread_ns, &last_ns,
		1000 + NS_PER_SWITCH * switches());
	errno = error;
}

static void add_counts(void)
{
	struct emp_clock_counts counts;

	emp_clock_counts(&counts);
	fast += counts.fast;
	system_calls += counts.system_calls;
	missed += counts.missed;
	n_switches += switches();
}

static void spin(uint64_t ns)
{
	uint64_t begin = read_kernel(CLOCK_MONOTONIC);

	while (read_kernel(CLOCK_MONOTONIC) - begin < ns)
		emp_clock_thread_ns();
}

static void *short_life(void *unused)
{
	for (int i = 0; i < 5; i++)
		check_all();
	add_counts();
	return NULL;
}

/* The child's faults are its exit status. */
static void fork_one(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		n_faults = 0;
		last_ns = last_process_ns = 0;
		for (int i = 0; i < 20; i++)
			check_all();
		_exit(n_faults > 0);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		fault("in a forked child", (uint64_t)status, 0);
}

static void migrate(unsigned int *seed)
{
	cpu_set_t cpus;
	int n = (int)sysconf(_SC_NPROCESSORS_ONLN);

	CPU_ZERO(&cpus);
	CPU_SET(rand_r(seed) % n, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void act(unsigned int *seed)
{
	pthread_t thread;

	switch (rand_r(seed) % 64) {
	case 0 ... 19:
		syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = rand_r(seed) % 300000}, NULL);
		break;
	case 20 ... 29:
		sched_yield();
		break;
	case 30 ... 34:
		migrate(seed);
		break;
	case 35:
		fork_one();
		break;
	case 36 ... 37:
		if (pthread_create(&thread, NULL, short_life, NULL) == 0)
			pthread_join(thread, NULL);
		break;
	default:
		spin((uint64_t)(rand_r(seed) % 200000));
	}
}

static void *live(void *context)
{
	unsigned int seed = (unsigned int)(uintptr_t)context;

	while ((int64_t)read_kernel(CLOCK_MONOTONIC) < end_ns) {
		act(&seed);
		check_all();
	}
	add_counts();
	return NULL;
}

static uint64_t quantile(_Atomic(uint64_t) *bins, double share)
{
	uint64_t n = 0;

	for (int bin = 0; bin < N_BINS; bin++) {
		n += bins[bin];
		if ((double)n >= share * (double)n_readings)
			return UINT64_C(1) << bin;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *given = getenv("EMP_SEED");
	unsigned int seed = given ? (unsigned int)atoi(given) : (unsigned int)time(NULL);
	struct itimerval often = {.it_interval.tv_usec = 1700, .it_value.tv_usec = 1700};
	pthread_t threads[N_THREADS];

	if (argc < 2)
		return 2;
	if (argc > 2 && clock_open_patiently() < 0) {
		fprintf(stderr, "emp_clock_open: %s\n", strerror(errno));
		return 2;
	}

	end_ns = (int64_t)read_kernel(CLOCK_MONOTONIC) + (int64_t)(atof(argv[1]) * 1e9);
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART},
		NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uintptr_t i = 0; i < N_THREADS; i++)
		if (pthread_create(&threads[i], NULL, live, (void *)(seed + i)))
			return 2;
	for (size_t i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);

	printf("EMP_SEED=%u: %" PRIu64 " readings, %" PRIu64 " switches, %" PRIu64
	       " signals, %" PRIu64 " faults\n"
	       "fast %" PRIu64 ", system calls %" PRIu64 ", missed %" PRIu64 "\n"
	       "behind: 99 %% < %" PRIu64 " ns, most %" PRIu64 " ns; ahead: 99 %% < %" PRIu64
	       " ns, most %" PRIu64 " ns\n",
		seed, n_readings, n_switches, n_signals, n_faults, fast, system_calls, missed,
		quantile(behind_bins, 0.99), most_behind, quantile(ahead_bins, 0.99), most_ahead);
	/* a hypervisor or an interrupt takes more from few */
	if (quantile(ahead_bins, 0.98) > 1024) {
		fprintf(stderr, "too many readings are ahead of the kernel's\n");
		return 1;
	}
	return n_faults > 0;
}
