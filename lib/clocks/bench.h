/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calibration of the clocks: all readers of this machine, and the tests that use them. Each
 * test adds its part of the result. All sources take part in turn, so that they see the same state
 * of the machine. */
#pragma once

#include "lib/base/terminal.h"
#include "lib/clocks/clocks.h"

#include <sys/types.h>

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

/* The ways to read a time: what a program uses to time itself, or another program. Each is a row of
 * a table; a reader is a source that was opened for a process. */

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
	int64_t (*read_of)(
		/* of another process, where that is another function */
		struct time_reader *reader);
};

struct time_reader {
	const struct time_source *source;
	pid_t pid; /* 0: the caller */
	int fd;    /* -1: none */
	clockid_t clock;
	void *page;
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

enum { MAX_CLOCK_READERS = 32 };

struct clock_bench {
	struct time_reader readers[MAX_CLOCK_READERS]; /* in the order of result->sources */
	size_t n;
	int cpu;       /* the caller is pinned to it */
	int other_cpu; /* -1: none that may be used */
	double cycles_per_ns;
	struct clocks *result;
	struct progress progress;
	uint64_t steps;
};

/* Each returns 0, -EINTR after a signal, or a failure with a sentence. */
int clock_primes(struct clock_bench *bench, struct error *err);
int clock_lag(struct clock_bench *bench, struct error *err);
int clock_ticks(struct clock_bench *bench, struct error *err);

/* How many steps of the progress it takes. */
uint64_t clock_primes_steps(const struct clock_bench *bench);

/* Counts a step of the progress. -EINTR after a signal, otherwise 0. */
int clock_bench_step(struct clock_bench *bench);

/* A reading, or the difference of two, in ns. */
static inline double clock_bench_ns(
	const struct clock_bench *bench, const struct time_reader *reader, int64_t reading)
{
	return reader->source->cycles ? (double)reading / bench->cycles_per_ns : (double)reading;
}

/* How precisely a clock times something that always takes equally long. */

/* The standard deviation of the readings, by their mean absolute deviation from their mean, as of
 * normal values: a single reading counts less than in a root mean square, and steps of the clock do
 * not count less than they are. If the mean differs from the truth by more than a tenth, it is the
 * deviation from the truth: a clock that nearly always shows 0 does not vary, but is not precise. n
 * > 0. */
double precision_of(const double *readings, size_t n, double truth);

/* What two clocks showed of the same things, in turn: readings[thing * n_trials + trial]. */
struct precision_pair {
	const double *reference, *other;
	const double *truths; /* of each thing */
	size_t n_things, n_trials;
	size_t n_batches; /* equal parts of the trials, each a sample of the whole time */
};

/* By how much the reference is less precise: the geometric mean over all things of the ratio of
 * their deviations, with the interval of the batches' own (Student's t on logarithms). Things of
 * which one of the clocks shows no deviation are left out. */
struct gain precision_gain(const struct precision_pair *pair);

/* The median of values that were recorded in steps of `quantum`: interpolated in its step, as for
 * grouped data. n > 0. */
double grouped_median_of(const int64_t *ascending, size_t n, int64_t quantum);

struct bounds {
	double low, high;
};

/* The 95 % interval of the median of the population, between two of the values, whatever their
 * distribution (binomial; Conover 1999). NAN: there are too few values. */
struct bounds median_interval(const int64_t *ascending, size_t n);
