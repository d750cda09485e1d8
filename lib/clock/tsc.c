/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rate of the time stamp counter: see tsc.h. */
#include "lib/clock/tsc.h"

#include "lib/clock/clock_internal.h"

#include <stdbool.h>
#include <sys/prctl.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define MEASURED_NS 1000000 /* some 20 ppm */

static bool is_usable(void)
{
#if defined(__x86_64__)
	unsigned int eax, ebx, ecx, edx;
	int permission;

	return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx & 1 << 8) /* invariant TSC */
	       && prctl(PR_GET_TSC, &permission) == 0 && permission == PR_TSC_ENABLE;
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

struct instant {
	uint64_t ns, tsc;
};

/* Both clocks at once: the attempt that was interrupted least. */
static struct instant read_both(void)
{
	uint64_t least = UINT64_MAX;
	struct instant best = {};

	for (int i = 0; i < 5; i++) {
		uint64_t before = tsc_read(), after;
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		after = tsc_read();
		if (after - before >= least)
			continue;
		least = after - before;
		best.ns = now.tv_sec * CLOCK_NS_PER_S + now.tv_nsec;
		best.tsc = before + least / 2;
	}
	return best;
}

double tsc_per_ns(void)
{
	/* two threads may measure it at once: either value is good */
	static _Atomic(double) rate = -1;
	struct instant first, last;
	double known = rate;

	if (known >= 0)
		return known;
	known = 0;
	if (is_usable()) {
		first = read_both();
		do
			last = read_both();
		while (last.ns - first.ns < MEASURED_NS);
		known = (double)(last.tsc - first.tsc) / (last.ns - first.ns);
	}
	rate = known;
	return known;
}
