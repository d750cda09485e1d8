/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program reads in the processor's registers, without a system call: the counter of time (the time stamp counter on x86, the
 * virtual counter on arm64), and a mark that shows whether the kernel ran on this CPU. */
#pragma once

#include "lib/base/base.h"
#include "lib/clock/tsc.h"

static inline uint64_t counter_now(void)
{
	return tsc_read();
}

/* Whether it counts at one rate on all CPUs, whatever their frequency and idle states: -ENOTSUP with a sentence if it does
 * not, or if this architecture has none that EMP can read. `root_fd` as for text_read_file(). */
int counter_check(int root_fd, struct error *err);

/* How the counter's values become ns since `base`. */
struct counter_scale {
	uint64_t base;
	int64_t base_realtime_ns; /* since 1970, at `base` */
	int64_t base_raw_ns;      /* CLOCK_MONOTONIC_RAW at `base` */
	double ns_per_tick;
};

/* The beginning of a measurement of the scale, and its end, which must be some 100 ms later. */
struct counter_scale counter_scale_begin(void);
void counter_scale_end(struct counter_scale *scale);

static inline int64_t counter_ns(const struct counter_scale *scale, uint64_t at)
{
	return (int64_t)((double)(int64_t)(at - scale->base) * scale->ns_per_tick);
}

/* A mark that the kernel does not keep. On x86-64, IRET, by which the kernel returns from
 * interrupts and exceptions, clears a data segment register that holds a null selector with a privilege level (1 to 3). What stops the
 * processor below the kernel (a hypervisor, firmware, a wait of its own) restores the register as it was. (The idea: Zhang et al.,
 * "SegScope", HPCA 2024.) SYSRET keeps the mark: the caller makes no system call. Other architectures, arm64 among them, have no such
 * register; processors with FRED, and some emulators, do not clear it. */
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
