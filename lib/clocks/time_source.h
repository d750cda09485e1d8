/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ways to read a time: what a program uses to time itself, or another program. Each is a row of
 * a table; a reader is a source that was opened for a process. */
#pragma once

#include "lib/base/base.h"

#include <sys/types.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* The processor's cycle counter, read so that what is measured cannot be executed before the first
 * or after the second reading (Hines, Wyatt & Chang used cpuid for that). Where there is none,
 * nanoseconds serve as cycles. */

static inline int64_t cycles_now(void)
{
#if defined(__x86_64__)
	int64_t now;

	_mm_lfence();
	now = (int64_t)__rdtsc();
	_mm_lfence();
	return now;
#elif defined(__aarch64__)
	int64_t now;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(now)::"memory");
	return now;
#else
	return clock_ns(CLOCK_MONOTONIC_RAW);
#endif
}

struct taskstats_link;
struct time_reader;

enum time_scope {
	TIME_OF_CALLER,   /* CPU time of the process, or of the thread, which is the same here */
	TIME_OF_CHILDREN, /* CPU time of children that were waited for */
	TIME_OF_CGROUP,   /* CPU time of all processes of the caller's cgroup */
	TIME_OF_SYSTEM,   /* elapsed time */
};

struct time_source {
	const char *name;
	enum time_scope scope;
	bool of_others; /* it can be opened for another process */
	bool relative;  /* it starts at a number of its own */
	bool cycles;    /* a reading is in cycles; otherwise in ns */
	int argument;   /* of getrusage or clock_gettime */
	/* Negative: not on this machine; the sentence says why in a few words, unless it is that of
	 * the errno. NULL: always there. */
	int (*open)(struct time_reader *reader, struct error *why);
	int64_t (*read)(struct time_reader *reader); /* the time; -1: it could not be read */
	/* of another process, where that is another function */
	int64_t (*read_of)(struct time_reader *reader);
};

struct time_reader {
	const struct time_source *source;
	pid_t pid; /* 0: the caller */
	int fd;    /* -1: none */
	clockid_t clock;
	void *page;
	uint64_t period_fs; /* of a counter that is mapped */
	struct taskstats_link *link;
};

extern const struct time_source time_sources[];
extern const size_t n_time_sources;

/* The source that others are compared with, as in the paper. */
#define TIME_REFERENCE "getrusage(RUSAGE_SELF)"

/* The source that the kernel brings up to date at every reading, and that is always there. */
#define TIME_EXACT "clock_gettime(CLOCK_THREAD_CPUTIME_ID)"

/* pid 0: the calling process. */
int time_reader_open(
	struct time_reader *ret, const struct time_source *source, pid_t pid, struct error *why);
void time_reader_close(struct time_reader *reader);

static inline int64_t time_read(struct time_reader *reader)
{
	const struct time_source *source = reader->source;

	return (reader->pid && source->read_of ? source->read_of : source->read)(reader);
}
