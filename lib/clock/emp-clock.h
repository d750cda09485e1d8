/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPU time of threads and processes, for programs that read it often: see emp-clock(3).
 *
 * Every function may be called by any thread, at any time, and in signal handlers. The values are
 * those of CLOCK_THREAD_CPUTIME_ID and CLOCK_PROCESS_CPUTIME_ID. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The CPU time of the calling thread and of its process. They cannot fail, and never go backwards
 * within a thread. */
uint64_t emp_clock_thread_ns(void);
uint64_t emp_clock_process_ns(void);

/* The same in cycles of the processor's time stamp counter (x86: TSC; arm64: CNTVCT). 0: no counter
 * can be used. */
uint64_t emp_clock_thread_cycles(void);
uint64_t emp_clock_process_cycles(void);

/* The CPU time of another thread or process, by its id. 0, or -1 with errno: ESRCH, EPERM, EINVAL
 * (no id). */
int emp_clock_thread_ns_of(pid_t tid, uint64_t *ret_ns);
int emp_clock_process_ns_of(pid_t pid, uint64_t *ret_ns);

/* A time in cycles; 0 if no counter can be used. */
uint64_t emp_clock_ns_to_cycles(uint64_t ns);

/* Connects to emp-clock.service. 0, or -1 with errno; then, and without this call, the functions
 * above work all the same, with more system calls. ENOENT and ECONNREFUSED: there is no service. */
int emp_clock_open(void);

/* How the calling thread's readings of its own time were made so far. */
struct emp_clock_counts {
	uint64_t fast;         /* from the time stamp counter alone */
	uint64_t system_calls; /* in the others: the kernel was asked */
	/* of the others: the service did not show the latest context switch */
	uint64_t missed;
};
void emp_clock_counts(struct emp_clock_counts *ret);

#ifdef __cplusplus
}
#endif
