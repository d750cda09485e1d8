/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether this thread has lost its CPU since the mark was set. The kernel says so without a system
 * call: it clears the pointer rseq_cs of a thread's restartable sequence area when it takes the CPU
 * from the thread or delivers a signal to it, if the pointer is set and the thread is not in the
 * sequence (linux/rseq.h). The mark is a sequence that nobody can be in.
 *
 * Others may use the area as well: they set the pointer anew before each of their own sequences,
 * and what they store there reads as a lost mark here. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#if defined(RSEQ_SIG) && (defined(__x86_64__) || defined(__aarch64__))
#define HAS_RSEQ 1
extern struct rseq_cs mark_sequence __attribute__((visibility("hidden")));

static inline volatile struct rseq *mark_area(void)
{
	return (volatile struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}
static inline void mark_put(const struct rseq_cs *sequence)
{
	mark_area()->rseq_cs = (uintptr_t)sequence;
}
static inline bool mark_holds(const struct rseq_cs *sequence)
{
#ifdef MARK_SHOWS_NOTHING_EVER /* for a test: a kernel that never clears it */
	return true;
#endif
	return mark_area()->rseq_cs == (uintptr_t)sequence;
}
static inline void mark_set(void)
{
	mark_put(&mark_sequence);
}
static inline bool mark_is_set(void)
{
	return mark_holds(&mark_sequence);
}
static inline unsigned int mark_cpu(void)
{
	return mark_area()->cpu_id;
}
#else
#define HAS_RSEQ 0
static inline void mark_set(void)
{
}
static inline bool mark_is_set(void)
{
	return false;
}
static inline unsigned int mark_cpu(void)
{
	return -1;
}
#endif

/* What this kernel clears the mark for. Some do it only when a thread loses its CPU to an
 * interrupt, not when it waits in a system call. The calling thread sleeps a moment. */
enum mark_shows { MARK_SHOWS_NOTHING, MARK_SHOWS_PREEMPTION, MARK_SHOWS_ALL };
enum mark_shows mark_try(void);
