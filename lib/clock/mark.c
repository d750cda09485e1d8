/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The mark: see mark.h. */
#include "lib/clock/mark.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if HAS_RSEQ
/* The kernel checks that the signature stands before the address at which it would resume an interrupted sequence. */
#define TEXT_OF(macro) #macro
#define SIGNATURE(value) TEXT_OF(value)
__asm__(".pushsection .text\n"
	".balign 4\n"
	".long " SIGNATURE(RSEQ_SIG) "\n"
				     "emp_clock_nowhere:\n"
				     ".long 0\n"
				     ".popsection");
extern const char emp_clock_nowhere[] __attribute__((visibility("hidden")));

struct rseq_cs mark_sequence = {
	.start_ip = (uintptr_t)emp_clock_nowhere,
	.abort_ip = (uintptr_t)emp_clock_nowhere,
};

enum mark_shows mark_try(void)
{
	if (!__rseq_size) /* libc could not register it, or was told not to */
		return MARK_SHOWS_NOTHING;
	for (int i = 0; i < 3; i++) { /* once could be a signal, or another reason to lose the CPU */
		mark_set();
		syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 1}, NULL);
		if (mark_is_set())
			return MARK_SHOWS_PREEMPTION;
	}
	return MARK_SHOWS_ALL;
}
#else
enum mark_shows mark_try(void)
{
	return MARK_SHOWS_NOTHING;
}
#endif
