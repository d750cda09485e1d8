/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libemp-clock for unchanged programs, through LD_PRELOAD: see emp-clock(3). */
#include "lib/clock/clock_internal.h"
#include "lib/clock/emp-clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_NS_PER_US UINT64_C(1000)
#define CLOCK_US_PER_S UINT64_C(1000000)

static int resolve_clock_gettime(clockid_t clock, struct timespec *ret);
static _Atomic(int (*)(clockid_t, struct timespec *)) next_clock_gettime = resolve_clock_gettime;

static int call_clock_gettime(clockid_t clock, struct timespec *ret)
{
	return (int)syscall(SYS_clock_gettime, clock, ret);
}

static int resolve_clock_gettime(clockid_t clock, struct timespec *ret)
{
	int (*next)(clockid_t, struct timespec *);

	next_clock_gettime = call_clock_gettime; /* dlsym may ask for the time */
	*(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
	if (next)
		next_clock_gettime = next;
	return (next ?: call_clock_gettime)(clock, ret);
}

/* Once, at the first reading: most programs never read their CPU time. */
static inline void connect_once(void)
{
	static _Atomic(bool) is_done;
	int error = errno;

	if (__builtin_expect(is_done, 1) || atomic_exchange(&is_done, true))
		return;
	emp_clock_open();
	errno = error;
}

static int give(uint64_t ns, struct timespec *ret)
{
	*ret = (struct timespec){
		.tv_sec = (time_t)(ns / CLOCK_NS_PER_S), .tv_nsec = (long)(ns % CLOCK_NS_PER_S)};
	return 0;
}

CLOCK_PUBLIC int clock_gettime(clockid_t clock, struct timespec *ret)
{
	switch (clock) {
	case CLOCK_THREAD_CPUTIME_ID:
		connect_once();
		return give(emp_clock_thread_ns(), ret);
	case CLOCK_PROCESS_CPUTIME_ID:
		connect_once();
		return give(emp_clock_process_ns(), ret);
	default:
		return next_clock_gettime(clock, ret);
	}
}

/* What getrusage reports besides times: cached, valid until emp-clock makes its next system
 * call. */
struct usage {
	struct rusage at_call;
	uint64_t n_calls;            /* that emp-clock had made then; 0: nothing is known */
	uint64_t user_us, system_us; /* as reported last */
};
static _Thread_local struct usage of_thread, of_process;

static void forget(void)
{
	of_thread = of_process = (struct usage){};
}

__attribute__((constructor)) static void forget_in_children(void)
{
	pthread_atfork(NULL, NULL, forget);
}

static struct timeval timeval(uint64_t us)
{
	return (struct timeval){.tv_sec = (time_t)(us / CLOCK_US_PER_S),
		.tv_usec = (suseconds_t)(us % CLOCK_US_PER_S)};
}

static int read_usage(int who, struct usage *usage, uint64_t ns, struct rusage *ret)
{
	struct emp_clock_counts counts;
	uint64_t n_calls, all_us = ns / CLOCK_NS_PER_US, system_us;

	emp_clock_counts(&counts);
	n_calls = counts.system_calls;
	if (usage->n_calls != n_calls) {
		if (syscall(SYS_getrusage, who, &usage->at_call) < 0)
			return -1;
		usage->n_calls = n_calls;
	}
	/* the kernel's part of system time, as far as neither part goes backwards; what has been
	 * added since is user time */
	system_us = (uint64_t)usage->at_call.ru_stime.tv_sec * CLOCK_US_PER_S +
		    (uint64_t)usage->at_call.ru_stime.tv_usec;
	if (all_us < usage->user_us + usage->system_us)
		all_us = usage->user_us + usage->system_us;
	if (system_us > all_us - usage->user_us)
		system_us = all_us - usage->user_us;
	if (system_us > usage->system_us)
		usage->system_us = system_us;
	usage->user_us = all_us - usage->system_us;
	*ret = usage->at_call;
	ret->ru_utime = timeval(usage->user_us);
	ret->ru_stime = timeval(usage->system_us);
	return 0;
}

CLOCK_PUBLIC int getrusage(int who, struct rusage *ret)
{
	connect_once();
	if (who == RUSAGE_THREAD)
		return read_usage(who, &of_thread, emp_clock_thread_ns(), ret);
	if (who == RUSAGE_SELF && __libc_single_threaded)
		return read_usage(who, &of_process, emp_clock_process_ns(), ret);
	return (int)syscall(SYS_getrusage, who, ret);
}
