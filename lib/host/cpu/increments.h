/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops of dependent increments. Each increment needs the result of the one before, so that a
 * processor makes one in a cycle and has most of its units to spare. A taken branch a cycle, in
 * contrast, is what the hardware threads of a core have to share: a loop that takes one for each
 * increment halves its speed while somebody uses the other thread. */
#pragma once

#include <stdint.h>

/* The 1 is in a register: some processors add small constants while they rename registers, several
 * in a cycle. */
#if defined(__x86_64__)
#define INCREMENT "addq %[one], %[count]\n"
#else /* arm64, riscv64, ppc64 */
#define INCREMENT "add %[count], %[count], %[one]\n"
#endif

/* A function with `per_turn` increments in each turn of a loop: a taken branch for so many; it
 * returns how many it made. Assembled as they stand here, whatever the compiler optimizes. Aligned,
 * so that a rebuild does not change the speed. */
#define INCREMENT_LOOP(name, per_turn)                                                     \
	static __attribute__((noinline, aligned(64))) uint64_t name(uint64_t turns)        \
	{                                                                                  \
		uint64_t count = 0;                                                        \
                                                                                           \
		for (; turns > 0; turns--)                                                 \
			__asm__ volatile(".rept %c[times]\n" INCREMENT ".endr"             \
					 : [count] "+r"(count)                             \
					 : [one] "r"(UINT64_C(1)), [times] "i"(per_turn)); \
		return count;                                                              \
	}
