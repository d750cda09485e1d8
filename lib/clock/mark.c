/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The mark: see mark.h. */
#include "lib/clock/mark.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if HAS_RSEQ
/* The kernel checks that the signature stands before the address at which it would resume an
 * interrupted sequence. */
#define TEXT_OF(macro) #macro
#define SIGNATURE(value) TEXT_OF(value)
__asm__(".pushsection .text\n"
	".balign 4\n"
	".long " SIGNATURE(RSEQ_SIG) "\n"
				     "emp_clock_nowhere:\n"
				     ".long 0\n"
				     ".popsection");
extern const char emp_clock_nowhere[] __attribute__((visibility("hidden")));

#define SEQUENCE                                                                                   \
	{                                                                                          \
		.start_ip = (uintptr_t)emp_clock_nowhere, .abort_ip = (uintptr_t)emp_clock_nowhere \
	}
struct rseq_cs mark_sequence = SEQUENCE;

static long waits_so_far(void)
{
	struct rusage usage;

	syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/* With a mark of its own, because signal handlers may set the other. Three times, because an
 * interrupt clears it in any case. */
enum mark_shows mark_try(void)
{
	static struct rseq_cs trial = SEQUENCE;

	if (!__rseq_size) /* libc could not register it, or was told not to */
		return MARK_SHOWS_NOTHING;
	for (int shown = 0, tries = 0; shown < 3; tries++) {
		bool has_waited, is_set;
		long waits;

		/* whether the thread has waited, and so lost the CPU without an interrupt: a short
		 * sleep may be over before it begins */
		mark_put(&trial);
		waits = waits_so_far();
		has_waited = syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 20000}, NULL) ==
				     0 &&
			     waits_so_far() > waits;
		is_set = mark_holds(&trial);
		if (tries == 20 || (has_waited && is_set))
			return MARK_SHOWS_PREEMPTION;
		shown += has_waited;
	}
	return MARK_SHOWS_ALL;
}
#else
enum mark_shows mark_try(void)
{
	return MARK_SHOWS_NOTHING;
}
#endif
