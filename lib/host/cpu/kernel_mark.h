/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the kernel ran on this CPU since a moment: a mark that it does not keep. On x86-64, IRET, by which the kernel returns from
 * interrupts and exceptions, clears a data segment register that holds a null selector with a privilege level (1 to 3). What stops the
 * processor below the kernel (a hypervisor, firmware, a wait of its own) restores the register as it was. (The idea: Zhang et al.,
 * "SegScope", HPCA 2024.) SYSRET keeps the mark: the caller makes no system call. Other architectures, arm64 among them, have no such
 * register; processors with FRED, and some emulators, do not clear it. */
#pragma once

#include <stdbool.h>

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
