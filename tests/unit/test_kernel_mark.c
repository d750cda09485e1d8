/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mark that the kernel clears. */
#include "tests/unit/check.h"

#include "lib/jitter/sampler.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	signals++;
}

TEST(an_interrupt_clears_it_and_nothing_else_does)
{
	enum { TRIES = 1000 };
	const struct itimerval soon = {.it_value.tv_usec = 1000};
	int kept = 0;

	if (!kernel_mark_works())
		return; /* arm64, FRED, some emulators */
	for (int i = 0; i < TRIES; i++) {
		kernel_mark_set();
		for (volatile int k = 0; k < 100; k++)
			;
		kept += kernel_mark_is_set();
	}
	assert_in_range(kept, TRIES / 2, TRIES);
	signal(SIGALRM, count_signal);
	for (int i = 1; i <= 20; i++) { /* the interrupt that brings the signal */
		setitimer(ITIMER_REAL, &soon, NULL);
		kernel_mark_set();
		while (signals < i)
			;
		assert_false(kernel_mark_is_set());
	}
	kernel_mark_set();
	assert_true(kernel_mark_works()); /* whatever it was before */
}
