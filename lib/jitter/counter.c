/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processor's counter of time, and the mark of the kernel: see counter.h. */
#include "lib/jitter/counter.h"

#include <sys/mman.h>

int counter_check(int root_fd, struct error *err)
{
#if defined(__x86_64__) || defined(__i386__)
	_cleanup_(freep) char *info = NULL;

	if (text_read_file(root_fd, "/proc/cpuinfo", &info) < 0)
		return error_say(err, -ENOTSUP, "cannot read /proc/cpuinfo; is /proc mounted?");
	if (strstr(info, " constant_tsc") && strstr(info, " nonstop_tsc"))
		return 0;
	return error_say(err, -ENOTSUP,
		"this processor's time stamp counter is not invariant (/proc/cpuinfo lacks constant_tsc or nonstop_tsc), so interruptions cannot be measured with it");
#elif defined(__aarch64__)
	return 0; /* the architecture demands it */
#else
	return error_say(err, -ENOTSUP,
		"interruptions can be measured on x86 and arm64 only: EMP supports no counter on this architecture");
#endif
}

/* A pair of readings with the least time between them. */
struct counter_scale counter_scale_begin(void)
{
	enum { TRIES = 50 };
	struct counter_scale best = {};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = counter_now(), after;
		int64_t raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);

		after = counter_now();
		if (after - before >= least)
			continue;
		least = after - before;
		best.base = before + least / 2;
		best.base_raw_ns = raw_ns;
	}
	best.base_realtime_ns = clock_ns(CLOCK_REALTIME) - (clock_ns(CLOCK_MONOTONIC_RAW) - best.base_raw_ns);
	return best;
}

void counter_scale_end(struct counter_scale *scale)
{
	struct counter_scale now = counter_scale_begin();

	scale->ns_per_tick = (double)(now.base_raw_ns - scale->base_raw_ns) /
			     (double)(now.base - scale->base);
}

bool kernel_mark_works(void)
{
	enum { PAGES = 64, TRIES = 1000 };
	long page = sysconf(_SC_PAGESIZE);
	size_t size = (size_t)(PAGES * page);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int cleared = 0, kept = 0;

	if (memory == MAP_FAILED)
		return false;
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++) {
		kernel_mark_set();
		*(volatile char *)(memory + i * page) = 1;
		cleared += !kernel_mark_is_set();
	}
	for (int i = 0; cleared == PAGES && i < TRIES; i++) { /* interrupts clear some */
		kernel_mark_set();
		kept += kernel_mark_is_set();
	}
	munmap(memory, size);
	return kept > TRIES / 2;
}
