/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop that wants all of a CPU: a thread that reads the processor's counter of time (the time
 * stamp counter on x86, the virtual counter on arm64), without a system call, and keeps each gap
 * between two readings that is over the threshold, with whether the kernel ran in it. Also the
 * scale of that counter. */
#pragma once

#include "lib/base/base.h"
#include "lib/clock/tsc.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

/* -ENOTSUP with a sentence if the counter does not count at one rate on all CPUs, whatever their
 * frequency and idle states, or if this architecture has none that EMP can read. */
int counter_check(struct error *err);

/* How the counter's values become ns since `base`. */
struct counter_scale {
	uint64_t base;
	int64_t base_realtime_ns; /* since 1970, at `base` */
	int64_t base_raw_ns;      /* CLOCK_MONOTONIC_RAW at `base` */
	double ns_per_tick;
};

/* A reading of the counter and of the clocks, without ns_per_tick, which follows from two that are
 * some 100 ms apart. */
struct counter_scale counter_read(void);

static inline int64_t counter_ns(const struct counter_scale *scale, uint64_t at)
{
	return (int64_t)((double)(int64_t)(at - scale->base) * scale->ns_per_tick);
}

/* A mark that the kernel does not keep. On x86-64, IRET, by which the kernel returns from
 * interrupts and exceptions, clears a data segment register that holds a null selector with a
 * privilege level (1 to 3). What stops the processor below the kernel (a hypervisor, firmware, a
 * wait of its own) restores the register as it was. (The idea: Zhang et al., "SegScope", HPCA
 * 2024.) SYSRET keeps the mark: the caller makes no system call. Other architectures, arm64 among
 * them, have no such register; processors with FRED, and some emulators, do not clear it. */
#ifdef __x86_64__
/* Takes some hundred cycles; looking takes one. 64-bit programs do not use the register. */
static inline void kernel_mark_set(void)
{
	__asm__ volatile("mov %0, %%es" ::"r"(1) : "memory");
}

static inline bool kernel_mark_is_set(void)
{
	unsigned int selector;

	__asm__ volatile("mov %%es, %0" : "=r"(selector)::"memory");
	return (selector & 0xffff) == 1;
}
#else
static inline void kernel_mark_set(void)
{
}

static inline bool kernel_mark_is_set(void)
{
	return true;
}
#endif

/* Tries it: page faults must clear the mark, and without them it must stay. */
bool kernel_mark_works(void);

struct gap {
	uint64_t start, end; /* readings of the counter */
	bool kernel;         /* it ran; if that is known */
};

struct sampler {
	int cpu;
	uint64_t threshold; /* ticks; 0: ten times the smallest gap */
	/* set when sampler_start() returns */
	pid_t tid;
	uint64_t smallest;
	bool kernel_known;
	uint64_t renewal; /* ticks that setting the mark of the kernel takes */
	uint64_t first;   /* reading; set when sampler_go() returns */
	uint64_t last;    /* reading; set when sampler_stop() returns */

	struct gap *ring; /* gaps from `taken` to `given` */
	_Alignas(64) atomic_size_t given;
	uint64_t dropped, dropped_ticks; /* the ring was full */
	_Alignas(64) atomic_size_t taken;
	_Alignas(64) atomic_bool stop;
	pthread_t thread;
	sem_t ready, go;
	bool running;
	int failed; /* -errno: it could not be pinned */
};

/* Starts the thread on .cpu; it measures the smallest gap and then waits. sampler_clear() also
 * after a failure. */
int sampler_start(struct sampler *sampler, struct error *err);
/* Lets it begin, and waits until it has begun. */
void sampler_go(struct sampler *sampler);
/* The next of its gaps; false: there is none yet. */
bool sampler_take(struct sampler *sampler, struct gap *ret);
/* Ends the thread; its gaps can still be taken. */
void sampler_stop(struct sampler *sampler);
void sampler_clear(struct sampler *sampler);
